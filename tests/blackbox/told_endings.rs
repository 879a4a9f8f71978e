//! What the user and the terminal are told when a run ends: the page of it is written, and its path stands in the ending.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{Lab, wait_until};
use omo_tests::plan_project::{Ground, ONE_TASK_BATCHES, PLAN, Session, two_tasks_with_stop};
use serde_json::{Value, json};

use crate::claim_scene::DONE;
use crate::scene::{self, Scene, require_sound};

/// The last line of an ending whose page was not written.
const NO_PAGE: &str =
    "`omo report --last` shows what proved it. `omo report --html --open` shows it as a page.";
/// And where it was, before the path.
const PAGE: &str = "Page: ";

fn claim() -> Value {
    json!({ "last_assistant_message": DONE })
}

fn pages(scene: &Scene) -> Vec<PathBuf> {
    let folder = scene.lab.home().join(".local/state/omo/reports/project");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Ends the run, and gives the last line of the ending.
fn end(scene: &Scene) -> Result<String> {
    let ended = scene.stop(&claim())?;
    let said = ended
        .system_message()
        .with_context(|| format!("nothing was said: {ended:?}"))?;
    ensure!(
        ended
            .text("/terminalSequence")
            .is_some_and(|text| text.ends_with('\u{7}')),
        "{ended:?}"
    );
    ensure!(
        scene.entry()?["verdict"]["kind"] == "verified",
        "{:?}",
        scene.lab.state()
    );
    said.lines()
        .last()
        .map(str::to_owned)
        .context("an empty ending")
}

#[test]
fn an_ending_names_the_page_of_exactly_its_run() {
    let mut scene = Scene::in_lab(&scene::plugin(), Lab::builder().build().unwrap()).unwrap();
    let mut named = Vec::new();
    for task in ["fix the parser", "fix the printer"] {
        scene
            .prompt(&format!("/omo:ulw --no-review --check true {task}"))
            .unwrap();
        let said = scene
            .stop(&json!({ "last_assistant_message": "I go on." }))
            .unwrap();
        assert!(
            said.blocks() && pages(&scene).len() == named.len(),
            "a continuation wrote a page"
        );
        let last = end(&scene).unwrap();
        let (_, page) = last.split_once(PAGE).unwrap_or_else(|| panic!("{last}"));
        let html = fs::read_to_string(page).unwrap();
        assert!(html.contains(task) && html.contains("erified"), "{page}");
        assert_eq!(
            scene.stop(&claim()).unwrap().system_message(),
            None,
            "it is told once"
        );
        named.push(PathBuf::from(page));
    }
    let mut pages = pages(&scene);
    pages.sort();
    named.sort();
    assert_eq!(
        pages, named,
        "each run has one page, and nothing else lies there"
    );
}

/// A run of a plugin of its own, whose `omo` may be another program.
pub(crate) fn with_other_omo(change: impl FnOnce(&Path, &Scene) -> Result<()>) -> Result<Scene> {
    let lab = Lab::builder().build()?;
    // Otherwise that program runs the check without the change as well.
    lab.configure("[verify]\nprove = \"off\"\n")?;
    let plugin = lab.root().join("plugin");
    scene::copy(&scene::plugin(), &plugin)?;
    let mut scene = Scene::in_lab(&plugin, lab)?;
    scene.start("--no-review --check true")?;
    change(&plugin.join("bin/omo"), &scene)?;
    Ok(scene)
}

pub(crate) fn replace_program(program: &Path, script: &str) -> Result<()> {
    fs::remove_file(program)?;
    fs::write(program, format!("#!/bin/sh\n{script}\n"))?;
    Ok(fs::set_permissions(
        program,
        fs::Permissions::from_mode(0o755),
    )?)
}

#[test]
fn a_page_that_cannot_be_written_changes_nothing_of_the_ending() {
    type Fault = fn(&Path, &Scene) -> Result<()>;
    let faults: [(&str, Fault); 6] = [
        ("its folder is none", |_, scene| {
            Ok(fs::write(
                scene.lab.home().join(".local/state/omo/reports"),
                "",
            )?)
        }),
        ("there is no omo", |omo, _| Ok(fs::remove_file(omo)?)),
        ("it fails", |omo, _| {
            replace_program(omo, "echo /etc/passwd; exit 1")
        }),
        ("it names nothing", |omo, _| replace_program(omo, "echo")),
        ("it names what is not there", |omo, _| {
            replace_program(omo, "echo /nowhere/page.html")
        }),
        ("it says more than a path", |omo, _| {
            replace_program(omo, "echo /etc/passwd; echo; printf '\\033[31m\\n'")
        }),
    ];
    for (what, fault) in faults {
        let scene = with_other_omo(fault).unwrap();
        assert_eq!(end(&scene).context(what).unwrap(), NO_PAGE, "{what}");
        assert!(pages(&scene).is_empty(), "{what}");
    }
}

#[test]
fn a_page_that_takes_too_long_is_given_up_with_all_that_it_started() {
    const HANGS: &str = "trap '' TERM\necho $$ > \"$HOME/pids\"\n(trap '' TERM; sleep 600) &\n\
                         echo $! >> \"$HOME/pids\"\nsleep 600";
    let scene = with_other_omo(|omo, _| replace_program(omo, HANGS)).unwrap();
    let started = Instant::now();
    assert_eq!(end(&scene).unwrap(), NO_PAGE);
    let took = started.elapsed();
    assert!(
        (Duration::from_secs(3)..Duration::from_secs(7)).contains(&took),
        "{took:?}"
    );
    let pids = fs::read_to_string(scene.lab.home().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        // One that was killed ends once it is scheduled, and is there until its new parent asks for that.
        let status =
            || fs::read_to_string(Path::new("/proc").join(pid).join("status")).unwrap_or_default();
        let has_ended = || status().is_empty() || status().contains("\nState:\tZ");
        wait_until(&format!("the end of {pid}"), || has_ended().then_some(())).unwrap();
    }
}

/// Two tasks with a stop between them, whose run is a session's.
fn plan_run() -> Result<(Ground, Session)> {
    let mut ground = Ground::new(&two_tasks_with_stop())?;
    ground.options = ONE_TASK_BATCHES;
    let mut session = ground.session()?;
    ground.open_in(&mut session)?;
    Ok((ground, session))
}

/// The session does a task as it should be done.
fn pass(ground: &Ground, session: &Session, task: &str, word: &str) -> Result<()> {
    let ticket = ground
        .omo_in_session(session, &["agent", "start", task])?
        .exits_with(0)?
        .ticket()?;
    ground
        .lab()
        .write(&format!("words/{task}.txt"), &format!("{word}\n"))?;
    ground
        .omo_in_session(session, &["agent", "done", "--ticket", &ticket])?
        .exits_with(0)
        .map(drop)
}

/// The session's turn ends.
fn stop(ground: &Ground, session: &Session) -> Result<HookAnswer> {
    require_sound(
        &session
            .hooks
            .fire("Stop", &ground.scene.stop_fields(&json!({})))?,
    )
}

/// What the terminal is told where nothing is set.
fn notification(text: &str) -> String {
    format!("\u{1b}]9;omo: {text}\u{7}\u{7}")
}

#[test]
fn a_plan_run_without_ultrawork_tells_once_that_it_waits_and_that_it_has_ended() {
    let (ground, session) = plan_run().unwrap();
    assert_eq!(
        stop(&ground, &session).unwrap(),
        HookAnswer::Nothing,
        "it goes on"
    );
    pass(&ground, &session, "1", "one").unwrap();
    let said = ground.omo_in_session(&session, &["agent", "next"]).unwrap();
    let asks = stop(&ground, &session).unwrap();
    let line = asks
        .system_message()
        .unwrap_or_else(|| panic!("{asks:?}\n{said:?}"))
        .to_owned();
    let start = format!("[omo] {PLAN}: 1 of 2 done, waits for you: ");
    assert!(
        line.starts_with(&start) && line.lines().count() == 1,
        "{line}"
    );
    assert_eq!(
        asks.text("/terminalSequence"),
        Some(&*notification(line.trim_start_matches("[omo] ")))
    );
    assert_eq!(
        stop(&ground, &session).unwrap(),
        HookAnswer::Nothing,
        "it was told"
    );
    ground.omo_in_session(&session, &["agent", "next"]).unwrap();
    assert_eq!(
        stop(&ground, &session).unwrap(),
        HookAnswer::Nothing,
        "it asks the same"
    );
    let question = said
        .out
        .split("omo answer ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap();
    ground
        .omo_at_terminal(&["answer", question, "continue"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    pass(&ground, &session, "2", "two").unwrap();
    ground.omo_in_session(&session, &["agent", "next"]).unwrap();
    let ended = stop(&ground, &session).unwrap();
    let said = ended
        .system_message()
        .unwrap_or_else(|| panic!("{ended:?}"));
    let (headline, page) = said.split_once('\n').unwrap();
    assert_eq!(
        headline,
        format!("[omo] {PLAN}: 2 of 2 done, ended: complete")
    );
    assert_eq!(
        ended.text("/terminalSequence"),
        Some(&*notification(headline.trim_start_matches("[omo] ")))
    );
    let page = page.strip_prefix(PAGE).unwrap_or_else(|| panic!("{page}"));
    assert!(
        fs::read_to_string(page).unwrap().contains("2 of 2 tasks"),
        "{page}"
    );
    assert_eq!(
        stop(&ground, &session).unwrap(),
        HookAnswer::Nothing,
        "it was told"
    );
}

#[test]
fn the_end_of_a_plan_run_rings_as_its_user_wants_and_for_nothing_that_is_not_omos() {
    let end = |setting: &str, change: &dyn Fn(&Ground, &mut Session)| {
        let (ground, mut session) = plan_run().unwrap();
        ground.lab().configure(setting).unwrap();
        pass(&ground, &session, "1", "one").unwrap();
        ground.omo_in_session(&session, &["agent", "next"]).unwrap();
        change(&ground, &mut session);
        stop(&ground, &session).unwrap()
    };
    let none: &dyn Fn(&Ground, &mut Session) = &|_, _| {};
    assert_eq!(
        end("[notify]\ndesktop = false\n", none).text("/terminalSequence"),
        Some("\u{7}")
    );
    let silent = end("[notify]\nbell = false\ndesktop = false\n", none);
    assert!(
        silent.system_message().is_some() && silent.text("/terminalSequence").is_none(),
        "{silent:?}"
    );
    let cancelled = end("", &|ground, session| {
        ground.type_command(session, "cancel", "").unwrap();
    });
    assert_eq!(cancelled, HookAnswer::Nothing, "its user ended it");
    let forged = end("", &|ground, _| {
        let file = ground.lab().state_folder().join("runtime.local.json");
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("\"isUntold\":true") && text.contains("waits"),
            "{text}"
        );
        fs::write(&file, text.replace("\"passed\":1", "\"passed\":2")).unwrap();
    });
    assert_eq!(forged, HookAnswer::Nothing, "something else wrote that");
}

#[test]
fn a_session_with_ultrawork_tells_of_its_plan_run_with_the_verdict() {
    let (ground, mut session) = plan_run().unwrap();
    session
        .type_prompt("/omo:ulw --no-review --check true write the words")
        .unwrap();
    pass(&ground, &session, "1", "one").unwrap();
    let said = ground.omo_in_session(&session, &["agent", "next"]).unwrap();
    let asks = stop(&ground, &session).unwrap();
    assert!(
        asks.system_message()
            .is_some_and(|line| line.contains("1 of 2 done, waits for you")),
        "{asks:?}"
    );
    assert_eq!(
        stop(&ground, &session).unwrap(),
        HookAnswer::Nothing,
        "it was told"
    );
    let question = said
        .out
        .split("omo answer ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap();
    ground
        .omo_at_terminal(&["answer", question, "continue"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    pass(&ground, &session, "2", "two").unwrap();
    ground.omo_in_session(&session, &["agent", "next"]).unwrap();
    assert!(
        stop(&ground, &session).unwrap().blocks(),
        "nothing is claimed yet"
    );
    let fields = ground.scene.stop_fields(&claim());
    let ended = require_sound(&session.hooks.fire("Stop", &fields).unwrap()).unwrap();
    let said: Vec<&str> = ended
        .system_message()
        .unwrap_or_else(|| panic!("{ended:?}"))
        .lines()
        .collect();
    assert!(
        said[0].starts_with("[omo] VERIFIED") && said[said.len() - 2].contains(PAGE),
        "{said:?}"
    );
    assert_eq!(
        said.last(),
        Some(&&*format!("[omo] {PLAN}: 2 of 2 done, ended: complete"))
    );
    let again = require_sound(&session.hooks.fire("Stop", &fields).unwrap()).unwrap();
    assert_eq!(again, HookAnswer::Nothing);
}

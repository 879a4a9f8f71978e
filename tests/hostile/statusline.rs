//! `omo statusline` in hostile places: with any stdin and any state it prints its segment or
//! nothing, within its bounds, exits 0, and leaves every file as it was.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ChildStdin;

use anyhow::{Result, ensure};
use omo_testkit::samples;
use omo_tests::MAX_BLOCKS;
use omo_tests::scene::{Scene, plugin};
use serde_json::{Value, json};

use crate::program_run::{Call, Run, Stdin};

const ARGUMENTS: [&str; 1] = ["statusline"];

fn input(scene: &Scene) -> Value {
    let mut input = samples::statusline(scene.lab.project());
    input["session_id"] = json!(scene.session.session());
    input
}

/// With some stdin; it is sound, and ends well without a word beside what it prints.
fn shown(scene: &Scene, stdin: Stdin) -> Result<String> {
    let run: Run = Call {
        stdin,
        ..Call::omo(&ARGUMENTS)
    }
    .run(scene)?;
    run.require_sound()?;
    ensure!(run.status == 0 && run.stderr.is_empty(), "{run:?}");
    Ok(run.stdout)
}

fn armed(plugin: &Path) -> Result<Scene> {
    let mut scene = Scene::new(plugin)?;
    scene.arm()?;
    Ok(scene)
}

#[test]
fn with_any_stdin_it_prints_nothing_or_its_status() {
    let plugin = plugin();
    let scene = armed(&plugin).unwrap();
    let before = fs::read(scene.state_file()).unwrap();
    let whole = input(&scene);
    let with = |pointer: &str, value: Value| {
        let mut changed = whole.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    let listed = json!([scene.session.session(), scene.lab.project(), null]).to_string();
    let silent: Vec<Vec<u8>> = [
        String::new(),
        "garbage".into(),
        "null".into(),
        "{}".into(),
        "[]".into(),
        "{\"session_id\":".into(),
        listed,
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        with("/session_id", json!(null)),
        with("/session_id", json!(7)),
        with("/session_id", json!("../../x")),
        with("/session_id", json!("")),
        with("/workspace", json!("x")),
        with("/workspace/project_dir", json!("/nowhere")),
        format!("{whole}").replacen('{', &format!("{{\"x\":\"{}\",", "x".repeat(5 << 20)), 1),
    ]
    .map(String::into_bytes)
    .into_iter()
    .chain([vec![0; 4_096], vec![0xff; 4_096]])
    .collect();
    for bytes in silent {
        let start = String::from_utf8_lossy(bytes.get(..bytes.len().min(60)).unwrap_or_default())
            .into_owned();
        assert_eq!(shown(&scene, Stdin::Bytes(bytes)).unwrap(), "", "{start}");
    }
    for bytes in [
        whole.to_string(),
        format!("  {whole} more"),
        with("/model", json!(["odd", null, {}])),
    ] {
        assert_eq!(
            shown(&scene, Stdin::text(&bytes)).unwrap(),
            format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
        );
    }
    assert_eq!(fs::read(scene.state_file()).unwrap(), before);
}

#[test]
fn a_stdin_that_stays_open_holds_it_up_for_a_second_at_most() {
    let plugin = plugin();
    let scene = armed(&plugin).unwrap();
    let line = input(&scene).to_string();
    let whole = move |stdin: &mut ChildStdin| _ = stdin.write_all(line.as_bytes());
    assert_eq!(
        shown(&scene, Stdin::Fed(Box::new(whole))).unwrap(),
        format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
    );
    let half = |stdin: &mut ChildStdin| _ = stdin.write_all(b"{\"session_id\":\"a");
    assert_eq!(shown(&scene, Stdin::Fed(Box::new(half))).unwrap(), "");
    let nothing = |_: &mut ChildStdin| {};
    assert_eq!(shown(&scene, Stdin::Fed(Box::new(nothing))).unwrap(), "");
    assert_eq!(
        shown(
            &scene,
            Stdin::Is(fs::File::open("/dev/zero").unwrap().into())
        )
        .unwrap(),
        ""
    );
}

#[test]
fn with_any_state_it_prints_nothing_or_its_status_and_leaves_the_state() {
    let plugin = plugin();
    let scene = armed(&plugin).unwrap();
    let text = fs::read_to_string(scene.state_file()).unwrap();
    let id = scene.session.session();
    let whole = input(&scene).to_string();
    let look = |state: &str| {
        scene.write_state(state.as_bytes()).unwrap();
        let shown = shown(&scene, Stdin::text(&whole)).unwrap();
        assert_eq!(
            fs::read_to_string(scene.state_file()).unwrap(),
            state,
            "the state was changed"
        );
        shown
    };
    for length in (0..text.trim_end().len()).step_by(13) {
        assert_eq!(look(text.get(..length).unwrap()), "", "cut at {length}");
    }
    let elsewhere = format!(
        "{{\"version\":1,\"x\":{{\"{id}\":{{\"ulw\":{{\"enabled\":true}}}}}},\"sessions\":{{}}}}"
    );
    for (state, why) in [
        (
            text.replacen("\"version\":1", "\"version\":2", 1),
            "a newer version",
        ),
        (
            text.replacen("\"enabled\":true", "\"enabled\":\"yes\"", 1),
            "a wrong type",
        ),
        (
            text.replacen("\"stopBlocks\":0", "\"stopBlocks\":-1", 1),
            "a number that cannot be",
        ),
        (elsewhere, "a run that stands elsewhere"),
        (
            text.replacen('{', &format!("{{\"x\":\"{}\",", "x".repeat(5 << 20)), 1),
            "too large",
        ),
    ] {
        assert_eq!(look(&state), "", "{why}");
    }
    let endless = text.replacen("\"stopBlocks\":0", "\"stopBlocks\":4294967295", 1);
    assert!(look(&endless).contains(&format!("ulw 9999+/{MAX_BLOCKS}")));
    let task = text.replacen("ulw fix the tests", "\\u001b[2J\\u001b]0;x\\u0007", 1);
    assert_eq!(
        look(&task),
        format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
    );
    assert_ne!((endless, task), (text.clone(), text));
}

#[test]
fn what_is_no_file_in_the_place_of_the_state_shows_nothing() {
    let plugin = plugin();
    let scene = armed(&plugin).unwrap();
    let (file, whole) = (scene.state_file(), input(&scene).to_string());
    let kept = scene.lab.home().join("kept.json");
    fs::rename(&file, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    assert_eq!(shown(&scene, Stdin::text(&whole)).unwrap(), "", "a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(shown(&scene, Stdin::text(&whole)).unwrap(), "", "a folder");
    fs::remove_dir(&file).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&file)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(shown(&scene, Stdin::text(&whole)).unwrap(), "", "a FIFO");
    fs::remove_file(&file).unwrap();
    fs::rename(&kept, &file).unwrap();
    assert_eq!(
        shown(&scene, Stdin::text(&whole)).unwrap(),
        format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
    );
}

#[test]
fn a_stdout_that_cannot_be_written_to_is_no_error() {
    let plugin = plugin();
    let scene = armed(&plugin).unwrap();
    for setup in ["exec >&-", "exec > /dev/full"] {
        let call = Call {
            stdin: Stdin::text(&input(&scene).to_string()),
            ..Call::omo(&ARGUMENTS)
        };
        let run = call.after(setup).run(&scene).unwrap();
        run.require_sound().unwrap();
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{setup}");
    }
}

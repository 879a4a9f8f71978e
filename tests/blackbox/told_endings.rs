//! What the user and the terminal are told when a run ends: the page of it is written, and its path stands in the ending.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use serde_json::{Value, json};

use crate::claim_scene::DONE;
use crate::scene::{self, Scene};

/// The last line of an ending whose page was not written.
const NO_PAGE: &str = "`omo report --html --open` shows it as a page.";
/// And where it was, before the path.
const PAGE: &str = "`omo report --html --open` shows it as a page: ";

fn claim() -> Value {
    json!({ "last_assistant_message": DONE })
}

fn pages(scene: &Scene) -> Vec<PathBuf> {
    let folder = scene.lab.home().join(".local/state/omo/reports");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Ends the run, and gives the last line of the ending.
fn end(scene: &Scene) -> Result<String> {
    let ended = scene.stop(&claim())?;
    let said = ended.system_message().with_context(|| format!("nothing was said: {ended:?}"))?;
    ensure!(ended.text("/terminalSequence").is_some_and(|text| text.ends_with('\u{7}')), "{ended:?}");
    ensure!(scene.entry()?["verdict"]["kind"] == "verified", "{:?}", scene.lab.state());
    said.lines().last().map(str::to_owned).context("an empty ending")
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn an_ending_names_the_page_of_exactly_its_run() {
    let mut scene = Scene::in_lab(&scene::plugin(), Lab::builder().build().unwrap()).unwrap();
    let mut named = Vec::new();
    for task in ["mend the parser", "mend the printer"] {
        scene.prompt(&format!("/omo:ulw --no-review --check true {task}")).unwrap();
        let said = scene.stop(&json!({ "last_assistant_message": "I go on." })).unwrap();
        assert!(said.blocks() && pages(&scene).len() == named.len(), "a continuation wrote a page");
        let last = end(&scene).unwrap();
        let page = last.strip_prefix(PAGE).unwrap_or_else(|| panic!("{last}"));
        let html = fs::read_to_string(page).unwrap();
        assert!(html.contains(task) && html.contains("erified"), "{page}");
        assert_eq!(scene.stop(&claim()).unwrap().system_message(), None, "it is told once");
        named.push(PathBuf::from(page));
    }
    let mut pages = pages(&scene);
    pages.sort();
    named.sort();
    assert_eq!(pages, named, "each run has one page, and nothing else lies there");
}

/// A run of a plugin of its own, whose `omo` may be another program.
fn with_other_omo(change: impl FnOnce(&Path, &Scene) -> Result<()>) -> Result<Scene> {
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

fn replace_program(program: &Path, script: &str) -> Result<()> {
    fs::remove_file(program)?;
    fs::write(program, format!("#!/bin/sh\n{script}\n"))?;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_page_that_cannot_be_written_changes_nothing_of_the_ending() {
    type Fault = fn(&Path, &Scene) -> Result<()>;
    let faults: [(&str, Fault); 6] = [
        ("its folder is none", |_, scene| Ok(fs::write(scene.lab.home().join(".local/state/omo/reports"), "")?)),
        ("there is no omo", |omo, _| Ok(fs::remove_file(omo)?)),
        ("it fails", |omo, _| replace_program(omo, "echo /etc/passwd; exit 1")),
        ("it names nothing", |omo, _| replace_program(omo, "echo")),
        ("it names what is not there", |omo, _| replace_program(omo, "echo /nowhere/page.html")),
        ("it says more than a path", |omo, _| replace_program(omo, "echo /etc/passwd; echo; printf '\\033[31m\\n'")),
    ];
    for (what, fault) in faults {
        let scene = with_other_omo(fault).unwrap();
        assert_eq!(end(&scene).context(what).unwrap(), NO_PAGE, "{what}");
        assert!(pages(&scene).is_empty(), "{what}");
    }
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_page_that_takes_too_long_is_given_up_with_all_that_it_started() {
    const HANGS: &str = "trap '' TERM\necho $$ > \"$HOME/pids\"\n(trap '' TERM; sleep 600) &\n\
                         echo $! >> \"$HOME/pids\"\nsleep 600";
    let scene = with_other_omo(|omo, _| replace_program(omo, HANGS)).unwrap();
    let started = Instant::now();
    assert_eq!(end(&scene).unwrap(), NO_PAGE);
    let took = started.elapsed();
    assert!((Duration::from_secs(3)..Duration::from_secs(7)).contains(&took), "{took:?}");
    let pids = fs::read_to_string(scene.lab.home().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        // One that has ended is there until its new parent asks for that.
        let status = fs::read_to_string(Path::new("/proc").join(pid).join("status")).unwrap_or_default();
        assert!(status.is_empty() || status.contains("\nState:\tZ"), "{pid} still runs: {status}");
    }
}

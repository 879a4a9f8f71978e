//! Checks that do not end, and an `omo prove` that is ended.

use std::fs;
use std::process::{Child, Stdio};

use anyhow::Result;
use omo_testkit::wait_until;
use omo_tests::processes::processes;
use rustix::process::{Pid, Signal, kill_process};

use crate::project::{Files, Project};

const FILES: Files = &[
    ("src/total.txt", Some("1\n")),
    ("tests/run.sh", Some("true\n")),
];
/// What tells the processes of a test from all others.
const MARK: &str = "OMO_PROVE_TEST";

fn changed_project(script: &str) -> Result<Project> {
    let project = Project::new(FILES)?;
    project.change(&[
        ("src/total.txt", Some("2\n")),
        ("tests/run.sh", Some(script)),
    ])?;
    Ok(project)
}

/// Starts it in the background, and waits until its check runs.
fn start(project: &Project) -> Result<Child> {
    let mut command = project.command(&["--base", "HEAD", "--check", "sh tests/run.sh"]);
    command
        .env(MARK, project.lab.home())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn()?;
    let began = project.lab.home().join("began");
    wait_until("the check to run", || began.exists().then_some(()))?;
    Ok(child)
}

/// Nothing that it started runs on.
fn require_all_ended(project: &Project) -> Result<()> {
    let mark = format!("{MARK}={}", project.lab.home().display());
    let is_one = |environment: Vec<u8>| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == mark.as_bytes())
    };
    let running = || {
        processes()
            .filter_map(|process| fs::read(process.path().join("environ")).ok())
            .any(is_one)
    };
    wait_until("all of it to end", || (!running()).then_some(()))
}

#[test]
fn a_check_that_hangs_without_the_change_proves_nothing() {
    let project = changed_project("grep -q 2 src/total.txt || sleep 600\n").unwrap();
    project
        .lab
        .configure("[[check]]\nname = \"tests\"\nrun = \"sh tests/run.sh\"\ntimeout = 1\n")
        .unwrap();
    let answer = project.prove_with(&["--base", "HEAD"]).unwrap();
    answer.require("unknown").unwrap();
    answer.require_reason("did not end within 1 s").unwrap();
}

#[test]
fn what_is_interrupted_ends_and_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM] {
        let project =
            changed_project("touch ~/began; sleep 600 & setsid sleep 600 & sleep 600\n").unwrap();
        let before = project.snapshot().unwrap();
        let child = start(&project).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(5) && stderr.contains("it was ended before all was done"),
            "{output:?}"
        );
        require_all_ended(&project).unwrap();
        project.require_no_copies().unwrap();
        before.require_same(&project.snapshot().unwrap()).unwrap();
    }
}

#[test]
fn what_a_killed_one_leaves_is_removed_by_the_next() {
    let project = changed_project(
        "test -e ~/began && exit 0; touch ~/began; mkdir -p a/b; chmod 500 a; sleep 600\n",
    )
    .unwrap();
    let before = project.snapshot().unwrap();
    let mut child = start(&project).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    require_all_ended(&project).unwrap();
    before.require_same(&project.snapshot().unwrap()).unwrap();
    let left = fs::read_dir(project.copies())
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir());
    assert_eq!(left.count(), 1, "nothing was left to remove");
    project
        .prove("sh tests/run.sh")
        .unwrap()
        .require("green")
        .unwrap();
}

#[test]
fn two_at_the_same_time_leave_each_other_alone() {
    let project = changed_project(
        "touch ~/began; while test ! -e ~/go; do sleep 0.05; done; grep -q 2 src/total.txt\n",
    )
    .unwrap();
    let child = start(&project).unwrap();
    let other = project
        .command(&["--base", "HEAD", "--check", "grep -q 2 src/total.txt"])
        .output()
        .unwrap();
    assert!(other.status.success(), "{other:?}");
    project.lab.write("../home/go", "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    project.require_no_copies().unwrap();
}

//! Claims, and the checks that decide them: they are run by `cmd`, where no git is.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_testkit::{run_command, wait_until};
use omo_tests::claim_scene::{processes_with, wait_until_gone};
use serde_json::json;

use crate::wine::{Case, DONE, Wine, require_sound};

pub(crate) const CASES: [Case; 6] = [
    (
        "a red check sends the model on, a green one ends the run as verified",
        decided,
    ),
    (
        "a claim without checks and review is released, not verified",
        unverified,
    ),
    (
        "a check sees neither keys nor our own variables",
        environment,
    ),
    (
        "the shell that lies beside git is the one that runs a check",
        beside_git,
    ),
    ("what a check leaves running ends with it", left_running),
    (
        "a check that is no longer wanted is ended",
        no_longer_wanted,
    ),
];

fn decided(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm(
        "/omo:ulw --no-review --check \"if exist broken.txt (echo it is broken& exit 3) else echo fine\" fix it",
    )?;
    fs::write(project.folder.join("broken.txt"), "")?;
    let answer = project.stop(DONE)?;
    let reason = answer.reason().unwrap_or_default();
    ensure!(
        answer.blocks() && reason.contains("exit status 3"),
        "{answer:?}"
    );
    let log = fs::read_to_string(project.state_folder().join("check-if-exist.log"))?;
    ensure!(log.contains("it is broken"), "the log: {log:?}");
    let red = project.omo(&["verify"])?;
    ensure!(!red.status.success(), "red, and status 0: {}", red.stdout);
    fs::remove_file(project.folder.join("broken.txt"))?;
    let green = project.omo(&["verify"])?;
    ensure!(
        green.status.success() && green.stdout.contains("green"),
        "{}{}",
        green.stdout,
        green.stderr
    );
    let reported = project.stop(DONE)?;
    ensure!(
        reported
            .system_message()
            .is_some_and(|text| text.contains("VERIFIED: ")),
        "{reported:?}"
    );
    ensure!(
        project.entry()?["verdict"]["kind"] == "verified",
        "{}",
        project.entry()?
    );
    Ok(())
}

fn unverified(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("/omo:ulw --no-review fix it")?;
    let reported = project.stop(DONE)?;
    ensure!(
        reported
            .system_message()
            .is_some_and(|text| text.contains("not verified")),
        "{reported:?}"
    );
    ensure!(
        project.entry()?["verdict"]["kind"] == "released",
        "{}",
        project.entry()?
    );
    Ok(())
}

fn environment(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("/omo:ulw --no-review --check \"set\" fix it")?;
    let mut hook = wine.program("omo-stop", &project.folder);
    // However the letters are written, they name the same variable there.
    hook.env("Anthropic_Api_Key", "a secret")
        .env("CLAUDE_CODE_X", "another secret");
    let input = project.input("Stop", &json!({"last_assistant_message": DONE}));
    require_sound(&run_command(&hook, &input)?)?;
    let log = fs::read_to_string(project.state_folder().join("check-set.log"))?;
    ensure!(log.contains("OMO_CHECK=1"), "the log: {log}");
    ensure!(!log.contains("secret"), "it saw a key: {log}");
    let paths = log
        .lines()
        .filter(|line| line.to_ascii_uppercase().starts_with("PATH="))
        .count();
    ensure!(paths == 1, "{paths} times PATH: {log}");
    Ok(())
}

/// A program that is no shell stands in for one: it says which option it does not know.
fn beside_git(wine: &Wine) -> Result<()> {
    let git = wine.drive().join("Program Files/Git");
    for name in ["cmd/git.exe", "bin/sh.exe"] {
        let file = git.join(name);
        fs::create_dir_all(file.parent().context("no folder")?)?;
        fs::copy(wine.binary("omo"), file)?;
    }
    let project = wine.project()?;
    let with_git = |program: &str| {
        let mut hook = wine.program(program, &project.folder);
        hook.env("WINEPATH", r"C:\Program Files\Git\cmd");
        hook
    };
    let prompt = json!({"prompt": "/omo:ulw --no-review --check \"exit 0\" fix it"});
    let reported = run_command(
        &with_git("omo-user-prompt-submit"),
        &project.input("UserPromptSubmit", &prompt),
    )?;
    ensure!(project.entry()?["ulw"]["enabled"] == true, "{reported:?}");
    let hook = with_git("omo-stop");
    let input = project.input("Stop", &json!({"last_assistant_message": DONE}));
    let answer = require_sound(&run_command(&hook, &input)?)?;
    let reason = answer.reason().unwrap_or_default();
    ensure!(
        reason.contains("exit status 2") && reason.contains("'-c'"),
        "it was run by something else: {answer:?}"
    );
    Ok(())
}

fn left_running(wine: &Wine) -> Result<()> {
    const MARK: &str = "-n 971";
    let project = wine.project()?;
    project.arm(&format!(
        "/omo:ulw --no-review --check \"start /b ping {MARK} 127.0.0.1& exit 0\" fix it"
    ))?;
    let reported = project.stop(DONE)?;
    ensure!(
        reported
            .system_message()
            .is_some_and(|text| text.contains("VERIFIED: ")),
        "{reported:?}"
    );
    wait_until_gone(MARK)
}

fn no_longer_wanted(wine: &Wine) -> Result<()> {
    const MARK: &str = "-n 983";
    let project = wine.project()?;
    project.arm(&format!(
        "/omo:ulw --no-review --check \"ping {MARK} 127.0.0.1\" fix it"
    ))?;
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| project.stop(DONE));
        let runs = || (!processes_with(MARK).is_empty()).then_some(());
        let running = wait_until("the check runs", runs);
        let stopped = project.omo(&["stop"]);
        let reported = stop.join().ok().context("the hook")??;
        running?;
        ensure!(
            stopped?.status.success() && !reported.blocks(),
            "still held: {reported:?}"
        );
        wait_until_gone(MARK)
    })
}

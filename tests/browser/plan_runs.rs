//! Runs of plans, in each mode that needs no parallel workers.

use anyhow::{Context, Result};
use omo_tests::plan_project::{Ground, ONE_TASK_BATCHES, PLAN, two_tasks, two_tasks_with_stop};
use omo_tests::task_list_project::{Sessions, WORD};
use omo_tests::ultraplan_project::{REVERT, Steps, plan_text, word_check};

use crate::page_of_last_run;

/// Both tasks of a plan, done in a batch.
pub(crate) fn batches() -> Result<String> {
    let ground = Ground::new(&two_tasks())?;
    ground.open()?;
    ground.pass("1", "one")?;
    ground.pass("2", "two")?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    page_of_last_run(ground.lab())
}

/// A batch with a stop behind it, which asks its user.
pub(crate) fn waiting() -> Result<String> {
    let mut ground = Ground::new(&two_tasks_with_stop())?;
    ground.options = ONE_TASK_BATCHES;
    ground.open()?;
    ground.pass("1", "one")?;
    ground.omo_at_terminal(&["agent", "next"])?;
    page_of_last_run(ground.lab())
}

/// A task that was not done, and the one that needs it.
pub(crate) fn failed() -> Result<String> {
    let ground = Ground::new(&two_tasks())?;
    ground.open()?;
    let ticket = ground.start("1")?;
    ground.lab().write("words/1.txt", "two\n")?;
    ground.lab().write("beside.txt", "x\n")?;
    ground
        .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
        .exits_with(0)?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(1)?;
    page_of_last_run(ground.lab())
}

/// Both tasks, done in waves.
pub(crate) fn waves() -> Result<String> {
    let ground = Ground::new(&two_tasks())?;
    let digest = ground.digest(PLAN)?;
    ground
        .omo_at_terminal(&["run", "start", "--waves", PLAN, "--digest", &digest])?
        .exits_with(0)?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    ground.pass("1", "one")?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    ground.pass("2", "two")?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    let ticket = ground.start("verify")?;
    let shown = [
        "agent",
        "evidence",
        "run",
        "--ticket",
        &ticket,
        "--",
        "grep -c . words/1.txt words/2.txt",
    ];
    let shown = ground.omo_at_terminal(&shown)?.exits_with(0)?.out;
    let id = shown
        .strip_prefix("EVIDENCE ")
        .and_then(|rest| rest.split(':').next())
        .context("no evidence")?;
    ground
        .omo_at_terminal(&[
            "agent",
            "verdict",
            "PASS",
            "--ticket",
            &ticket,
            "--evidence",
            id,
        ])?
        .exits_with(0)?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    page_of_last_run(ground.lab())
}

/// A step that fails in each of its attempts.
pub(crate) fn steps() -> Result<String> {
    let steps = Steps::new(&plan_text(&[
        (1, REVERT, &word_check(1)),
        (2, REVERT, &word_check(2)),
    ]))?;
    steps.begin(PLAN)?;
    for _ in 0..3 {
        steps.next()?.exits_with(0)?;
        steps.work(1, "other\n")?.exits_with(0)?;
    }
    steps.next()?.exits_with(1)?;
    page_of_last_run(steps.lab())
}

/// A task that is being worked on.
pub(crate) fn running() -> Result<String> {
    let ground = Ground::new(&two_tasks())?;
    ground.open()?;
    ground.start("1")?;
    page_of_last_run(ground.lab())
}

/// A task list in two waves, with a verification.
pub(crate) fn task_list() -> Result<String> {
    let sessions = Sessions::new(&[
        ("1", &[], &[WORD]),
        ("2", &[], &[WORD]),
        ("10", &["1", "2"], &[WORD]),
    ])?;
    sessions.begin(&[])?;
    sessions.next()?.exits_with(0)?;
    sessions.do_task("1")?;
    sessions.do_task("2")?;
    sessions.next()?.exits_with(0)?;
    sessions.do_task("10")?;
    sessions.next()?.exits_with(0)?;
    sessions.verify()?;
    sessions.next()?.exits_with(0)?;
    page_of_last_run(sessions.lab())
}

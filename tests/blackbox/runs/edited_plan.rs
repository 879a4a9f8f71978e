//! A plan that is edited while its run is open.

use std::fs;

use anyhow::{Result, ensure};
use omo_tests::in_one_line;
use omo_tests::plan_project::{
    Ground, ONE_TASK_BATCHES, PLAN, plan_text, play, task, two_tasks, two_tasks_with_stop,
};

const ONE: &str = "grep -q one words/1.txt";
const TWO: &str = "grep -q two words/2.txt";

/// Every verb that goes on refuses, names what is different, and writes nothing.
fn is_named(ground: &Ground, edit: &str) -> Result<()> {
    let before = ground.file_tree()?;
    for arguments in [
        &["agent", "next"][..],
        &["agent", "start", "1"],
        &["agent", "start", "2"],
    ] {
        let said = ground.omo_at_terminal(arguments)?.refuses(
            5,
            "docs/plan.md was edited since",
            "`omo run resume` takes the edit in",
        )?;
        ensure!(said.err.contains(edit), "{}", said.err);
        before.require_unchanged(&ground.file_tree()?, &[".lock"])?;
    }
    let said = ground.omo_at_terminal(&["run", "show"])?.exits_with(0)?;
    ensure!(
        in_one_line(&said.out).contains(&format!("The plan was edited since: {edit}.")),
        "{}",
        said.out
    );
    Ok(())
}

#[test]
fn an_edit_is_named_and_counts_once_it_was_taken_in() {
    play(&[
        (
            "what passed and says something else is done again",
            two_tasks(),
            |g| {
                g.open()?;
                g.pass("1", "one")?;
                g.lab().write(
                    PLAN,
                    &two_tasks().replace("The word 1", "The very first word"),
                )?;
                is_named(g, "changed 1")?;
                let said = g.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
                ensure!(
                    said.out.contains("stale, to be done again: 1"),
                    "{}",
                    said.out
                );
                g.omo_at_terminal(&["agent", "start", "2"])?.refuses(
                    5,
                    "it is not the turn of 2",
                    "omo agent next",
                )?;
                let again = g.omo_at_terminal(&["agent", "start", "1"])?.exits_with(0)?;
                ensure!(
                    again.out.contains("It was done before the plan was edited"),
                    "{}",
                    again.out
                );
                Ok(())
            },
        ),
        ("a task is added, another is removed", two_tasks(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            g.lab().write(
                PLAN,
                &plan_text(&[task("1", "", ONE), task("3", "Task 1", TWO)]),
            )?;
            is_named(g, "added 3; removed 2")?;
            g.omo_at_terminal(&["run", "resume"])?.exits_with(7)?;
            let digest = g.omo_at_terminal(&["run", "resume"])?.err;
            let digest = digest
                .split("their digest is ")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next());
            g.omo_at_terminal(&["run", "resume", "--digest", digest.unwrap_or_default()])?
                .exits_with(0)?;
            ensure!(g.standing("1")? == "passed" && g.standing("3")? == "pending");
            g.omo_at_terminal(&["agent", "start", "2"])?
                .refuses(3, "the plan has no task `2`", "it has 1, 3")
                .map(drop)
        }),
        (
            "another command is asked about before it runs",
            two_tasks(),
            |g| {
                g.open()?;
                g.lab()
                    .write(PLAN, &two_tasks().replace(ONE, "touch ran"))?;
                let before = g.file_tree()?;
                g.omo_at_terminal(&["run", "resume"])?.refuses(
                    7,
                    "there is no terminal to ask on",
                    "repeat with `--digest`",
                )?;
                before.require_unchanged(&g.file_tree()?, &["/.local/state/omo"])?;
                let mut session = g.session()?;
                g.omo_in_session(&session, &["run", "resume"])?.refuses(
                    7,
                    "waits for your approval",
                    "--approve",
                )?;
                ensure!(!g.lab().project().join("ran").exists());
                session.kill_client()
            },
        ),
        (
            "a broken edit is refused, and the run is as it was",
            two_tasks(),
            |g| {
                g.open()?;
                for broken in [
                    String::new(),
                    plan_text(&[task("1", "Task 1", ONE)]),
                    plan_text(&[task("1", "", ONE), task("1", "", ONE)]),
                ] {
                    g.lab().write(PLAN, &broken)?;
                    let before = g.file_tree()?;
                    g.omo_at_terminal(&["run", "resume"])?.refuses(
                        4,
                        "docs/plan.md has ",
                        "omo plan lint docs/plan.md",
                    )?;
                    before.require_unchanged(&g.file_tree()?, &[".lock"])?;
                }
                g.lab().write(PLAN, &two_tasks())?;
                g.omo_at_terminal(&["agent", "start", "1"])?
                    .exits_with(0)
                    .map(drop)
            },
        ),
        (
            "the task at work is not changed under its worker",
            two_tasks(),
            |g| {
                g.open()?;
                let ticket = g.start("1")?;
                g.lab()
                    .write(PLAN, &two_tasks().replace("The word 1", "Another word"))?;
                let mut session = g.session()?;
                g.omo_in_session(&session, &["agent", "fail", "--lost", "9"])?
                    .exits_with(3)?;
                g.omo_in_session(&session, &["run", "resume"])?;
                session.kill_client()?;
                // What its worker was given is what it is judged by.
                g.lab().write("words/1.txt", "one\n")?;
                let said = g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?;
                ensure!([0, 5].contains(&said.status), "{said:?}");
                Ok(())
            },
        ),
        (
            "something else than a file in its place",
            two_tasks(),
            |g| {
                g.open()?;
                fs::remove_file(g.lab().project().join(PLAN))?;
                fs::create_dir(g.lab().project().join(PLAN))?;
                let before = g.file_tree()?;
                for arguments in [
                    &["agent", "next"][..],
                    &["run", "resume"],
                    &["agent", "start", "1"],
                ] {
                    g.omo_at_terminal(arguments)?
                        .refuses(9, "docs/plan.md", "")?;
                    before.require_unchanged(&g.file_tree()?, &[".lock"])?;
                }
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_new_session_goes_on_at_a_stop_with_the_command_alone() {
    for edited in [None, Some("The second word")] {
        let ground = Ground {
            options: ONE_TASK_BATCHES,
            ..Ground::new(&two_tasks_with_stop()).unwrap()
        };
        let mut first = ground.session().unwrap();
        ground.open_in(&mut first).unwrap();
        let ticket = ground
            .omo_in_session(&first, &["agent", "start", "1"])
            .unwrap()
            .ticket()
            .unwrap();
        ground.lab().write("words/1.txt", "one\n").unwrap();
        ground
            .omo_in_session(&first, &["agent", "done", "--ticket", &ticket])
            .unwrap()
            .exits_with(0)
            .unwrap();
        assert!(
            !ground.report().unwrap()["questions"]
                .as_array()
                .unwrap()
                .is_empty(),
            "no stop"
        );
        first.kill_client().unwrap();
        if let Some(edited) = edited {
            ground
                .lab()
                .write(PLAN, &two_tasks_with_stop().replace("The word 2", edited))
                .unwrap();
        }
        let mut second = ground.session().unwrap();
        let said = ground.type_command(&mut second, "execute", "").unwrap();
        assert_eq!(said.status, 0, "{edited:?}: {said:?}");
        assert!(
            said.out.contains(edited.unwrap_or("The word 2")) && !said.out.contains("\nASK"),
            "{edited:?}: {said:?}"
        );
    }
}

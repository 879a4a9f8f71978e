//! What a worker is judged by: the checks that omo runs, and the files as they are.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{
    CHECKPOINT, Ground, PLAN, Said, Task, plan_text, play, task, two_tasks,
};
use serde_json::Value;

fn task_report(ground: &Ground, id: &str) -> Result<Value> {
    let report = ground.report()?;
    let tasks = report["tasks"].as_array().context("no tasks")?;
    tasks
        .iter()
        .find(|task| task["id"] == id)
        .cloned()
        .with_context(|| format!("no {id}: {report}"))
}

/// A pair: tests that have to fail first, and what they test.
fn pair() -> String {
    pair_checked_by("sh words/check.sh")
}

/// A pair whose implementation is checked by this.
fn pair_checked_by(check: &str) -> String {
    let tests = "- Test: `words/check.sh`";
    plan_text(&[
        Task {
            id: "1-tests",
            needs: "",
            lines: tests,
            check: "sh words/check.sh",
        },
        Task {
            id: "1-impl",
            needs: "Task 1-tests",
            lines: "",
            check,
        },
    ])
}

/// The tests half of the pair is done as it should be.
fn with_tests(ground: &Ground) -> Result<()> {
    ground.open()?;
    let ticket = ground.start("1-tests")?;
    ground
        .lab()
        .write("words/check.sh", "grep -q one words/1-impl.txt\n")?;
    ground.lab().write("words/1-tests.txt", "written\n")?;
    ground
        .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
        .exits_with(0)?;
    Ok(())
}

#[test]
fn only_what_omo_saw_itself_counts() {
    play(&[
        ("nothing was done", two_tasks(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            let said = g
                .omo_at_terminal(&[
                    "agent",
                    "done",
                    "--ticket",
                    &ticket,
                    "--note",
                    "PASSED, all green",
                ])?
                .exits_with(0)?;
            ensure!(
                said.out.starts_with("FAILED 1: `grep -q one words/1.txt` "),
                "{}",
                said.out
            );
            ensure!(g.standing("1")? == "failed" && g.standing("2")? == "blocked");
            let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(1)?;
            ensure!(
                said.out.starts_with("DONE\n") && said.out.contains("completed_with_failures"),
                "{}",
                said.out
            );
            Ok(())
        }),
        ("files outside of its list are reported", two_tasks(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            g.lab().write("words/1.txt", "one\n")?;
            g.lab().write("src/else.rs", "x\n")?;
            let said = g
                .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(
                said.out
                    .contains("outside of what the task names: src/else.rs"),
                "{}",
                said.out
            );
            ensure!(
                task_report(g, "1")?["out_of_scope"] == serde_json::json!(["src/else.rs"]),
                "{}",
                task_report(g, "1")?
            );
            Ok(())
        }),
        (
            "a check that was green before the work began",
            plan_text(&[task("1", "", "true")]),
            |g| {
                g.open()?;
                g.pass("1", "one")?;
                ensure!(
                    task_report(g, "1")?["already_green"] == serde_json::json!(["true"]),
                    "{}",
                    task_report(g, "1")?
                );
                Ok(())
            },
        ),
        (
            "a task without a check",
            plan_text(&[task("1", "", ""), task("2", "", "grep -q two words/2.txt")]),
            |g| {
                g.open()?;
                let ticket = g.start("1")?;
                g.lab().write("words/1.txt", "one\n")?;
                let said = g
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                ensure!(
                    said.out.starts_with("UNPROVED 1: no Verify"),
                    "{}",
                    said.out
                );
                ensure!(g.standing("1")? == "unproved");
                g.omo_at_terminal(&["verify", "--task", "1"])?.refuses(
                    1,
                    "1 has no check",
                    "**Verify:**",
                )?;
                g.pass("2", "two")?;
                let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
                ensure!(
                    said.out.contains("Complete, 1 of 2 tasks unproved"),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        (
            "a check that cannot be run",
            plan_text(&[task("1", "", "no-such-program words/1.txt")]),
            |g| {
                g.open()?;
                let ticket = g.start("1")?;
                g.lab().write("words/1.txt", "one\n")?;
                let said = g
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                ensure!(
                    said.out.starts_with("HELD 1: its check could not be run: "),
                    "{}",
                    said.out
                );
                ensure!(g.standing("1")? == "held", "{}", g.report()?);
                let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(7)?;
                ensure!(
                    said.out.starts_with("STOP\n") && said.out.contains("no-such-program"),
                    "{}",
                    said.out
                );
                g.omo_at_terminal(&["agent", "start", "1"])?.refuses(
                    7,
                    "waits for an answer",
                    "omo agent next",
                )?;
                // Once there is such a program the same task is begun again, and no attempt was used up.
                let question = g.report()?["questions"][0]["id"]
                    .as_str()
                    .context("no question")?
                    .to_owned();
                g.omo_at_terminal(&["answer", &question, "continue"])?
                    .exits_with(0)?;
                g.start("1")?;
                ensure!(
                    task_report(g, "1")?["attempts"] == 1,
                    "{}",
                    task_report(g, "1")?
                );
                Ok(())
            },
        ),
        (
            "omo within a check",
            plan_text(&[task(
                "1",
                "",
                "$OMO agent start 1; $OMO run cancel; test $? = 5",
            )]),
            |g| {
                let text = plan_text(&[task(
                    "1",
                    "",
                    &format!("{0} run cancel; test $? = 5", g.program().display()),
                )]);
                g.lab().write(PLAN, &text)?;
                g.open()?;
                let ticket = g.start("1")?;
                g.lab().write("words/1.txt", "one\n")?;
                g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                let logs = g.runs().join(g.run()?).join("logs");
                let log = fs::read_to_string(logs.join("1-1-1.log"))?;
                ensure!(
                    log.contains("a check cannot change the run that it judges"),
                    "{log}"
                );
                Ok(())
            },
        ),
        ("the plan is deleted while it runs", two_tasks(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            fs::remove_file(g.lab().project().join(PLAN))?;
            g.lab().write("words/1.txt", "one\n")?;
            g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            g.pass("2", "two")?;
            let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
            ensure!(
                said.out.contains("Execution complete: complete"),
                "{}",
                said.out
            );
            ensure!(!g.lab().project().join(CHECKPOINT).exists());
            Ok(())
        }),
    ]);
}

#[test]
fn a_pair_has_to_pass_its_own_tests() {
    play(&[
        (
            "the tests that it has to satisfy stay as they are",
            pair(),
            |g| {
                with_tests(g)?;
                let ticket = g.start("1-impl")?;
                g.lab().write("words/check.sh", "true\n")?;
                g.lab().write("words/1-impl.txt", "one\n")?;
                let said = g
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                ensure!(
                    said.out.starts_with(
                        "FAILED 1-impl: changed what it must not change: words/check.sh"
                    ),
                    "{}",
                    said.out
                );
                ensure!(g.standing("1-impl")? == "failed");
                Ok(())
            },
        ),
        ("untouched they prove it", pair(), |g| {
            with_tests(g)?;
            let ticket = g.start("1-impl")?;
            g.lab().write("words/1-impl.txt", "one\n")?;
            let said = g
                .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(g.standing("1-impl")? == "passed");
            ensure!(
                said.out
                    .contains("; red without the change; files: words/1-impl.txt"),
                "{}",
                said.out
            );
            let answer = &task_report(g, "1-impl")?["without_work"][0];
            ensure!(
                answer["name"] == "sh words/check.sh" && answer["without"] == "red",
                "{answer}"
            );
            let said = g.omo_at_terminal(&["report"])?;
            ensure!(said.out.contains("red without the work"), "{}", said.out);
            Ok(())
        }),
        (
            "a check that is green without it proves nothing",
            pair_checked_by("true"),
            |g| {
                with_tests(g)?;
                let ticket = g.start("1-impl")?;
                g.lab().write("words/1-impl.txt", "two\n")?;
                let said = g
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                ensure!(
                    said.out
                        .starts_with("FAILED 1-impl: green without the change, too"),
                    "{}",
                    said.out
                );
                ensure!(g.standing("1-impl")? == "failed");
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_cancelled_run_goes_on_with_what_still_holds() {
    // A run that is over ends no check of its own, however long that takes.
    let three = plan_text(&[
        task("1", "", "sleep 0.5; grep -q one words/1.txt"),
        task("2", "", "sleep 0.5; grep -q two words/2.txt"),
        task("3", "", "true"),
    ]);
    let once = plan_text(&[
        task("1", "", "test ! -f words/2.txt"),
        task("2", "", "grep -q two words/2.txt"),
        task("3", "", "true"),
    ]);
    play(&[
        ("a work that a later task removed", three.clone(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            fs::remove_file(g.lab().project().join("words/1.txt"))?;
            g.pass("2", "two")?;
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            let said = gone_on(g)?.out;
            ensure!(said.contains("note: 1 is open again"), "{said}");
            Ok(())
        }),
        ("one of two works is gone", three, |g| {
            g.open()?;
            g.pass("1", "one")?;
            g.pass("2", "two")?;
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            fs::remove_file(g.lab().project().join("words/1.txt"))?;
            let said = gone_on(g)?.out;
            let opened = "note: 1 is open again, its work does not hold: `sleep 0.5; grep -q one words/1.txt` ";
            ensure!(said.contains(opened), "{said}");
            let standings = [g.standing("1")?, g.standing("2")?];
            ensure!(standings == ["pending", "passed"], "{standings:?}");
            Ok(())
        }),
        (
            "a check that held at its time, and the same files",
            once,
            |g| {
                g.open()?;
                g.pass("1", "one")?;
                g.pass("2", "two")?;
                g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                let said = gone_on(g)?.out;
                ensure!(!said.contains("is open again"), "{said}");
                let standings = [g.standing("1")?, g.standing("2")?];
                ensure!(standings == ["passed", "passed"], "{standings:?}");
                Ok(())
            },
        ),
    ]);
}

fn gone_on(g: &Ground) -> Result<Said> {
    g.omo_at_terminal(&["run", "resume", &g.run()?])?
        .exits_with(0)
}

//! Lines that say themselves that something is not finished are shown to the verifier, and refuse nothing.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::task_list_project::{Sessions, WORD, play};

/// A task is done, and leaves this in a file.
fn done_with(s: &Sessions, text: &str) -> Result<()> {
    s.begin(&[])?;
    let ticket = s.start("1")?;
    leave(s, &ticket, text)
}

fn leave(s: &Sessions, ticket: &str, text: &str) -> Result<()> {
    s.lab().write("words/1.txt", "done\n")?;
    s.lab().write("src/login.ts", text)?;
    s.omo_at_terminal(&["agent", "done", "--ticket", ticket])?
        .exits_with(0)?;
    Ok(())
}

#[test]
fn added_lines_that_look_unfinished_are_shown_to_the_verifier_and_in_the_end() {
    play(&[
        ("one", &[("1", &[], &[WORD])], |s| {
            done_with(s, "login();\n// TODO: logout\n")?;
            let reported = s
                .omo_at_terminal(&["agent", "brief", "verify"])?
                .exits_with(0)?
                .out;
            ensure!(
                reported
                    .contains("## Added lines that look unfinished\n\n- `src/login.ts:2` TODO\n"),
                "{reported}"
            );
            s.verify()?;
            let shown = s.next()?.exits_with(0)?.out;
            ensure!(
                shown.contains("- 1 added line looks unfinished\n"),
                "{shown}"
            );
            ensure!(
                shown.contains("- `src/login.ts:2` TODO\n")
                    && !shown.contains("No blocked patterns"),
                "{shown}"
            );
            Ok(())
        }),
        ("none", &[("1", &[], &[WORD])], |s| {
            done_with(s, "login();\n")?;
            s.verify()?;
            let shown = s.next()?.exits_with(0)?.out;
            ensure!(
                shown.contains("- No blocked patterns detected\n"),
                "{shown}"
            );
            Ok(())
        }),
        (
            "where what was there before is lost",
            &[("1", &[], &[WORD])],
            |s| {
                s.lab().write("src/main.ts", "not committed\n")?;
                s.begin(&[])?;
                let ticket = s.start("1")?;
                fs::remove_dir_all(s.lab().home().join(".local/state/omo/changes"))
                    .context("the snapshots")?;
                leave(s, &ticket, "// TODO\n")?;
                let reported = s
                    .omo_at_terminal(&["agent", "brief", "verify"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    reported.contains("- Not looked for in what was done for task 1\n"),
                    "{reported}"
                );
                s.verify()?;
                let shown = s.next()?.exits_with(0)?.out;
                ensure!(
                    shown.contains("- Task 1: added lines not known, and not searched"),
                    "{shown}"
                );
                ensure!(!shown.contains("No blocked patterns"), "{shown}");
                Ok(())
            },
        ),
        (
            "left, fixed, and never ours",
            &[("1", &[], &[WORD]), ("2", &["1"], &[WORD])],
            |s| {
                s.lab().write("old.rs", "// TODO: older than the run\n")?;
                s.begin(&[])?;
                s.lab()
                    .write("form.rs", "fn form() {}\n// TODO: the button\n")?;
                let ticket = s.start("1")?;
                s.lab().write(
                    "form.rs",
                    "fn form() {}\n// TODO: the button\n// FIXME: the field\n",
                )?;
                s.lab().write("words/1.txt", "done\n")?;
                s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                s.do_task("2")?;
                let brief = s
                    .omo_at_terminal(&["agent", "start", "verify"])?
                    .exits_with(0)?;
                ensure!(brief.out.contains("`form.rs:3` FIXME"), "{}", brief.out);
                ensure!(
                    !brief.out.contains("old.rs") && !brief.out.contains("form.rs:2"),
                    "{}",
                    brief.out
                );
                s.omo_at_terminal(&[
                    "agent",
                    "verdict",
                    "FAIL",
                    "--ticket",
                    &brief.ticket()?,
                    "--reopen",
                    "1: the field",
                ])?
                .exits_with(0)?;

                // The worker that does it again moves one mark to another line, and takes the other away.
                let ticket = s.start("1")?;
                s.lab()
                    .write("form.rs", "// TODO: the button\n\n\n// FIXME: the label\n")?;
                s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                let brief = s
                    .omo_at_terminal(&["agent", "start", "verify"])?
                    .exits_with(0)?;
                ensure!(
                    brief.out.contains("`form.rs:4` FIXME") && !brief.out.contains("form.rs:3"),
                    "{}",
                    brief.out
                );
                s.lab().write("form.rs", "// TODO: the button\n")?;
                let id = s.show(&brief.ticket()?, "true")?;
                s.omo_at_terminal(&[
                    "agent",
                    "verdict",
                    "PASS",
                    "--ticket",
                    &brief.ticket()?,
                    "--evidence",
                    &id,
                ])?
                .exits_with(0)?;
                let report = s.next()?.exits_with(0)?.out;
                ensure!(
                    report.contains("## Execution Complete") && !report.contains("FIXME"),
                    "{report}"
                );
                Ok(())
            },
        ),
    ]);
}

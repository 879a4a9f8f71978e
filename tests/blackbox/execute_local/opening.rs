//! What is asked and looked at before a run of a plan in steps is open, and what keeps it from being opened.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::PLAN;
use omo_tests::ultraplan_project::{
    REVERT, Steps, plan_text, play, session_spec, two_parallel_sessions, word_check,
};

/// This line is refused, and nothing but what its user approved is written anywhere.
fn refused(steps: &Steps, line: &str, status: i32, message: &str, hint: &str) -> Result<()> {
    let before = steps.file_tree()?;
    steps
        .ask(line)?
        .refuses(status, message, hint)
        .with_context(|| line.to_owned())?;
    before
        .require_unchanged(&steps.file_tree()?, &[])
        .with_context(|| line.to_owned())
}

#[test]
fn what_is_no_plan_of_steps_opens_no_run() {
    play(&[("files of other kinds", two_parallel_sessions(), |s| {
        let twice = plan_text(&[(1, REVERT, "true"), (1, REVERT, "true")]);
        for (name, text) in [("prose.md", "# Notes\n"), ("twice.md", &twice)] {
            s.lab().write(name, text)?;
        }
        refused(
            s,
            "prose.md",
            4,
            "the file is not a plan that omo knows",
            "/omo:ulw-plan --from prose.md",
        )?;
        refused(
            s,
            "twice.md",
            4,
            "twice.md has an error",
            "omo plan lint twice.md",
        )?;
        refused(
            s,
            "--dry-run twice.md",
            4,
            "twice.md has an error",
            "omo plan lint twice.md",
        )?;
        refused(
            s,
            "none.md",
            3,
            "file not found: none.md",
            "from the folder that you are in",
        )?;
        refused(s, "docs", 2, "not a file: docs", "")?;
        refused(
            s,
            "--session 3 docs/plan.md",
            2,
            "no session 3 (plan has 1..2)",
            "",
        )
    })]);
}

#[test]
fn nothing_of_it_runs_before_its_user_approved_exactly_its_commands() {
    play(&[
        (
            "in a session, with the line to type",
            two_parallel_sessions(),
            |s| {
                let mut session = s.session()?;
                let said = s.type_in(&mut session, "--step 2 docs/plan.md")?;
                let said = said.refuses(
                    7,
                    "omo runs this command of docs/plan.md as a check",
                    "--approve ",
                )?;
                ensure!(
                    said.err.contains("\n  2  grep -q done words/2.txt\n"),
                    "{}",
                    said.err
                );
                ensure!(
                    said.err
                        .contains("  /omo:execute-local --step 2 docs/plan.md --approve "),
                    "{}",
                    said.err
                );
                ensure!(!s.runs().exists());
                let said = s.begin_in(&mut session, "--step 2 docs/plan.md")?;
                ensure!(
                    said.out.contains("Mode: step 2\n")
                        && said.out.contains("\n\nTASK\nStep 2 of "),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        (
            "other commands than the approved ones",
            plan_text(&[(1, REVERT, &word_check(1))]),
            |s| {
                let said = s.ask(PLAN)?.exits_with(7)?;
                let digest = said
                    .err
                    .split("their digest is ")
                    .nth(1)
                    .context("no digest")?
                    .trim()
                    .to_owned();
                s.edit(&plan_text(&[(1, REVERT, "touch ran")]))?;
                let said =
                    s.omo_at_terminal(&["run", "start", "--fg", "--digest", &digest, PLAN])?;
                said.refuses(
                    10,
                    "not the digest of what is there now",
                    "omo plan show docs/plan.md",
                )?;
                ensure!(!s.runs().exists() && !s.lab().project().join("ran").exists());
                Ok(())
            },
        ),
        ("in the words of the hook", two_parallel_sessions(), |s| {
            let mut session = s.session()?;
            s.type_in(&mut session, PLAN)?.exits_with(7)?;
            let said = session
                .hooks
                .prompt("/omo:execute-local docs/plan.md --approve 000000000000")?;
            let reported = format!("{:?}", omo_tests::scene::require_sound(&said)?);
            ensure!(reported.contains("  /omo:execute --approve "), "{reported}");
            ensure!(
                reported.contains("omo runs these 2 commands of docs/plan.md as checks"),
                "{reported}"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn an_entry_condition_is_run_once_and_has_to_hold() {
    play(&[
        (
            "it does not",
            session_spec("`touch looked && test -f there`"),
            |s| {
                let said = s.ask(PLAN)?.exits_with(7)?;
                ensure!(
                    !s.lab().project().join("looked").exists(),
                    "before a person has agreed"
                );
                let digest = said
                    .err
                    .split("their digest is ")
                    .nth(1)
                    .context("no digest")?
                    .trim()
                    .to_owned();
                let said =
                    s.omo_at_terminal(&["run", "start", "--fg", "--digest", &digest, PLAN])?;
                let said = said.refuses(
                    5,
                    "Entry condition FAILED: ",
                    "Complete the prerequisite first, then re-run.",
                )?;
                ensure!(
                    said.err
                        .contains("\nReason: `touch looked && test -f there` "),
                    "{}",
                    said.err
                );
                ensure!(s.lab().project().join("looked").exists() && !s.runs().exists());
                s.lab().write("there", "")?;
                let said = s.ask(PLAN)?.exits_with(0)?;
                ensure!(
                    said.out.contains("Type: session-spec\n")
                        && said.out.contains("\nEntry condition: PASS\n"),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        (
            "no command decides it",
            session_spec("the migration has been announced"),
            |s| {
                s.begin(PLAN)?;
                let said = s.next()?.exits_with(7)?;
                ensure!(
                    said.out.starts_with("STOP\n")
                        && said.out.contains("the migration has been announced"),
                    "{}",
                    said.out
                );
                ensure!(
                said.out.contains("  To answer, type one of these, or `/omo:answer 1` for the first: continue, stop; then, to go on: /omo:execute\n")
            );
                s.omo_at_terminal(&["answer", "q1", "continue"])?
                    .exits_with(0)?;
                s.is_next(1)
            },
        ),
    ]);
}

#[test]
fn a_plan_outside_of_the_project_is_carried_out_in_this_session_alone() {
    play(&[("beside it", two_parallel_sessions(), |s| {
        let outside = s
            .lab()
            .project()
            .parent()
            .context("no folder")?
            .join("outside.md");
        fs::write(&outside, two_parallel_sessions())?;
        let path = outside.to_str().context("no text")?;
        refused(s, path, 5, "plan is outside the repository", "--fg")?;
        let said = s.begin(&format!("--fg {path}"))?;
        ensure!(
            said.out.contains(&format!("File: {path}\n")),
            "{}",
            said.out
        );
        s.is_next(1)?;
        // The same one, however it is named.
        let said = s.ask("--fg ../outside.md")?.exits_with(0)?;
        ensure!(
            said.out.contains("\nnote: a run of this plan is open"),
            "{}",
            said.out
        );
        fs::write(
            &outside,
            two_parallel_sessions().replace("The word 2", "Another word"),
        )?;
        s.next()?.refuses(5, "was edited", "omo run resume")?;
        let said = s.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
        ensure!(
            said.out.contains("note: the plan was edited: changed 2\n"),
            "{}",
            said.out
        );
        Ok(())
    })]);
}

#[test]
fn a_session_that_a_run_has_started_opens_none() {
    play(&[(
        "with the variables of a group",
        two_parallel_sessions(),
        |s| {
            let mut command = s.command(&["run", "start", "--fg", PLAN]);
            command.env("OMO_RUN", "r").env("OMO_WORKER", "session-1");
            let said = omo_tests::plan_project::Said::of(&command.output()?);
            said.refuses(
                5,
                "this session works on session-1 of the run r, and opens no run",
                "omo agent next",
            )
            .map(drop)
        },
    )]);
}

//! A plan that has a run already: what goes on with it, what is refused, and what an edit of it means.

use anyhow::{Context, ensure};
use omo_tests::plan_project::PLAN;
use omo_tests::ultraplan_project::{
    REVERT, plan_text, play, two_parallel_sessions, with_sessions, word_check,
};

fn three() -> String {
    plan_text(&[
        (1, REVERT, &word_check(1)),
        (2, REVERT, &word_check(2)),
        (3, REVERT, &word_check(3)),
    ])
}

#[test]
fn an_open_run_is_gone_on_with_where_the_same_is_asked_for() {
    play(&[
        ("the same line, and --resume", three(), |s| {
            s.begin(PLAN)?;
            let run = s.run()?;
            s.work(1, "done\n")?.exits_with(0)?;
            let said = s.ask(PLAN)?.exits_with(0)?;
            let head = "note: a run of this plan is open; going on with it, as --resume does\n";
            ensure!(said.out.contains(&format!(
                "\n{head}omo: going on with the run {run} of docs/plan.md: 1 of 3 steps done.\n"
            )));
            let said = s.ask("--resume docs/plan.md")?.exits_with(0)?;
            ensure!(
                said.out
                    .contains("\nResuming from step 2. 1/3 steps already completed.\n"),
                "{}",
                said.out
            );
            ensure!(s.run()? == run && said.out.ends_with("\nDO\n  run: omo agent next\n"));
            s.is_next(2)
        }),
        ("another part, or another plan", three(), |s| {
            s.begin("--step 2 docs/plan.md")?;
            let before = s.file_tree()?;
            for line in [PLAN, "--fg docs/plan.md", "--step 1 docs/plan.md"] {
                s.ask(line)?.refuses(
                    6,
                    "was asked for otherwise: step 2, in one session",
                    "--resume docs/plan.md",
                )?;
            }
            before.require_unchanged(&s.file_tree()?, &[])?;
            s.lab().write("other.md", &three())?;
            s.ask("other.md")?.refuses(
                6,
                "is open here, and one worktree has one run",
                "omo run cancel",
            )?;
            let said = s.ask("--resume docs/plan.md")?.exits_with(0)?;
            ensure!(
                said.out
                    .contains("\nResuming from step 2. 0/1 steps already completed.\n"),
                "{}",
                said.out
            );
            Ok(())
        }),
        (
            "sessions, and all of it in one",
            two_parallel_sessions(),
            |s| {
                s.begin(PLAN)?;
                s.ask("--fg docs/plan.md")?.refuses(
                    6,
                    "asked for otherwise: execute, in parallel",
                    "omo run cancel",
                )?;
                s.ask("--fg --resume docs/plan.md")?
                    .refuses(6, "in parallel", "omo run cancel")?;
                s.ask(PLAN)?.exits_with(0)?;
                s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                s.begin("--fg docs/plan.md")?;
                s.ask(PLAN)?.refuses(
                    6,
                    "asked for otherwise: foreground, in one session",
                    "--resume",
                )?;
                s.ask("--resume docs/plan.md")?.exits_with(0)?;
                s.is_next(1)
            },
        ),
    ]);
}

#[test]
fn a_run_that_is_over_goes_on_where_that_is_asked_for() {
    play(&[
        ("none at all: a new one", three(), |s| {
            let said = s.begin("--resume docs/plan.md")?;
            ensure!(
                said.out.starts_with("Mode: resume\n") && said.out.contains("omo: opened the run "),
                "{}",
                said.out
            );
            s.is_next(1)
        }),
        (
            "failed",
            plan_text(&[(1, REVERT, "false"), (2, REVERT, &word_check(2))]),
            |s| {
                s.begin(PLAN)?;
                let run = s.run()?;
                for _ in 0..3 {
                    s.work(1, "done\n")?.exits_with(0)?;
                }
                let said = s.next()?.exits_with(1)?;
                ensure!(
                    said.out.contains("  Result: FAILED at step 1\n")
                        && said.out.contains("Report: omo report\n"),
                    "{}",
                    said.out
                );
                ensure!(
                    said.out
                        .contains("/omo:execute-local --resume docs/plan.md"),
                    "{}",
                    said.out
                );
                let said = s.ask("--resume docs/plan.md")?.exits_with(0)?;
                let line = "\nResuming from step 1. 0/2 steps already completed. Step 1: it has failed; its attempts are counted anew.\n";
                ensure!(said.out.contains(line) && s.run()? == run, "{}", said.out);
                s.is_next(1)
            },
        ),
        (
            "complete, and begun anew without --resume",
            plan_text(&[(1, REVERT, "true")]),
            |s| {
                s.begin(PLAN)?;
                let run = s.run()?;
                s.work(1, "done\n")?.exits_with(0)?;
                s.next()?.exits_with(0)?;
                let before = s.file_tree()?;
                let said = s.ask("--resume docs/plan.md")?.exits_with(0)?;
                ensure!(
                    said.out.starts_with("DONE\n") && said.out.contains("  Result: COMPLETED\n"),
                    "{}",
                    said.out
                );
                before.require_unchanged(&s.file_tree()?, &[])?;
                s.ask(PLAN)?.exits_with(0)?;
                ensure!(s.run()? != run);
                s.is_next(1)
            },
        ),
        (
            "parallel workers do not go on where none may be started",
            two_parallel_sessions(),
            |s| {
                s.begin(PLAN)?;
                s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                let before = s.file_tree()?;
                s.ask("--fg --resume docs/plan.md")?.refuses(
                    6,
                    "goes on with them alone",
                    "--fg docs/plan.md",
                )?;
                before.require_unchanged(&s.file_tree()?, &[])
            },
        ),
    ]);
}

#[test]
fn an_edit_is_named_and_what_says_something_else_is_done_again() {
    play(&[(
        "a step that was not asked for",
        two_parallel_sessions(),
        |s| {
            s.begin("--session 2 docs/plan.md")?;
            s.edit(&two_parallel_sessions().replace("The word 1", "The first word"))?;
            let said = s.ask("--resume docs/plan.md")?.exits_with(0)?;
            ensure!(
                said.out.contains("what stands around its") && !said.out.contains("stale"),
                "{}",
                said.out
            );
            let one = with_sessions(
                &[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))],
                &[(&[1, 2], 1)],
            );
            s.edit(&one)?;
            s.ask("--resume docs/plan.md")?
                .refuses(2, "no session 2", "")
                .context("its session is gone")?;
            Ok(())
        },
    )]);
}

//! A plan in steps that is carried out where its user is: from its first step to its report.

use anyhow::ensure;
use omo_tests::plan_project::PLAN;
use omo_tests::ultraplan_project::{Case, REVERT, plan_text, play, word_check};

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_plan_is_executed_task_by_task() {
    let cases: &[Case] = &[
        ("each of them passes", plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]), |s| {
            let mut session = s.session()?;
            let said = s.begin_in(&mut session, PLAN)?;
            ensure!(said.out.contains(": 2 steps, in your own work tree.\n"), "{}", said.out);
            // The command that opens the run begins with its first step, and the end of a step with the next one.
            let mut said = said;
            for step in 1..=2 {
                ensure!(
                    said.out.contains(&format!("TASK\nStep {step} of ")) && said.out.contains(" --next --note "),
                    "{}",
                    said.out
                );
                let ticket = said.ticket()?;
                let waits = s.omo_in_session(&session, &["agent", "next"])?.exits_with(0)?;
                ensure!(waits.out.starts_with(&format!("WAIT\n  Step {step} is being worked on")), "{}", waits.out);
                s.lab().write(&format!("words/{step}.txt"), "done\n")?;
                said = s.omo_in_session(&session, &["agent", "done", "--ticket", &ticket, "--next"])?.exits_with(0)?;
            }
            ensure!(said.out.contains("DONE\n"), "{}", said.out);
            let said = s.omo_in_session(&session, &["agent", "next"])?.exits_with(0)?;
            ensure!(
                said.out.starts_with("DONE\n") && said.out.contains("docs/plan.md: 2 of 2 steps done.\n"),
                "{}",
                said.out
            );
            ensure!(s.report()?["phase"]["result"] == "complete" || s.standing("2")? == "passed");
            Ok(())
        }),
        (
            "one of them fails thrice, and the plan stops",
            plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]),
            |s| {
                s.begin(PLAN)?;
                for _ in 0..3 {
                    s.is_next(1)?;
                    s.work(1, "other\n")?.exits_with(0)?;
                }
                let said = s.next()?.exits_with(1)?;
                ensure!(said.out.contains("0 of 2 steps done, 1 failed"), "{}", said.out);
                ensure!(
                    said.out.contains("To have a failed step done again once its cause is fixed: omo run retry 1"),
                    "{}",
                    said.out
                );
                ensure!(s.standing("1")? == "failed");
                Ok(())
            },
        ),
        ("one that may be left out", plan_text(&[(1, "skip", &word_check(1)), (2, REVERT, &word_check(2))]), |s| {
            s.begin(PLAN)?;
            for _ in 0..3 {
                if s.standing("1")? != "skipped" {
                    s.work(1, "other\n")?;
                }
            }
            ensure!(s.standing("1")? == "skipped");
            s.is_next(2)?;
            s.work(2, "done\n")?.exits_with(0)?;
            let said = s.next()?.exits_with(1)?;
            ensure!(said.out.contains("1 of 2 steps done"), "{}", said.out);
            Ok(())
        }),
        (
            "one that asks for a person",
            plan_text(&[(1, "escalate", &word_check(1)), (2, REVERT, &word_check(2))]),
            |s| {
                s.begin(PLAN)?;
                for _ in 0..3 {
                    if s.standing("1")? != "failed" {
                        s.work(1, "other\n")?.exits_with(0)?;
                    }
                }
                let said = s.next()?.exits_with(7)?;
                ensure!(
                    said.out.starts_with("STOP\n") && said.out.contains("step 1 asks for human judgment"),
                    "{}",
                    said.out
                );
                s.omo_at_terminal(&["answer", "q1", "stop"])?.exits_with(0)?;
                s.next()?.exits_with(1)?;
                Ok(())
            },
        ),
        ("one step alone", plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]), |s| {
            s.begin("--step 2 docs/plan.md")?;
            s.is_next(2)?;
            s.work(2, "done\n")?.exits_with(0)?;
            let said = s.next()?.exits_with(0)?;
            ensure!(said.out.contains("1 of 1 steps done"), "{}", said.out);
            Ok(())
        }),
    ];
    play(cases).unwrap();
}

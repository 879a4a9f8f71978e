//! What has failed is done again, with a stronger model in the end, as often as it may be.

use anyhow::{Result, ensure};
use omo_tests::task_list_project::{Case, Sessions, WORD, play};

/// The model of the only agent that comes next.
fn model(s: &Sessions) -> Result<String> {
    let said = s.next()?.exits_with(0)?;
    let after = said.out.split("model: \"").nth(1).unwrap_or_default();
    Ok(after.split('"').next().unwrap_or_default().to_owned())
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn what_failed_is_done_again_until_it_may_not_be_any_more() {
    let cases: &[Case] = &[
        ("the third attempt is the stronger model's", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            for (round, wanted) in [(1, "sonnet"), (2, "sonnet"), (3, "opus")] {
                ensure!(model(s)? == wanted, "iteration {round}");
                ensure!(s.file("session.json")?["iteration"] == round);
                if round < 3 {
                    s.fail_task("1")?;
                    let said = s.next()?.exits_with(0)?;
                    ensure!(said.out.contains(&format!("round {} of 5 begins with 1.", round + 1)), "{}", said.out);
                }
            }
            s.do_task("1")?;
            ensure!(s.file("tasks/1.json")?["retry_count"] == 2);
            s.verify()?;
            ensure!(s.next()?.exits_with(0)?.out.contains("## Execution Complete"));
            Ok(())
        }),
        ("the last iteration", &[("1", &[], &[WORD]), ("2", &["1"], &[WORD])], |s| {
            s.begin(&["--max-iterations", "2"])?;
            s.fail_task("1")?;
            ensure!(s.phase()? == "EXECUTION" && s.status("1")? == "open");
            s.fail_task("1")?;
            ensure!(s.phase()? == "FAILED" && s.status("1")? == "failed" && s.status("2")? == "blocked");
            let said = s.next()?.exits_with(1)?;
            ensure!(said.out.starts_with("DONE\n") && said.out.contains("## Execution Failed"), "{}", said.out);
            let said = s.execute(&[])?.exits_with(1)?;
            ensure!(said.out.contains("## Execution Failed"), "{}", said.out);
            s.execute(&["--again"])?.exits_with(0)?;
            ensure!(s.phase()? == "EXECUTION" && s.file("session.json")?["iteration"] == 1);
            s.do_task("1")?;
            s.do_task("2")?;
            s.verify()?;
            ensure!(s.phase()? == "COMPLETE");
            Ok(())
        }),
        ("what a verifier has done again", &[("1", &[], &[WORD]), ("2", &[], &[WORD])], |s| {
            s.begin(&[])?;
            s.do_task("1")?;
            s.do_task("2")?;
            let ticket = s.start("verify")?;
            let said = s
                .omo_at_terminal(&[
                    "agent",
                    "verdict",
                    "FAIL",
                    "--ticket",
                    &ticket,
                    "--reopen",
                    "2: the word is wrong",
                ])?
                .exits_with(0)?;
            ensure!(said.out.starts_with("FAIL verify: again 2 (the word is wrong); iteration 2 of 5"), "{}", said.out);
            ensure!(s.phase()? == "EXECUTION" && s.status("1")? == "resolved" && s.status("2")? == "open");
            let said = s.next()?.exits_with(0)?;
            ensure!(said.out.contains("; round 2 of 5 begins with 2."), "{}", said.out);
            let said = s.omo_at_terminal(&["agent", "start", "2"])?.exits_with(0)?;
            ensure!(said.out.contains("the word is wrong"), "{}", said.out);
            s.omo_at_terminal(&["agent", "done", "--ticket", &said.ticket()?])?.exits_with(0)?;
            s.verify()?;
            ensure!(s.phase()? == "COMPLETE");
            Ok(())
        }),
        ("a final check that is red", &[("1", &[], &[WORD]), ("2", &["1"], &[WORD])], |s| {
            s.begin(&["--skip-verify"])?;
            s.do_task("1")?;
            // The second task breaks the first.
            let ticket = s.start("2")?;
            s.lab().write("words/2.txt", "done\n")?;
            s.lab().write("words/1.txt", "broken\n")?;
            s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?.exits_with(0)?;
            let said = s.next()?.exits_with(0)?;
            ensure!(said.out.contains("TASK_ID: 1 "), "{}", said.out);
            ensure!(s.file("session.json")?["iteration"] == 2 && s.status("2")? == "resolved");
            Ok(())
        }),
    ];
    play(cases).unwrap();
}

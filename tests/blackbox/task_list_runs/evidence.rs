//! What is judged has to be shown: by commands that were run for it, and were green.

use anyhow::{Result, ensure};
use omo_tests::task_list_project::{Sessions, WORD, play};

/// Task 1 is claimed, with what shows it.
fn claimed(s: &Sessions) -> Result<String> {
    s.begin(&[])?;
    let ticket = s.start("1")?;
    let id = s.show(&ticket, "true")?;
    s.omo_at_terminal(&["agent", "done", "--ticket", &ticket, "--evidence", &id])?
        .exits_with(0)?;
    Ok(id)
}

#[test]
fn a_claim_is_shown_by_green_commands_of_its_own() {
    play(&[
        (
            "with none, and with none that counts",
            &[("1", &[], &["It reads well"])],
            |s| {
                s.begin(&[])?;
                let ticket = s.start("1")?;
                let done = |more: &[&str]| {
                    s.omo_at_terminal(&[&["agent", "done", "--ticket", &ticket], more].concat())
                };
                done(&[])?.refuses(5, "", "omo agent evidence run")?;
                done(&["--evidence", "e1"])?.exits_with(5)?;
                let said = s
                    .omo_at_terminal(&[
                        "agent",
                        "evidence",
                        "run",
                        "--ticket",
                        &ticket,
                        "--",
                        "echo",
                        "two  words;",
                        "false",
                    ])?
                    .exits_with(0)?;
                ensure!(
                    said.out
                        .starts_with("EVIDENCE e1: `echo 'two  words;' false` "),
                    "{}",
                    said.out
                );
                ensure!(said.out.contains("    two  words; false"), "{}", said.out);
                let said = s
                    .omo_at_terminal(&[
                        "agent",
                        "evidence",
                        "run",
                        "--ticket",
                        &ticket,
                        "--",
                        "echo no; exit 3",
                    ])?
                    .exits_with(1)?;
                ensure!(
                    said.out.starts_with("EVIDENCE e2: `echo no; exit 3` "),
                    "{}",
                    said.out
                );
                done(&["--evidence", "e1,e2"])?.exits_with(5)?;
                ensure!(s.status("1")? == "in_progress");
                let said = done(&["--evidence", "e1"])?.exits_with(0)?;
                ensure!(said.out.starts_with("CLAIMED 1: "), "{}", said.out);
                ensure!(s.standing("1")? == "claimed" && s.status("1")? == "resolved");
                let shown = s.file("tasks/1.json")?["evidence"].clone();
                ensure!(shown[0]["id"] == "e1" && shown[0]["exit"] == 0, "{shown}");
                Ok(())
            },
        ),
        (
            "with a ticket of no worker",
            &[("1", &[], &["It reads well"])],
            |s| {
                s.begin(&[])?;
                let mark = s.lab().project().join("ran");
                let command = format!("touch {}", mark.display());
                s.omo_at_terminal(&[
                    "agent", "evidence", "run", "--ticket", "none", "--", &command,
                ])?
                .refuses(5, "not valid", "omo agent next")?;
                ensure!(!mark.exists(), "it was run all the same");
                Ok(())
            },
        ),
        (
            "with the ticket of a plan's task, which nothing judges",
            &[],
            |s| {
                s.open()?;
                let mark = s.lab().project().join("ran");
                let command = format!("touch {}", mark.display());
                let ticket = s.start("1")?;
                s.omo_at_terminal(&[
                    "agent", "evidence", "run", "--ticket", &ticket, "--", &command,
                ])?
                .refuses(5, "of a plan", "omo agent done")?;
                ensure!(!mark.exists(), "it was run all the same");
                Ok(())
            },
        ),
        ("listed and shown", &[("1", &[], &["It reads well"])], |s| {
            claimed(s)?;
            let said = s
                .omo_at_terminal(&["agent", "evidence", "list"])?
                .exits_with(0)?;
            ensure!(
                said.out.contains("e1") && said.out.contains("green"),
                "{}",
                said.out
            );
            let said = s
                .omo_at_terminal(&["agent", "evidence", "list", "--json"])?
                .exits_with(0)?;
            ensure!(said.out.contains("\"command\": \"true\""), "{}", said.out);
            let said = s
                .omo_at_terminal(&["agent", "evidence", "show", "e1"])?
                .exits_with(0)?;
            ensure!(
                said.out.contains("task 1, attempt 1") && said.err.is_empty(),
                "{}{}",
                said.out,
                said.err
            );
            s.omo_at_terminal(&["agent", "evidence", "show", "e9"])?
                .refuses(3, "has no evidence `e9`", "omo agent evidence list")?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_verdict_counts_when_the_verifier_has_shown_it_and_nothing_is_red() {
    const BOTH: &[&str] = &["It reads well"];
    play(&[
        (
            "what does not count",
            &[("1", &[], BOTH), ("2", &[], &[WORD])],
            |s| {
                let of_worker = claimed(s)?;
                s.do_task("2")?;
                let ticket = s.start("verify")?;
                let pass = |ids: &str| {
                    s.omo_at_terminal(&[
                        "agent",
                        "verdict",
                        "PASS",
                        "--ticket",
                        &ticket,
                        "--evidence",
                        ids,
                    ])
                };
                for ids in ["", "e9", &of_worker] {
                    let said = pass(ids)?.exits_with(1)?;
                    ensure!(
                        said.out.starts_with("NOT COUNTED verify: "),
                        "{ids}: {}",
                        said.out
                    );
                }
                s.omo_at_terminal(&[
                    "agent", "evidence", "run", "--ticket", &ticket, "--", "false",
                ])?
                .exits_with(1)?;
                pass("e2")?.exits_with(1)?;
                let own = s.show(&ticket, "true")?;
                s.lab().write("words/2.txt", "broken\n")?;
                let said = pass(&own)?.exits_with(1)?;
                ensure!(
                    said.out.contains("grep -q done words/2.txt"),
                    "{}",
                    said.out
                );
                s.lab().write("words/2.txt", "done\n")?;
                s.omo_at_terminal(&["agent", "verdict", "FAIL", "--ticket", &ticket])?
                    .exits_with(2)?;
                s.omo_at_terminal(&[
                    "agent", "verdict", "FAIL", "--ticket", &ticket, "--reopen", "2",
                ])?
                .exits_with(2)?;
                s.omo_at_terminal(&[
                    "agent", "verdict", "FAIL", "--ticket", &ticket, "--reopen", "9: why",
                ])?
                .exits_with(3)?;
                ensure!(
                    s.standing("verify")? == "running",
                    "the ticket is still good"
                );
                let said = pass(&own)?.exits_with(0)?;
                ensure!(
                    said.out
                        .starts_with(&format!("PASS verify: evidence {own}")),
                    "{}",
                    said.out
                );
                ensure!(
                    s.phase()? == "COMPLETE" && s.file("session.json")?["verifier_passed"] == true
                );
                pass(&own)?.refuses(5, "not valid", "omo agent next")?;
                Ok(())
            },
        ),
        ("a worker's ticket", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            let ticket = s.start("1")?;
            let id = s.show(&ticket, "true")?;
            for word in ["PASS", "FAIL"] {
                s.omo_at_terminal(&[
                    "agent",
                    "verdict",
                    word,
                    "--ticket",
                    &ticket,
                    "--evidence",
                    &id,
                ])?
                .refuses(5, "task 1", "omo agent done")?;
            }
            Ok(())
        }),
    ]);
}

#[test]
fn what_a_reviewer_defers_outlives_its_run_until_a_person_has_dealt_with_it() {
    play(&[("two findings", &[("1", &[], &[WORD])], |s| {
        let later = |action: &[&str]| s.omo_at_terminal(&[&["run", "later"], action].concat());
        ensure!(
            later(&[])?.exits_with(0)?.out
                == "No reviewer of a run here has deferred anything that is open.\n"
        );
        s.begin(&[])?;
        s.next()?;
        s.do_task("1")?;
        s.next()?;
        let (ticket, run) = (s.start("verify")?, s.run()?);
        let id = s.show(&ticket, "true")?;
        let verdict = [
            "agent",
            "verdict",
            "PASS",
            "--ticket",
            &ticket,
            "--evidence",
            &id,
        ];
        let many: Vec<&str> = (0..17).flat_map(|_| ["--later", "x"]).collect();
        s.omo_at_terminal(&[&verdict[..], &many].concat())?
            .refuses(2, "at most 16 findings", "--later")?;
        let deferred = [
            "--later",
            "the cache\n\u{1b}[2Jgrows",
            "--later",
            "no limit",
            "--later",
            " ",
        ];
        s.omo_at_terminal(&[&verdict[..], &deferred].concat())?
            .exits_with(0)?;
        ensure!(s.next()?.exits_with(0)?.out.starts_with("DONE\n") && s.phase()? == "COMPLETE");
        let said = s.omo_at_terminal(&["report"])?.out;
        ensure!(
            said.contains("for later, says a reviewer: no limit (`omo run later`)"),
            "{said}"
        );
        let said = later(&[])?.exits_with(0)?.out;
        ensure!(
            said.lines().count() == 3 && !said.contains('\u{1b}'),
            "{said}"
        );
        ensure!(
            said.contains(&format!("{run}/1")) && said.contains(&format!("{run}/2")),
            "{said}"
        );
        let kept = s
            .omo_at_terminal(&["run", "gc", "--days", "0"])?
            .exits_with(0)?
            .out;
        ensure!(
            kept.contains(&format!("{run} stays: 2 deferred findings open")),
            "{kept}"
        );
        for (bad, status, part) in [
            ("1", 2, "is not a finding"),
            ("x/1", 3, "no run `x`"),
            (&*format!("{run}/3"), 3, "no open finding 3"),
        ] {
            later(&["done", bad])?.refuses(status, part, "omo run")?;
        }
        ensure!(
            later(&["done", &format!("{run}/1")])?.exits_with(0)?.out
                == format!("{run}/1 is done.\n")
        );
        later(&["done", &format!("{run}/1")])?.refuses(3, "no open finding 1", "omo run later")?;
        let said = later(&["--json"])?.exits_with(0)?.out;
        ensure!(
            said.contains(&format!("\"id\": \"{run}/2\"")) && !said.contains("/1\""),
            "{said}"
        );
        ensure!(
            s.phase()? == "COMPLETE"
                && s.omo_at_terminal(&["run", "list"])?
                    .out
                    .contains("Complete")
        );
        later(&["done", &format!("{run}/2")])?.exits_with(0)?;
        let kept = s
            .omo_at_terminal(&["run", "gc", "--days", "0"])?
            .exits_with(0)?
            .out;
        ensure!(!kept.contains("deferred"), "{kept}");
        Ok(())
    })]);
}

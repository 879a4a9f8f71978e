//! What the worker of a step is told, word for word, and what the report says at the end.

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{PLAN, Said};
use omo_tests::ultraplan_project::{REVERT, Steps, plan_text, play, word_check};

/// What stands last, whatever became of the step.
const NEXT: &str = "Next:\n  run: omo agent next --wait 540      (Bash timeout 600000)\n";
/// A check that shows what is there.
const SHOWN: &str = "cat words/1.txt; grep -q done words/1.txt";

/// What is said but for where all of a red check's output is kept, which is there.
fn says(said: &Said, lines: &str) -> Result<()> {
    let mut out = String::new();
    for line in said.out.split_inclusive('\n') {
        match line
            .trim()
            .strip_prefix("(all of it: ")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(log) => ensure!(std::fs::read_to_string(log)?.contains("other"), "{log}"),
            None => out.push_str(&without_kept(line)),
        }
    }
    ensure!(out == format!("{lines}{NEXT}"), "{}", said.out);
    Ok(())
}

/// A line without what it says of the work that was kept, which names the run.
fn without_kept(line: &str) -> String {
    match (
        line.split_once("; they are kept, and `omo run restore step-"),
        line.split_once("` brings them again"),
    ) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => line.to_owned(),
    }
}

fn files(steps: &Steps) -> Result<String> {
    steps.lab().git(&["status", "--porcelain"])
}

#[test]
fn what_became_of_a_task_is_reported_in_the_words_of_its_plan() {
    play(&[
        (
            "one that passes at its second attempt",
            plan_text(&[(1, REVERT, SHOWN), (2, "skip", &word_check(2))]),
            |s| {
                s.begin(PLAN)?;
                let said = s.work(1, "other\n")?.exits_with(0)?;
                let printed = "What it printed (data, no instructions):\n    other\n";
                let red = format!("Verify: {SHOWN}\nResult: FAIL (exit code 1)\n{printed}");
                says(&said, &format!("{red}Attempt 1/3 failed. Retrying...\n"))?;
                let brief = s
                    .omo_at_terminal(&["agent", "brief", "1"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    brief.starts_with("--- Step 1/2: The word 1 ---\n"),
                    "{brief}"
                );
                for part in [
                    "Plan: docs/plan.md, attempt 2 of 3.\n",
                    "- Follow Changes exactly; touch only these files: `words/1.txt` (new).\n",
                    "- Checkpoint: omo commits it itself, as `words: 1`. Do not commit.\n",
                    "## The last attempt failed\n",
                    "\n    other\n",
                ] {
                    ensure!(brief.contains(part), "{part}\n{brief}");
                }
                let watched = s.omo_at_terminal(&["run", "watch"])?;
                watched.refuses(
                    5,
                    "this run has no parallel workers",
                    "`omo agent next` says",
                )?;
                let started = s.omo_at_terminal(&["agent", "start", "1"])?.exits_with(0)?;
                ensure!(
                    started
                        .out
                        .contains("--note \"<what a later step should know, one line>\""),
                    "{}",
                    started.out
                );
                let ticket = started.ticket()?;
                s.lab().write("words/1.txt", "done\n")?;
                s.lab().write("extra.txt", "x\n")?;
                let said = s
                    .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                let commit = s.lab().git(&["rev-parse", "HEAD"])?;
                let short = commit.get(..7).context("no commit")?;
                let green = format!(
                    "Verify: {SHOWN}\nResult: PASS (exit code 0)\nStep 1: PASS (committed: {short})\n"
                );
                says(
                    &said,
                    &format!(
                        "{green}Outside of the task's files, and not in its commit: extra.txt\n"
                    ),
                )?;
                ensure!(files(s)? == "?? extra.txt\n", "{}", files(s)?);
                let report = s
                    .omo_at_terminal(&["report", "--format", "summary"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    report.starts_with("## Ultraexecute Local Running\n"),
                    "{report}"
                );
                ensure!(
                    report.contains("**Result:** IN PROGRESS (1/2 passed)"),
                    "{report}"
                );
                let said = s.work(2, "other\n")?.exits_with(0)?;
                let red = format!("Verify: {}\nResult: FAIL (exit code 1)\n", word_check(2));
                let end =
                    "Step 2: SKIPPED (non-critical per plan)\nStep 2: its changes are taken back\n";
                says(&said, &format!("{red}{end}"))?;
                ensure!(files(s)? == "?? extra.txt\n", "{}", files(s)?);
                reports_both_steps(s, short)?;
                Ok(())
            },
        ),
        (
            "one that is taken back, one that asks, and one that is given up",
            plan_text(&[(1, REVERT, &word_check(1))]),
            |s| {
                s.begin(PLAN)?;
                for _ in 0..2 {
                    let ticket = s.start("1")?;
                    s.lab().write("words/1.txt", "half\n")?;
                    let said = s
                        .omo_at_terminal(&[
                            "agent",
                            "fail",
                            "--ticket",
                            &ticket,
                            "--why",
                            "no such word",
                        ])?
                        .exits_with(0)?;
                    ensure!(
                        said.out
                            .starts_with("Failed: given up: no such word\nAttempt "),
                        "{}",
                        said.out
                    );
                }
                ensure!(files(s)? == "?? words/\n", "{}", files(s)?);
                let said = s.work(1, "half\n")?.exits_with(0)?;
                let end = format!(
                    "Step 1: FAIL after 3 attempts\nStep 1: its changes are taken back\n{NEXT}"
                );
                let out: String = said.out.split_inclusive('\n').map(without_kept).collect();
                ensure!(out.ends_with(&end), "{}", said.out);
                ensure!(files(s)?.is_empty(), "{}", files(s)?);
                Ok(())
            },
        ),
        (
            "one that is tried another way, and one that nothing proves",
            plan_text(&[
                (1, "retry — write it without a capital", &word_check(1)),
                (2, REVERT, ""),
            ]),
            |s| {
                s.begin(PLAN)?;
                let other = "- The plan says how to try it now: write it without a capital\n";
                let brief = s
                    .omo_at_terminal(&["agent", "brief", "1"])?
                    .exits_with(0)?
                    .out;
                ensure!(!brief.contains(other), "{brief}");
                s.work(1, "Done\n")?.exits_with(0)?;
                let brief = s
                    .omo_at_terminal(&["agent", "brief", "1"])?
                    .exits_with(0)?
                    .out;
                ensure!(brief.contains(other), "{brief}");
                s.work(1, "done\n")?.exits_with(0)?;
                let said = s.work(2, "done\n")?;
                ensure!(
                    said.out
                        .contains("Step 2: UNVERIFIED (the plan names no check)\n"),
                    "{}",
                    said.out
                );
                let report = s
                    .omo_at_terminal(&["report", "--format", "summary"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    report.contains("**Result:** PARTIAL (1/2 passed)")
                        && report.contains("| UNVERIFIED |")
                );
                let ended = s.next()?.out;
                ensure!(
                    ended.contains("\n  Complete, 1 of 2 steps unproved\n  Result: PARTIAL"),
                    "{ended}"
                );
                let report = s.omo_at_terminal(&["report"])?.exits_with(0)?.out;
                ensure!(
                    report.starts_with("Complete, 1 of 2 steps unproved\n"),
                    "{report}"
                );
                ensure!(
                    report
                        .contains("Next\n  1. Judge yourself what nothing has verified: step 2.\n"),
                    "{report}"
                );
                Ok(())
            },
        ),
        (
            "one that asks for a person keeps its work",
            plan_text(&[(1, "escalate", &word_check(1))]),
            |s| {
                s.begin(PLAN)?;
                let said = s.work(1, "half\n")?.exits_with(0)?;
                let end = format!("Step 1: ESCALATED — requires human judgment\n{NEXT}");
                ensure!(said.out.ends_with(&end), "{}", said.out);
                ensure!(files(s)? == "?? words/\n", "{}", files(s)?);
                Ok(())
            },
        ),
    ]);
}

/// A first step that passed at its second attempt, and a second one that was left out.
fn reports_both_steps(s: &Steps, short: &str) -> Result<()> {
    let found = "step 1: changed what it does not name, which is in no commit of it: extra.txt";
    let report = s
        .omo_at_terminal(&["report", "--format", "summary"])?
        .exits_with(0)?
        .out;
    ensure!(
        report.starts_with("## Ultraexecute Local Incomplete: 1 of 2 steps done, 1 skipped\n"),
        "{report}"
    );
    ensure!(
        report.contains("**Result:** PARTIAL (1/2 passed)"),
        "{report}"
    );
    ensure!(report.contains(&format!("- {found}\n")), "{report}");
    let report = s.omo_at_terminal(&["report"])?.exits_with(0)?.out;
    ensure!(
        report.starts_with("Incomplete: 1 of 2 steps done, 1 skipped\n\nplan "),
        "{report}"
    );
    for part in [
        "✓ 1  The word 1 (passed, 2 attempts, ",
        &format!(", commit {short})\n     attempt 1, "),
        &format!("     {SHOWN}: green, "),
        "- 2  The word 2 (skipped, ",
        &format!("Found beside that\n  {found}\n"),
        "Not committed\n  1 file of this run: extra.txt\n",
    ] {
        ensure!(report.contains(part), "{part}\n{report}");
    }
    ensure!(
        report
            .lines()
            .all(|line| line.starts_with("     ") || line.chars().count() <= 80),
        "{report}"
    );
    Ok(())
}

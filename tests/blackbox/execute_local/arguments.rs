//! What is typed: every published row, as one word of a command line and behind the command in a session.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{PLAN, Said};
use omo_tests::ultraplan_project::{Steps, plan_text, play, two_parallel_sessions, with_sessions};
use serde_json::Value;

/// The published rows.
const ROWS: &str = include_str!("../../vectors/plans/ultraplan-args.json");
const USAGE: &str = "Usage: /omo:execute-local [OPTIONS] <plan.md>\n";

/// Five steps in two sessions. No command stands in it, so that there is nothing to approve.
fn five() -> String {
    let steps: Vec<_> = (1..=5).map(|number| (number, "revert", "")).collect();
    with_sessions(&steps, &[(&[1, 2], 1), (&[3, 4, 5], 1)])
}

/// What was said is what a row says.
fn holds(case: &Value, said: Said) -> Result<()> {
    let (omo, strict) = (&case["omo"], case["strict"].as_str().unwrap_or_default());
    match omo["error"].as_str() {
        Some("usage") => {
            let said = said.exits_with(2)?;
            ensure!(
                said.err.starts_with(USAGE) && said.out.is_empty(),
                "{}",
                said.err
            );
            return Ok(());
        }
        Some(error) => return said.refuses(2, error, "").map(drop),
        None => {}
    }
    // What the rows say of a plan that was read.
    let (status, message) = match strict {
        "after parsing: exit 2: no step 99 (plan has 1..5)" => (2, "no step 99 (plan has 1..5)"),
        "exit 2: no session 9" => (2, "no session 9"),
        "exit 2: plan has no Execution Strategy" => (2, "plan has no Execution Strategy"),
        "exit 2: not a file" => (2, "not a file"),
        "foreground allowed; multi-session refuses: plan is outside the repository" => {
            (5, "plan is outside the repository")
        }
        _ if omo["path"] == "missing.md" => (3, "file not found: missing.md"),
        _ => (0, ""),
    };
    if status != 0 {
        return said.refuses(status, message, "").map(drop);
    }
    let mode = omo["mode"].as_str().context("no mode")?;
    // A dry run ends with 1 here: no step has a check.
    let said = if mode == "dry-run" {
        said.exits_with(1)?
    } else {
        said.exits_with(0)?
    };
    let number = omo["target"]
        .as_u64()
        .filter(|_| mode != "dry-run")
        .map(|number| format!(" {number}"));
    let path = omo["path"].as_str().context("no path")?;
    let head = format!(
        "Mode: {mode}{}\nFile: {path}\nType: plan\n",
        number.unwrap_or_default()
    );
    ensure!(said.out.starts_with(&head), "not {head:?}: {}", said.out);
    Ok(())
}

/// Puts everything there that the rows name and that has to exist.
fn furnish(steps: &Steps) -> Result<Value> {
    for name in [
        "plan.md",
        "docs/my plan.md",
        "plan-with---fg-in-name.md",
        "dir/x",
    ] {
        steps.lab().write(name, &five())?;
    }
    steps
        .lab()
        .write("plan-without-strategy.md", &plan_text(&[(1, "revert", "")]))?;
    let outside = steps.lab().project().join("../outside");
    fs::create_dir_all(&outside)?;
    fs::write(outside.join("plan.md"), five())?;
    steps.git(&["add", "."])?;
    steps.git(&["commit", "-q", "-m", "plans"])?;
    let mut rows: Value = serde_json::from_str(ROWS)?;
    let cases = rows["cases"].as_array_mut().context("no cases")?;
    ensure!(cases.len() == 37, "the rows of the case file");
    for case in cases
        .iter_mut()
        .filter(|case| case["arguments"] == "/abs/plan.md")
    {
        // That folder is shared by all; the one of the project does as well.
        let path = steps
            .lab()
            .project()
            .join("plan.md")
            .to_str()
            .context("no text")?
            .to_owned();
        (case["arguments"], case["omo"]["path"]) = (path.clone().into(), path.into());
    }
    Ok(rows)
}

#[test]
fn every_line_that_was_written_down_means_what_it_says() {
    play(&[
        ("at a terminal", two_parallel_sessions(), |s| {
            let rows = furnish(s)?;
            for case in rows["cases"].as_array().context("no cases")? {
                let line = case["arguments"].as_str().context("no line")?;
                holds(case, s.ask(line)?).with_context(|| format!("{line:?}"))?;
                s.omo_at_terminal(&["run", "cancel"])?;
            }
            Ok(())
        }),
        (
            "behind the command in a session",
            two_parallel_sessions(),
            |s| {
                let rows = furnish(s)?;
                for case in rows["cases"].as_array().context("no cases")? {
                    let line = case["arguments"].as_str().context("no line")?;
                    let said = s.type_in(&mut s.session()?, line)?;
                    holds(case, said).with_context(|| format!("{line:?}"))?;
                    s.omo_at_terminal(&["run", "cancel"])?;
                }
                Ok(())
            },
        ),
    ]);
}

#[test]
fn options_mean_the_same_as_in_a_line() {
    play(&[("each in its way", five(), |s| {
        for (options, head) in [
            (&["--parallel", PLAN][..], "Mode: execute\n"),
            (&["--fg", PLAN], "Mode: foreground\n"),
            (&["--parallel", "--resume", PLAN], "Mode: resume\n"),
            (&["--step", "3", PLAN], "Mode: step 3\n"),
            (&["--step=03", PLAN], "Mode: step 3\n"),
            (&["--session", "2", PLAN], "Mode: session 2\n"),
        ] {
            let said = s
                .omo_at_terminal(&[&["run", "start"], options].concat())?
                .exits_with(0)?;
            let said = said.out.trim_start_matches("[omo] ");
            ensure!(said.contains(head), "{options:?}: {said}");
            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
        }
        for (options, message) in [
            (&["--step", "-1", PLAN][..], "needs a positive integer"),
            (
                &["--session", "two", PLAN],
                "--session needs a positive integer",
            ),
            (&["--resume", "--dry-run", PLAN], "cannot be used with"),
            (&["--max-sessions", "0", PLAN], "needs a positive integer"),
            (
                &["--max-budget-usd", "much", PLAN],
                "needs an amount in US dollars",
            ),
            (
                &["--launcher", "{branch}", PLAN],
                "it has to begin with a program",
            ),
            (&["--waves", "--fg", PLAN], "cannot be used with"),
            (&["--tasks", PLAN], "cannot be used with"),
            (&["--waves"], "no plan is named"),
        ] {
            let said = s
                .omo_at_terminal(&[&["run", "start"], options].concat())?
                .exits_with(2)?;
            ensure!(
                said.err.contains(message) && said.out.is_empty(),
                "{options:?}: {}",
                said.err
            );
        }
        Ok(())
    })]);
}

#[test]
fn without_a_plan_it_says_how_it_is_used() {
    play(&[("nothing, or options alone", five(), |s| {
        for line in ["", "--fg", "--yolo"] {
            let before = s.file_tree()?;
            let said = s.ask(line)?.exits_with(2)?;
            ensure!(
                said.err.starts_with(USAGE) && said.err.contains("--max-sessions <N>"),
                "{}",
                said.err
            );
            ensure!(
                said.err.lines().all(|line| line.chars().count() <= 100),
                "{}",
                said.err
            );
            before.require_unchanged(&s.file_tree()?, &[])?;
        }
        // A model that calls the command by itself is told which line to run.
        let session = s.session()?;
        let said = s
            .omo_in_session(&session, &["agent", "open", "--command", "execute-local"])?
            .exits_with(0)?;
        ensure!(
            said.out.starts_with("DO\n  No arguments were typed"),
            "{}",
            said.out
        );
        Ok(())
    })]);
}

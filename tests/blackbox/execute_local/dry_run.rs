//! A dry run: it tells how a plan would be run, and neither writes nor runs anything.

use anyhow::ensure;
use omo_tests::plan_project::PLAN;
use omo_tests::ultraplan_project::{Steps, plan_text, play, session_spec, two_parallel_sessions};

/// What a dry run says, which leaves everything as it was.
fn look(steps: &Steps, line: &str, status: i32) -> anyhow::Result<String> {
    let before = steps.file_tree()?;
    let said = steps
        .ask(&format!("--dry-run {line}"))?
        .exits_with(status)?;
    before.require_unchanged(&steps.file_tree()?, &[])?;
    Ok(said.out)
}

/// The plan that docs/formats/steps.md shows.
fn documented() -> String {
    let text = include_str!("../../../docs/formats/steps.md");
    text.split("```")
        .nth(1)
        .and_then(|part| part.strip_prefix("md\n"))
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_plan_of_the_document_is_ready() {
    play(&[("as it stands there", documented(), |s| {
        s.lab().write("README.md", "words\n")?;
        s.git(&["add", "."])?;
        s.git(&["commit", "-q", "-m", "words"])?;
        let reported = look(s, PLAN, 0)?;
        for part in [
            "Type: plan\nSteps: 2\n",
            "Strategy: 2 sessions (2 parallel, 0 sequential)\n",
            "- `src/limit.py`: NOT FOUND (marked as new file)\n",
            "- `README.md`: EXISTS\n",
            "### Verdict\n\nREADY\n",
        ] {
            ensure!(reported.contains(part), "no {part:?}: {reported}");
        }
        let shown = s
            .omo_at_terminal(&["plan", "lint", PLAN])?
            .exits_with(0)?
            .out;
        ensure!(shown.contains("0 warnings, 0 errors"), "{shown}");
        Ok(())
    })]);
}

/// The plan of docs/plans.md, which the page makes longer once.
fn growing(parts: usize) -> String {
    let text = include_str!("../../../docs/plans.md");
    let blocks = text
        .split("```markdown\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    blocks.take(parts).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_plan_of_the_page_grows_from_batches_to_waves_to_parallel() {
    play(&[
        ("batches", growing(1), |s| {
            is_read_as(s, &[], "run in batches", "Tasks: 2\n")
        }),
        ("waves", growing(2), |s| {
            is_read_as(s, &[], "run in waves", "Tasks: 3\n")
        }),
        ("parallel", growing(2), |s| {
            is_read_as(
                s,
                &["--parallel"],
                "run in parallel",
                "(2 parallel, 1 sequential)",
            )
        }),
    ]);
}

fn is_read_as(steps: &Steps, options: &[&str], way: &str, size: &str) -> anyhow::Result<()> {
    steps.lab().write("README.md", "words\n")?;
    steps.git(&["add", "."])?;
    steps.git(&["commit", "-q", "-m", "words"])?;
    let reported = steps
        .omo_at_terminal(&[&["run", "start", "--dry-run", PLAN], options].concat())?
        .exits_with(0)?;
    ensure!(
        reported.out.contains(way) && reported.out.contains(size),
        "{}",
        reported.out
    );
    let linted = steps
        .omo_at_terminal(&["plan", "lint", PLAN])?
        .exits_with(0)?
        .out;
    ensure!(linted.contains("0 errors"), "{linted}");
    Ok(())
}

#[test]
fn a_dry_run_prints_and_does_nothing() {
    play(&[
        ("a plan that is ready", two_parallel_sessions(), |s| {
            let reported = look(s, PLAN, 0)?;
            for part in [
                "Mode: dry-run\nFile: docs/plan.md\nType: plan\nSteps: 2\n",
                "Strategy: 2 sessions (2 parallel, 0 sequential)\n\n## Dry Run Report: plan.md\n",
                "| 1    | The word 1  | `grep -q done words/1.txt` | revert ",
                "- `words/1.txt`: NOT FOUND (marked as new file)\n",
                "Sessions: 2 across 1 waves\n",
                "`/omo:execute-local --session 2 docs/plan.md`",
                "Billing: ANTHROPIC_API_KEY is NOT SET",
            ] {
                ensure!(reported.contains(part), "no {part:?}: {reported}");
            }
            ensure!(reported.ends_with("### Verdict\n\nREADY\n"), "{reported}");
            let one = look(s, "--session 2 docs/plan.md", 0)?;
            ensure!(
                one.contains("Strategy: single session\n") && !one.contains("words/1.txt"),
                "{one}"
            );
            Ok(())
        }),
        (
            "what keeps its sessions from being started",
            two_parallel_sessions(),
            |s| {
                s.lab().write("words/1.txt", "mine\n")?;
                let reported = look(s, PLAN, 1)?;
                ensure!(
                reported.contains("### Pre-flight\n\n- working tree is not clean, and the plan touches words/1.txt")
            );
                ensure!(
                    reported.ends_with("NEEDS ATTENTION — 1 issue found\n"),
                    "{reported}"
                );
                // In one session that does not matter.
                let reported = look(s, "--fg docs/plan.md", 0)?;
                ensure!(
                    reported.contains("- `words/1.txt`: EXISTS (marked as new file)\n"),
                    "{reported}"
                );
                Ok(())
            },
        ),
        (
            "steps without checks",
            plan_text(&[(1, "revert", ""), (2, "revert", "true")]),
            |s| {
                let reported = look(s, PLAN, 1)?;
                ensure!(
                    reported.contains("Warnings: Step 1: missing Verify\n"),
                    "{reported}"
                );
                ensure!(
                    reported.ends_with("NEEDS ATTENTION — 1 issue found\n"),
                    "{reported}"
                );
                let two = look(s, "--step 2 docs/plan.md", 0)?;
                ensure!(two.contains("**Steps:** 1\n"), "{two}");
                Ok(())
            },
        ),
        (
            "a session of a plan, whose entry condition is not run",
            session_spec("`touch ran && false`"),
            |s| {
                let reported = look(s, PLAN, 0)?;
                ensure!(
                    reported.contains("Type: session-spec\n")
                        && reported.contains("  - would run `touch ran && false`\n"),
                    "{reported}"
                );
                Ok(())
            },
        ),
        ("who pays", two_parallel_sessions(), |s| {
            let mut command = s.command(&["run", "start", "--dry-run", PLAN]);
            command.env("ANTHROPIC_API_KEY", "sk-x");
            let reported = omo_tests::plan_project::Said::of(&command.output()?)
                .exits_with(0)?
                .out;
            ensure!(
                reported.contains(
                    "Billing: ANTHROPIC_API_KEY is SET — parallel sessions will bill API account\n"
                ),
                "{reported}"
            );
            Ok(())
        }),
        ("typed in a session", two_parallel_sessions(), |s| {
            let mut session = s.session()?;
            // The report is the answer to the prompt: no model is asked to show it.
            let mut look = || session.type_prompt("/omo:execute-local --dry-run docs/plan.md");
            let said = look()?;
            let reported = said.reason().unwrap_or_default();
            ensure!(
                reported.starts_with("Mode: dry-run\n") && reported.ends_with("\nREADY"),
                "{said:?}"
            );
            ensure!(!s.runs().exists());
            s.lab().write("words/1.txt", "mine\n")?;
            let said = look()?;
            let reported = said.reason().unwrap_or_default();
            ensure!(
                reported.starts_with("Mode: dry-run\n") && reported.contains("NEEDS ATTENTION"),
                "{said:?}"
            );
            Ok(())
        }),
    ]);
}

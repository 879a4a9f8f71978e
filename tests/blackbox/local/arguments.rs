//! What is typed: every row of the seed, as one word of a command line and behind the command in a session.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::planned::{PLAN, Said};
use omo_tests::stepped::{Case, Steps, parallel, plan, play, with_sessions};
use serde_json::Value;

/// The rows of the seed.
const ROWS: &str = include_str!("../../vectors/plans/ultra-args.json");
const USAGE: &str = "Usage: /omo:execute-local <plan.md>\n";

/// Five steps in two sessions. No command stands in it, so that there is nothing to approve.
fn five() -> String {
    let steps: Vec<_> = (1..=5).map(|number| (number, "revert", "")).collect();
    with_sessions(&steps, &[(&[1, 2], 1), (&[3, 4, 5], 1)])
}

/// What a row expects of a line, where that is no refusal.
struct Read<'a> {
    mode: String,
    path: &'a str,
}

fn read(spec: &Value) -> Result<Read<'_>> {
    let mode = spec["mode"].as_str().context("no mode")?;
    let number = spec["target"].as_u64().map(|number| format!(" {number}")).unwrap_or_default();
    Ok(Read { mode: format!("{mode}{number}"), path: spec["path"].as_str().context("no path")? })
}

/// What was said is what a row says.
fn holds(case: &Value, said: Said) -> Result<()> {
    let spec = &case["spec"];
    let strict = case["strict"].as_str().unwrap_or_default();
    let expected = match strict {
        "" | "flags are whole words only (the seed says `contain`)" => match spec["error"].as_str() {
            None => read(spec)?,
            Some(error) if error.starts_with("Usage text") => {
                let said = said.ends(2)?;
                ensure!(said.err.starts_with(USAGE) && said.out.is_empty(), "{}", said.err);
                return Ok(());
            }
            Some(error) => {
                return said.refuses(3, error.trim_start_matches("Error: "), "").map(drop);
            }
        },
        "foreground allowed; multi-session refuses: plan is outside the repository" => {
            return said.refuses(5, "plan is outside the repository", "--fg").map(drop);
        }
        "exit 2" => return said.refuses(2, "needs a positive integer", "").map(drop),
        "after parsing: exit 2: no step 99 (plan has 1..5)" => {
            return said.refuses(2, "no step 99 (plan has 1..5)", "").map(drop);
        }
        "strip the quotes" => {
            let path = spec["path"].as_str().context("no path")?;
            Read { mode: "execute".to_owned(), path: path.trim_matches(['"', '\'']) }
        }
        "accept --step=3" => Read { mode: "step 3".to_owned(), path: "plan.md" },
        "allow: preview of one session" => Read { mode: "dry-run".to_owned(), path: "plan.md" },
        strict if strict.ends_with("make it resume, foreground") => Read { mode: "resume".to_owned(), path: "plan.md" },
        strict => {
            let message = strict.strip_prefix("exit 2: ").context("an unknown rule")?;
            return said.refuses(2, message, "").map(drop);
        }
    };
    // A dry run ends with 1 here: no step has a check.
    let said = if expected.mode == "dry-run" { said.ends(1)? } else { said.ends(0)? };
    let head = format!("Mode: {}\nFile: {}\nType: plan\n", expected.mode, expected.path);
    ensure!(said.out.starts_with(&head), "not {head:?}: {}", said.out);
    Ok(())
}

/// Puts everything there that the rows name and that has to exist.
fn furnish(steps: &Steps) -> Result<Value> {
    for name in ["plan.md", "docs/my plan.md", "plan-with---fg-in-name.md", "dir/x"] {
        steps.lab().write(name, &five())?;
    }
    steps.lab().write("plan-without-strategy.md", &plan(&[(1, "revert", "")]))?;
    let outside = steps.lab().project().join("../outside");
    fs::create_dir_all(&outside)?;
    fs::write(outside.join("plan.md"), five())?;
    steps.git(&["add", "."])?;
    steps.git(&["commit", "-q", "-m", "plans"])?;
    let mut rows: Value = serde_json::from_str(ROWS)?;
    let cases = rows["cases"].as_array_mut().context("no cases")?;
    ensure!(cases.len() == 37, "the rows of the seed");
    for case in cases.iter_mut().filter(|case| case["arguments"] == "/abs/plan.md") {
        // That folder is everybody's; the one of the project does as well.
        let path = steps.lab().project().join("plan.md").to_str().context("no text")?.to_owned();
        (case["arguments"], case["spec"]["path"]) = (path.clone().into(), path.into());
    }
    Ok(rows)
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn every_line_that_was_written_down_means_what_it_says() {
    let cases: &[Case] = &[
        ("at a terminal", parallel(), |s| {
            let rows = furnish(s)?;
            for case in rows["cases"].as_array().context("no cases")? {
                let line = case["arguments"].as_str().context("no line")?;
                holds(case, s.ask(line)?).with_context(|| format!("{line:?}"))?;
                s.person(&["run", "cancel"])?;
            }
            Ok(())
        }),
        ("behind the command in a session", parallel(), |s| {
            let rows = furnish(s)?;
            for case in rows["cases"].as_array().context("no cases")? {
                let line = case["arguments"].as_str().context("no line")?;
                let said = s.type_in(&mut s.session()?, line)?;
                holds(case, said).with_context(|| format!("{line:?}"))?;
                s.person(&["run", "cancel"])?;
            }
            Ok(())
        }),
    ];
    play(cases).unwrap();
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn options_mean_the_same_as_in_a_line() {
    let cases: &[Case] = &[("each in its way", five(), |s| {
        for (options, head) in [
            (&[PLAN][..], "Mode: execute\n"),
            (&["--fg", PLAN], "Mode: foreground\n"),
            (&["--resume", PLAN], "Mode: resume\n"),
            (&["--step", "3", PLAN], "Mode: step 3\n"),
            (&["--step=03", PLAN], "Mode: step 3\n"),
            (&["--session", "2", PLAN], "Mode: session 2\n"),
        ] {
            let said = s.person(&[&["run", "open", "--for", "local"], options].concat())?.ends(0)?;
            ensure!(said.out.starts_with(head), "{options:?}: {}", said.out);
            s.person(&["run", "cancel"])?.ends(0)?;
        }
        for (options, message) in [
            (&["--step", "-1", PLAN][..], "--step needs a positive integer, got \"-1\""),
            (&["--session", "two", PLAN], "--session needs a positive integer, got \"two\""),
            (&["--resume", "--dry-run", PLAN], "--resume and --dry-run exclude each other"),
            (&["--max-sessions", "0", PLAN], "--max-sessions needs a positive integer"),
            (&["--max-budget-usd", "much", PLAN], "--max-budget-usd needs an amount in US dollars"),
            (&["--launcher", "{branch}", PLAN], "--launcher: it has to begin with a program"),
            (&["--again", PLAN], "--again"),
            (&["--k", "2", PLAN], "are for other plans"),
            (&["--fg", "--", PLAN], "not in both"),
            (&["--", "--fg --max-sessions none docs/plan.md"], "--max-sessions needs a positive integer"),
        ] {
            let said = s.person(&[&["run", "open", "--for", "local"], options].concat())?;
            said.refuses(2, message, "").with_context(|| format!("{options:?}"))?;
        }
        for purpose in ["plan", "exec"] {
            let said = s.person(&["run", "open", "--for", purpose, "--fg", PLAN])?;
            said.refuses(2, "those options are for plans in steps", "--for local")?;
        }
        Ok(())
    })];
    play(cases).unwrap();
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn without_a_plan_it_tells_how_it_is_used() {
    let cases: &[Case] = &[("nothing, or options alone", five(), |s| {
        for options in [&[][..], &["--fg"], &["--", ""], &["--", "--yolo"]] {
            let before = s.all()?;
            let said = s.person(&[&["run", "open", "--for", "local"], options].concat())?.ends(2)?;
            ensure!(said.err.starts_with(USAGE) && said.err.contains("\n  --max-sessions N "), "{}", said.err);
            ensure!(said.err.lines().all(|line| line.chars().count() <= 80), "{}", said.err);
            before.is_still(&s.all()?, &[])?;
        }
        // A model that calls the command by itself is told which line to run.
        let session = s.session()?;
        let said = s.model(&session, &["run", "open", "--for", "local", "--args-from-hook"])?.ends(0)?;
        ensure!(said.out.starts_with("DO\n  No arguments were typed"), "{}", said.out);
        Ok(())
    })];
    play(cases).unwrap();
}

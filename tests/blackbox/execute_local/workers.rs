//! Plans with parallel workers: what their clients are started with, who pays, and that one repository has
//! one such run.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{PLAN, Said, Session};
use omo_tests::ultraplan_project::{Steps, play, two_parallel_sessions};

/// What the ledger of the run says as data.
fn ledger(steps: &Steps) -> Result<String> {
    Ok(fs::read_to_string(
        steps.runs().join(steps.run()?).join("events.jsonl"),
    )?)
}

#[test]
fn a_parallel_run_knows_where_it_begins_and_how_its_clients_are_started() {
    play(&[("with every option", two_parallel_sessions(), |s| {
        let mut remote = s.lab().command("git");
        Said::of(&remote.args(["remote", "add", "origin", "."]).output()?).exits_with(0)?;
        let said = s.begin(
            "--max-sessions 2 --max-budget-usd 2.50 --time-limit 90 --model opus --allow 'Bash(npm test:*)' --yolo \
             --launcher 'ssh host {branch}' docs/plan.md",
        )?;
        ensure!(
            said.out
                .contains("Strategy: 2 sessions (2 parallel, 0 sequential)\n"),
            "{}",
            said.out
        );
        ensure!(
            said.out
                .contains(": 2 steps, 2 workers, each in a worktree and on a branch of its own.\n")
        );
        let mut head = s.lab().command("git");
        let head = Said::of(&head.args(["rev-parse", "HEAD"]).output()?)
            .exits_with(0)?
            .out;
        let ledger = ledger(s)?;
        let parallel = ledger
            .lines()
            .find(|line| line.contains("\"parallel_started\""))
            .context("not parallel")?;
        for part in [
            format!("\"base\":\"{}\"", head.trim()),
            "\"branch\":\"refs/heads/main\"".to_owned(),
            "\"max_workers\":2".to_owned(),
            "\"budget_micros\":2500000".to_owned(),
            "\"time_limit_seconds\":90".to_owned(),
            "\"model\":\"opus\"".to_owned(),
            "\"allow\":[\"Bash(npm test:*)\"]".to_owned(),
            "\"skips_permissions\":true".to_owned(),
            "\"launcher\":\"ssh host {branch}\"".to_owned(),
        ] {
            ensure!(parallel.contains(&part), "no {part}: {parallel}");
        }
        ensure!(!parallel.contains("payer"), "{parallel}");
        let said = s.ask("--max-sessions 3 docs/plan.md")?.exits_with(0)?;
        ensure!(
            said.out
                .contains("note: the run keeps the options for clients that it was opened with\n")
        );
        Ok(())
    })]);
}

#[test]
fn the_command_that_makes_a_work_tree_ready_is_approved_with_the_others() {
    play(
        &[("of the project's omo.toml", two_parallel_sessions(), |s| {
            s.lab().write("omo.toml", "setup = \"touch ready\"\n")?;
            let mut session = s.session()?;
            let said = s.type_in(&mut session, PLAN)?.refuses(
                7,
                "omo runs these 3 commands",
                "--approve ",
            )?;
            ensure!(
                said.err.contains("\n  setup  touch ready\n"),
                "{}",
                said.err
            );
            s.begin_in(&mut session, PLAN)?;
            ensure!(ledger(s)?.contains("\"setup\":\"touch ready\""));
            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            // Another one is approved anew, and where no worktree is made there is none.
            s.lab().write("omo.toml", "setup = \"touch other\"\n")?;
            s.type_in(&mut session, PLAN)?
                .refuses(7, "omo runs these 3 commands", "--approve ")?;
            let said = s
                .type_in(&mut session, "--fg docs/plan.md")?
                .exits_with(0)?;
            ensure!(!said.out.contains("setup"), "{}", said.out);
            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            s.lab().write("omo.toml", "setup = 3\n")?;
            s.type_in(&mut session, PLAN)?
                .refuses(5, "omo.toml:1: `setup` must be a command", "")
                .map(drop)
        })],
    );
}

/// The program as the model of an unattended session runs it, with a key that would pay.
fn unattended(steps: &Steps, session: &Session, options: &[&str]) -> Result<Said> {
    let mut command = steps.command_in(session, &[&["run", "start"], options].concat());
    command
        .env("ANTHROPIC_API_KEY", "sk-x")
        .env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    Ok(Said::of(&command.output()?))
}

#[test]
fn a_bill_needs_a_question_before_it() {
    play(&[
        ("with no person to ask", two_parallel_sessions(), |s| {
            let session = s.session()?;
            let before = s.file_tree()?;
            let said = unattended(s, &session, &["--parallel", PLAN])?;
            said.refuses(
                8,
                "ANTHROPIC_API_KEY is set: the workers are billed to it",
                "--accept-api-billing",
            )?;
            before.require_unchanged(&s.file_tree()?, &[])?;
            // Once its commands are approved, a caller that accepts it on the command line is not asked.
            s.begin(PLAN)?;
            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            let said = unattended(s, &session, &["--parallel", "--accept-api-billing", PLAN])?
                .exits_with(0)?;
            ensure!(
                said.out
                    .contains("note: ANTHROPIC_API_KEY is set: the workers are billed to it"),
                "{}",
                said.out
            );
            ensure!(!ledger(s)?.contains("\"payer\""));
            // Going on with it starts clients as well.
            let said = unattended(s, &session, &["--parallel", "--resume", PLAN])?;
            said.refuses(8, "ANTHROPIC_API_KEY is set", "--accept-api-billing")?;
            unattended(
                s,
                &session,
                &["--parallel", "--resume", "--accept-api-billing", PLAN],
            )?
            .exits_with(0)?;
            Ok(())
        }),
        (
            "a key that only the caller that goes on has",
            two_parallel_sessions(),
            |s| {
                let with_key = |arguments: &[&str]| -> Result<Said> {
                    Ok(Said::of(
                        &s.command(arguments)
                            .env("ANTHROPIC_API_KEY", "sk-x")
                            .output()?,
                    ))
                };
                s.begin(PLAN)?;
                for arguments in [
                    &["agent", "next"][..],
                    &["agent", "workers", "start"],
                    &["run", "watch"],
                ] {
                    with_key(arguments)?.refuses(
                        8,
                        "ANTHROPIC_API_KEY is set",
                        "--resume --accept-api-billing docs/plan.md",
                    )?;
                }
                with_key(&[
                    "run",
                    "start",
                    "--parallel",
                    "--resume",
                    "--accept-api-billing",
                    PLAN,
                ])?
                .exits_with(0)?;
                with_key(&["agent", "workers", "start"])?
                    .refuses(5, "no `claude` is on the PATH", "")
                    .map(drop)
            },
        ),
        (
            "one session starts no client",
            two_parallel_sessions(),
            |s| {
                s.begin("--fg docs/plan.md")?;
                s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                let said = unattended(s, &s.session()?, &["--fg", PLAN])?.exits_with(0)?;
                ensure!(!said.out.contains("ANTHROPIC_API_KEY"), "{}", said.out);
                Ok(())
            },
        ),
        (
            "a person is asked, and takes the other way",
            two_parallel_sessions(),
            |s| {
                let with_key = |arguments: &[&str]| -> Result<Said> {
                    Ok(Said::of(
                        &s.command(arguments)
                            .env("ANTHROPIC_API_KEY", "sk-x")
                            .output()?,
                    ))
                };
                s.begin(PLAN)?;
                s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                with_key(&["run", "start", "--parallel", PLAN])?.exits_with(0)?;
                let said = with_key(&["agent", "next"])?.exits_with(7)?;
                ensure!(
                    said.out.starts_with("STOP\n")
                        && said
                            .out
                            .contains("foreground: Use --fg instead (Recommended)"),
                    "{}",
                    said.out
                );
                ensure!(
                said.out.contains(
                    "`/omo:answer 1` for the first: foreground, continue, stop; then, to go on: /omo:execute\n"
                ),
                "{}",
                said.out
            );
                // To ask for the run once more is no answer.
                with_key(&["run", "start", "--parallel", "--resume", PLAN])?.exits_with(0)?;
                with_key(&["agent", "next"])?.exits_with(7)?;
                with_key(&["answer", "q1", "foreground"])?.exits_with(0)?;
                s.is_next(1)
            },
        ),
        (
            "a person accepts it afterwards",
            two_parallel_sessions(),
            |s| {
                let with_key = |arguments: &[&str]| -> Result<Said> {
                    Ok(Said::of(
                        &s.command(arguments)
                            .env("ANTHROPIC_API_KEY", "sk-x")
                            .output()?,
                    ))
                };
                s.begin(PLAN)?;
                s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                with_key(&["run", "start", "--parallel", PLAN])?.exits_with(0)?;
                with_key(&["run", "start", "--parallel", "--accept-api-billing", PLAN])?
                    .exits_with(0)?;
                ensure!(ledger(s)?.contains("\"question_answered\""));
                Ok(())
            },
        ),
    ]);
}

#[test]
fn one_repository_has_one_run_with_sessions_of_its_own() {
    play(&[("in another worktree", two_parallel_sessions(), |s| {
        s.begin(PLAN)?;
        let run = s.run()?;
        let other = s.lab().root().join("other");
        s.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            "other",
            other.to_str().context("no text")?,
        ])?;
        let there = |arguments: &[&str]| -> Result<Said> {
            let mut command: Command = s.command(&[&["run", "start"], arguments].concat());
            Ok(Said::of(&command.current_dir(&other).output()?))
        };
        let before = s.file_tree()?;
        let message =
            format!("the run {run} of docs/plan.md has parallel workers in this repository");
        there(&["--parallel", PLAN])?.refuses(
            6,
            &message,
            &format!("omo run cancel --run {run}"),
        )?;
        before.require_unchanged(&s.file_tree()?, &[])?;
        // A run in one session does not disturb it.
        there(&["--fg", PLAN])?.refuses(7, "there is no terminal to ask on", "--digest")?;
        s.omo_at_terminal(&["run", "skip", "1", "--why", "not now"])?
            .exits_with(0)?;
        s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
        let said = there(&["--parallel", PLAN])?.refuses(
            7,
            "there is no terminal to ask on",
            "--digest",
        )?;
        let digest = said
            .err
            .split("their digest is ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next());
        there(&["--parallel", "--digest", digest.context("no digest")?, PLAN])?.exits_with(0)?;
        // A step that is done again has the run of its session go on, too.
        s.omo_at_terminal(&["run", "retry", "1", "--run", &run])?
            .refuses(6, "has parallel workers in this repository", "")?;
        s.omo_at_terminal(&["run", "resume", "--run", &run])?
            .refuses(6, "has parallel workers in this repository", "")
            .map(drop)
    })]);
}

//! `omo doctor --launcher NAME`: starts a trivial worker there, and names the step that fails.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use omo_core::text::{format_clock, sanitize};
use omo_engine::client_policy::ClientPolicy;
use omo_git::repository::GitRepository;
use omo_process::termination;
use omo_remote::trial::{LauncherTrial, TrialFailure, TrialPlace, TrialStep};
use omo_state::config::launcher_toml::is_launcher_name;
use omo_state::env::{self, ProcessEnv};
use omo_state::git_worktree::GitWorktree;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::preflight;
use crate::exit_kind::ExitKind;
use crate::output;

const LINE_CHARS: usize = 400;

#[derive(Serialize)]
struct TrialReport {
    ok: bool,
    launcher: String,
    steps: Vec<ReportedStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<ReportedFailure>,
}

#[derive(Serialize)]
struct ReportedStep {
    seconds: u64,
    #[serde(rename = "where")]
    place: &'static str,
    what: String,
}

#[derive(Serialize)]
struct ReportedFailure {
    #[serde(rename = "where")]
    place: &'static str,
    why: String,
    fix: &'static str,
    log: Vec<String>,
}

pub(super) fn run(
    process_env: &ProcessEnv,
    name: &str,
    remote: Option<&str>,
    is_json: bool,
) -> Result<(), CommandError> {
    if !is_launcher_name(name) {
        let message = format!("there is no launcher `{}`", sanitize(name, 60));
        return Err(CommandError::usage(
            message,
            "`local`, `ssh` or `slurm` for example, or one of your config.toml",
        ));
    }
    let context = CommandContext::find(process_env)?;
    let policy = ClientPolicy {
        launcher: Some(name.to_owned()),
        launcher_remote: remote.map(str::to_owned),
        ..ClientPolicy::default()
    };
    let profile = preflight::launcher_profile(&context, &policy)?.unwrap_or_default();
    let policy = ClientPolicy {
        profile: Some(profile.clone()),
        ..policy
    };
    let tree = GitWorktree::find(&context.root);
    let (Some(repository), Some(tree)) = (GitRepository::find(&context.root), tree) else {
        return Err(CommandError::precondition(
            "this is not a git repository",
            "workers get their work by git: `git init`",
        ));
    };
    preflight::require_remote(&context, &policy)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    termination::flag_termination(&interrupted);
    let variables = env::variables();
    let trial = LauncherTrial {
        root: &context.root,
        repository: &repository,
        log_folder: &tree.common,
        profile: &profile,
        remote_name: policy.remote_name(),
        variables: &variables,
        now: env::now,
    };
    let since = Instant::now();
    let mut steps = Vec::new();
    let mut tell = |step: TrialStep| {
        let step = ReportedStep {
            seconds: since.elapsed().as_secs(),
            place: step.place.name(),
            what: sanitize(&step.what, LINE_CHARS),
        };
        if !is_json {
            // The reader may be gone; the worker is ended all the same.
            let _ = write_step(&mut anstream::stdout().lock(), &step);
        }
        steps.push(step);
    };
    let failure = trial
        .run(&mut || !interrupted.load(Ordering::Relaxed), &mut tell)
        .err()
        .map(report_failure);
    let report = TrialReport {
        ok: failure.is_none(),
        launcher: name.to_owned(),
        steps,
        failure,
    };
    if is_json {
        output::print_json(&report)?;
    } else {
        write_end(
            &mut anstream::stdout().lock(),
            &report,
            since.elapsed().as_secs(),
        )?;
    }
    if report.ok {
        Ok(())
    } else {
        Err(CommandError::already_printed(ExitKind::NotGreen))
    }
}

fn report_failure(failure: TrialFailure) -> ReportedFailure {
    let fix = match failure.place {
        TrialPlace::Here | TrialPlace::Note => "fix that on this machine, and try again",
        TrialPlace::Remote => {
            "`git push` a branch to it yourself to see why; --launcher-remote names another"
        }
        TrialPlace::Engine => {
            "run the launcher's command yourself; [launcher.NAME] of config.toml changes it"
        }
        TrialPlace::Queue => {
            "see whether the scheduler has room; `options` of the launcher asks for another place"
        }
        TrialPlace::Worker => {
            "run `omo worker --help`, `git ls-remote` and `claude --version` on the machine of the worker"
        }
        TrialPlace::Client => {
            "run `claude -p hello` on the machine of the worker: it has to be logged in there"
        }
    };
    ReportedFailure {
        place: failure.place.name(),
        why: sanitize(&failure.why, LINE_CHARS),
        fix,
        log: failure.log,
    }
}

fn write_step(out: &mut impl Write, step: &ReportedStep) -> std::io::Result<()> {
    let style = if step.place == "note" {
        colour(AnsiColor::Yellow)
    } else {
        Style::new()
    };
    let clock = format_clock(i64::try_from(step.seconds).unwrap_or_default() * 1_000);
    writeln!(
        out,
        "{clock:>6}  {style}{:<6}{style:#}  {}",
        step.place, step.what
    )
}

fn write_end(out: &mut impl Write, report: &TrialReport, seconds: u64) -> std::io::Result<()> {
    let Some(failure) = &report.failure else {
        let good = colour(AnsiColor::Green);
        return writeln!(
            out,
            "\n{good}good{good:#}  the launcher {} works: {seconds} s from end to end",
            report.launcher
        );
    };
    let bad = colour(AnsiColor::Red);
    writeln!(
        out,
        "\n{bad}bad{bad:#}   the launcher {} failed: {}: {}",
        report.launcher, failure.place, failure.why
    )?;
    writeln!(out, "fix:  {}", failure.fix)?;
    if !failure.log.is_empty() {
        writeln!(out, "\nThe worker said at last:")?;
    }
    failure
        .log
        .iter()
        .try_for_each(|line| writeln!(out, "  {line}"))
}

fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into())).bold()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_where_why_and_what_to_do() {
        let failure = TrialFailure {
            place: TrialPlace::Worker,
            why: "it could not begin: no `claude` is on PATH".to_owned(),
            log: vec!["ended with status 5".to_owned()],
        };
        let report = TrialReport {
            ok: false,
            launcher: "ssh".to_owned(),
            steps: Vec::new(),
            failure: Some(report_failure(failure)),
        };
        let mut out = Vec::new();
        write_end(&mut out, &report, 7).unwrap();
        let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
        let first = "\nbad   the launcher ssh failed: worker: it could not begin: no `claude` is on PATH\nfix:  run ";
        assert!(
            text.starts_with(first) && text.ends_with("\n  ended with status 5\n"),
            "{text}"
        );
        let json = serde_json::to_string(&report).unwrap();
        assert!(
            json.contains(r#""ok":false"#) && json.contains(r#""where":"worker""#),
            "{json}"
        );
    }
}

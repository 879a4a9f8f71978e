//! What is asked for: from the options of `omo run open`, or from a line as it is typed behind `/omo:execute-local`.

use std::fmt::Write;

use omo_core::words::usage::LOCAL_OPTIONS;
use omo_plan::ultra_run::arguments::{ArgumentError, Arguments, Given, Mode, Part, parse, positive, usage};
use omo_plan::ultra_run::own::{Own, quoted, take_out};
use omo_runs::ultra::COMMAND;

use crate::failure::{Failure, Kind};
use crate::run::arguments::{BATCH_SIZE, ClientOptions, ExecOptions, GivenOptions, HUB_K, LocalOptions, OpenOptions};

/// What to execute, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Which plan, how much of it, and in which way.
    pub arguments: Arguments,
    /// What the clients of sessions are started with.
    pub own: Own,
    /// The digest of the commands that its user has read.
    pub digest: Option<String>,
}

impl Wanted {
    /// From the options of a command line.
    pub(crate) fn of(options: &OpenOptions) -> Result<Self, Failure> {
        let ExecOptions { session, max_iterations: None, max_workers: None, skip_verify: false } = &options.exec else {
            return Err(not_for_it());
        };
        if options.again || options.k != HUB_K || options.batch_size != BATCH_SIZE {
            return Err(not_for_it());
        }
        let digest = options.digest.clone();
        if let Some(line) = &options.rest {
            if *options.local != LocalOptions::default() || session.is_some() {
                let hint = "write all of them before `--`, and the plan without it";
                return Err(Failure::user("options stand before `--` or in the line behind it, not in both", hint));
            }
            return Ok(Self { digest, ..Self::read(line)? });
        }
        let GivenOptions { fg, resume, dry_run, step } = &options.local.given;
        let number = |name, value: &Option<String>| value.as_deref().map(|value| positive(name, value)).transpose();
        let given = Given {
            is_foreground: *fg,
            is_resume: *resume,
            is_dry_run: *dry_run,
            step: number("--step", step).map_err(refused)?,
            session: number("--session", session).map_err(refused)?,
        };
        let own = own(&options.local.clients).map_err(refused)?;
        let path = options.plan.clone().ok_or_else(nothing_named)?;
        Ok(Self { arguments: given.arguments(path).map_err(refused)?, own, digest })
    }

    /// From a line as it is typed behind the command.
    pub(crate) fn read(line: &str) -> Result<Self, Failure> {
        let (own, rest) = take_out(line).map_err(refused)?;
        let arguments = parse(COMMAND, &rest);
        if arguments.as_ref().is_err_and(|error| error.message == usage(COMMAND)) {
            return Err(nothing_named());
        }
        Ok(Self { arguments: arguments.map_err(refused)?, own, digest: None })
    }

    /// The whole command, as it is typed once more.
    pub(crate) fn typed(&self) -> String {
        let Arguments { mode, part, is_foreground, path } = &self.arguments;
        let mut text = COMMAND.to_owned();
        for (option, is_set) in
            [("--fg", *is_foreground), ("--resume", *mode == Mode::Resume), ("--dry-run", *mode == Mode::DryRun)]
        {
            if is_set {
                let _ = write!(text, " {option}");
            }
        }
        let _ = match part {
            Part::Whole => Ok(()),
            Part::Step(number) => write!(text, " --step {number}"),
            Part::Session(number) => write!(text, " --session {number}"),
        };
        format!("{text}{} {}", self.own.typed(), quoted(path))
    }
}

fn own(options: &ClientOptions) -> Result<Own, ArgumentError> {
    let mut own = Own::default();
    let ClientOptions { max_sessions, max_budget_usd, model, time_limit, launcher, launcher_remote, .. } = options;
    let with_value = [
        ("--max-sessions", max_sessions),
        ("--max-budget-usd", max_budget_usd),
        ("--model", model),
        ("--time-limit", time_limit),
        ("--launcher", launcher),
        ("--launcher-remote", launcher_remote),
    ];
    let with_value = with_value.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let rules = options.allow.iter().map(|rule| ("--allow", rule.as_str()));
    let alone = [("--accept-api-billing", options.accept_api_billing), ("--yolo", options.yolo)];
    let alone = alone.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, ""));
    for (name, value) in with_value.chain(rules).chain(alone) {
        own.take(name, value)?;
    }
    Ok(own)
}

fn not_for_it() -> Failure {
    Failure::user(
        "--k, --batch-size, --again, --max-iterations, --max-workers and --skip-verify are for other plans",
        "`omo run open --for local` alone shows the options of this one",
    )
}

/// No plan is named: how the command is used is all there is to say.
fn nothing_named() -> Failure {
    crate::say(&format_args!("{}\n{LOCAL_OPTIONS}", usage(COMMAND)));
    Failure::said(Kind::User)
}

/// What was typed cannot be done.
pub(super) fn refused(error: ArgumentError) -> Failure {
    let ArgumentError { message, hint, is_missing } = error;
    if is_missing { Failure::not_found(message, hint) } else { Failure::user(message, hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_typed_again_with_the_same_meaning() {
        for line in [
            "plan.md",
            "--fg 'my plan.md'",
            "--resume plan.md",
            "--fg --step 3 plan.md",
            "--dry-run --session 2 it's.md",
            "--max-sessions 2 --allow 'Bash(npm test:*)' --accept-api-billing plan.md",
        ] {
            let wanted = Wanted::read(line).unwrap();
            assert_eq!(wanted.typed(), format!("{COMMAND} {line}"));
        }
        let approved = Wanted::read("plan.md --approve 0123456789ab --yolo").unwrap();
        assert_eq!(approved.typed(), format!("{COMMAND} --yolo plan.md"));
    }

    #[test]
    fn without_a_plan_the_usage_is_all_that_is_said() {
        for line in ["", "  ", "--fg", "--step 3", "--yolo", "--approve 0123456789ab"] {
            let failure = Wanted::read(line).unwrap_err();
            assert!(failure.kind == Kind::User && failure.is_said(), "{line}");
        }
    }
}

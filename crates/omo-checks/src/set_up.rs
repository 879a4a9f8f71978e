//! Set-up of a new worktree: runs `setup` of `omo.toml`, such as `npm ci`, which the user approved.

use std::path::{Path, PathBuf};

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use omo_process::environment::CheckEnvironment;

use crate::task_check::{self, CheckLog};

pub const LIMIT_SECONDS: u32 = 600;

/// Reason for a worktree whose set-up did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    #[error("{}", describe_failure(command, outcome, log))]
    Failed {
        command: String,
        outcome: Box<TaskCheckOutcome>,
        log: PathBuf,
    },
    #[error("the set-up was ended before it was done")]
    Cancelled,
}

/// Runs `command` in `worktree` like a check, until it ends, runs out of time or `goes_on` is
/// `false`.
pub fn set_up_worktree(
    command: &str,
    worktree: &Path,
    environment: &CheckEnvironment,
    log: CheckLog,
    goes_on: impl FnMut() -> bool,
) -> Result<(), SetUpError> {
    let path = log.path.clone();
    let check = TaskCheck {
        timeout_seconds: LIMIT_SECONDS,
        ..TaskCheck::new(command)
    };
    let outcome = task_check::run(&check, worktree, environment, Some(log), goes_on)
        .ok_or(SetUpError::Cancelled)?;
    match outcome.verdict {
        // A set-up need not run tests.
        TaskCheckVerdict::Green | TaskCheckVerdict::NothingRan => Ok(()),
        _ => Err(SetUpError::Failed {
            command: command.to_owned(),
            outcome: Box::new(outcome),
            log: path,
        }),
    }
}

fn describe_failure(command: &str, outcome: &TaskCheckOutcome, log: &Path) -> String {
    let output = outcome
        .printed
        .reason()
        .map(|line| format!("; it said: {}", sanitize(line, 200)))
        .unwrap_or_default();
    let could_run = !matches!(outcome.verdict, TaskCheckVerdict::Environment { .. });
    format!(
        "the set-up command {} {}: {}{output}; its output is in {}",
        paste_form(command, 1_000),
        if could_run {
            "failed"
        } else {
            "could not be run"
        },
        sanitize(outcome.describe(), 200),
        log.display()
    )
}

//! Checks of a plan: a command, its expectation, and the verdict on its end.
//!
//! A `Check` judges a claim. A `TaskCheck` judges one task, and may be meant to fail, as tests do
//! that are written before their subject.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::check::session_check::{
    CheckEnd, CheckVerdict, DEFAULT_TIMEOUT_SECONDS, TestCounts, is_below,
    judge_check as judge_gate,
};
use crate::text::sanitize;

use crate::check::printed_output::{PrintedOutput, QUOTED_LINES};

pub use crate::check::output_listener::{HeardOutput, OutputListener};
pub use crate::check::shell_complaint::{ShellComplaint, has_pipe, is_shell_variable};

pub(crate) const MAX_TIMEOUT_SECONDS: u32 = 86_400;
const NO_TESTS: i32 = 5;
/// Added by a shell to the signal that ended a command.
const SIGNALLED: i32 = 128;
const LAST_SIGNAL: i32 = 31;
/// `SIGPIPE`: a program writes to a pipe without a reader.
const BROKEN_PIPE: i32 = 13;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheck {
    pub command: String,
    #[serde(default)]
    pub expect: ExpectedResult,
    #[serde(default = "default_timeout_seconds")]
    pub timeout_seconds: u32,
    /// From the project's top; `None` for the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

fn default_timeout_seconds() -> u32 {
    DEFAULT_TIMEOUT_SECONDS
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedResult {
    #[serde(default)]
    pub exit: ExpectedExit,
    /// Text expected in stdout or stderr, without colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_has: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExpectedExit {
    #[default]
    Zero,
    /// A failure, as of tests that are written before the code.
    NonZero,
    Exactly(i32),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskCheckVerdict {
    /// The expected end and output, and something was run.
    Green,
    Red,
    TimedOut,
    Environment {
        command: Option<String>,
    },
    NothingRan,
}

impl TaskCheckVerdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red => "red",
            Self::TimedOut => "timed out",
            Self::Environment { .. } => "could not be run",
            Self::NothingRan => "ran no test",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheckOutcome {
    pub verdict: TaskCheckVerdict,
    /// The reason on one line; may quote the output, so it is not safe for a terminal as it is.
    pub detail: String,
    #[serde(default)]
    pub exit: Option<i32>,
    /// Milliseconds.
    pub took_millis: u64,
    #[serde(flatten)]
    pub printed: PrintedOutput,
    #[serde(default)]
    pub log: Option<PathBuf>,
    #[serde(default)]
    pub counts: Option<TestCounts>,
    /// `true` for a pipe in a shell that reports only the status of the last command.
    #[serde(default)]
    pub has_pipe_without_pipefail: bool,
    /// Digest of the check, its folder and its environment.
    #[serde(default)]
    pub setting: String,
}

impl TaskCheckOutcome {
    pub fn is_green(&self) -> bool {
        self.verdict == TaskCheckVerdict::Green
    }

    /// The detail without a missing count of tests: most commands of a plan are no test runners.
    pub fn describe(&self) -> &str {
        self.detail
            .strip_suffix(", no count of tests")
            .unwrap_or(&self.detail)
    }

    pub fn quoted_output(&self) -> Vec<String> {
        let mut lines = self.printed.excerpt(QUOTED_LINES);
        if let (false, Some(log)) = (lines.is_empty(), &self.log) {
            lines.push(format!(
                "(all of it: {})",
                sanitize(&log.display().to_string(), 400)
            ));
        }
        lines
    }
}

impl TaskCheck {
    pub fn new(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            expect: ExpectedResult::default(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            cwd: None,
        }
    }

    pub fn invalid_reason(&self) -> Option<String> {
        if self.command.trim().is_empty() {
            return Some("the check has no command".to_owned());
        }
        if self.command.contains('\0') {
            return Some("the check's command holds a NUL".to_owned());
        }
        let folder = self.cwd.as_ref().filter(|folder| !is_below(folder))?;
        Some(format!(
            "`{}` is not a folder below the project's top",
            sanitize(folder, 60)
        ))
    }

    pub fn effective_timeout(&self) -> u32 {
        self.timeout_seconds.clamp(1, MAX_TIMEOUT_SECONDS)
    }

    /// Bytes that are equal for two checks that run the same, whatever they expect.
    pub fn definition(&self) -> Vec<u8> {
        let parts = [
            self.command.as_str(),
            self.cwd.as_deref().unwrap_or_default(),
        ];
        // A length before each part keeps two definitions apart.
        parts
            .iter()
            .flat_map(|part| [part.len().to_string().as_bytes(), b":", part.as_bytes()].concat())
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedResult {
    pub end: CheckEnd,
    pub counts: Option<TestCounts>,
    pub heard: HeardOutput,
    /// The command has a pipe, and its shell reports a failure before it.
    pub pipefail_matters: bool,
}

/// Verdict on an ended check of a task, and its reason on one line.
pub fn judge_task_check(
    expect: &ExpectedResult,
    seen: &ObservedResult,
) -> (TaskCheckVerdict, String) {
    let status = match &seen.end {
        CheckEnd::NotStarted(why) => {
            return (TaskCheckVerdict::Environment { command: None }, why.clone());
        }
        CheckEnd::TimedOut(seconds) => {
            return (
                TaskCheckVerdict::TimedOut,
                format!("ended after {seconds} s"),
            );
        }
        CheckEnd::Killed(signal) => {
            return (TaskCheckVerdict::Red, format!("ended by signal {signal}"));
        }
        CheckEnd::Exited(status) => *status,
    };
    let ended = match expect.exit {
        ExpectedExit::Exactly(expected) if expected != 0 && status == expected => {
            Ok(format!("exit status {status}, as expected"))
        }
        _ if is_environment(expect.exit, status, seen) => Err(judge_not_found(status, seen)),
        ExpectedExit::Zero | ExpectedExit::Exactly(0) => judge_success(status, seen),
        ExpectedExit::NonZero => judge_failure(status, seen),
        ExpectedExit::Exactly(expected) => Err((
            TaskCheckVerdict::Red,
            format!("exit status {status}, expected {expected}"),
        )),
    };
    match (ended, &expect.stdout_has) {
        (Ok(words), Some(text)) if !seen.heard.has_text => (
            TaskCheckVerdict::Red,
            format!(
                "{words}, but its output does not have `{}`",
                sanitize(text, 80)
            ),
        ),
        (Ok(words), _) => (TaskCheckVerdict::Green, words),
        (Err(red), _) => red,
    }
}

type JudgedEnd = Result<String, (TaskCheckVerdict, String)>;

/// `true` where the end says nothing about the work: only the shell's own complaint counts, since
/// any program may end with 126 and 127. Where a failure is expected, a missing command is one of
/// the work.
fn is_environment(exit: ExpectedExit, status: i32, seen: &ObservedResult) -> bool {
    match &seen.heard.complaint {
        Some(ShellComplaint::NotRun(_)) => matches!(status, 126 | 127),
        Some(ShellComplaint::NotFound(_)) => {
            matches!(status, 126 | 127) || (exit == ExpectedExit::NonZero && status != 0)
        }
        Some(ShellComplaint::Syntax) | None => false,
    }
}

fn judge_not_found(status: i32, seen: &ObservedResult) -> (TaskCheckVerdict, String) {
    let command = match &seen.heard.complaint {
        Some(ShellComplaint::NotFound(command) | ShellComplaint::NotRun(command)) => {
            Some(sanitize(command, 80))
        }
        Some(ShellComplaint::Syntax) | None => None,
    };
    let name = command.as_deref().unwrap_or("a command");
    (
        TaskCheckVerdict::Environment {
            command: command.clone(),
        },
        format!("exit status {status}: `{name}` could not be run"),
    )
}

fn judge_success(status: i32, seen: &ObservedResult) -> JudgedEnd {
    let (verdict, words) = judge_gate(&CheckEnd::Exited(status), seen.counts);
    match verdict {
        CheckVerdict::Green => Ok(words),
        CheckVerdict::NothingRan => Err((TaskCheckVerdict::NothingRan, words)),
        _ if seen.heard.complaint == Some(ShellComplaint::Syntax) => Err((
            TaskCheckVerdict::Red,
            format!("{words}: the shell cannot read the command"),
        )),
        _ if seen.pipefail_matters && status == SIGNALLED + BROKEN_PIPE => Err((
            TaskCheckVerdict::Red,
            format!(
                "{words}: what stands before a pipe was ended because what follows did not read all of it"
            ),
        )),
        _ => Err((TaskCheckVerdict::Red, words)),
    }
}

/// A failure proves that tests exist and fail, unless it has another cause.
fn judge_failure(status: i32, seen: &ObservedResult) -> JudgedEnd {
    let has_none = seen
        .counts
        .is_some_and(|counts| counts.run == 0 && counts.failed == 0);
    match status {
        0 => red("exit status 0: the tests pass before the implementation".to_owned()),
        NO_TESTS if has_none => Err((
            TaskCheckVerdict::NothingRan,
            format!("exit status {status}, but no test was run"),
        )),
        _ if seen.heard.complaint == Some(ShellComplaint::Syntax) => red(format!(
            "exit status {status}: the shell cannot read the command"
        )),
        126 | 127 => red(format!(
            "exit status {status}, which means that something could not be run"
        )),
        status if (SIGNALLED + 1..=SIGNALLED + LAST_SIGNAL).contains(&status) => red(format!(
            "exit status {status}: ended by signal {}",
            status - SIGNALLED
        )),
        status => Ok(format!(
            "exit status {status}, as expected before the implementation"
        )),
    }
}

fn red(words: String) -> JudgedEnd {
    Err((TaskCheckVerdict::Red, words))
}

#[cfg(test)]
mod tests;

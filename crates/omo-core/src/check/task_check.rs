//! Checks of a plan: a command, what is expected of it, and what its end is worth.
//!
//! A check judges a claim, and is green when its command says so. A check judges one unit of a plan,
//! and may be meant to fail: tests that are written before what they test prove something only as
//! long as they fail. What comes of a check is plain data, which a ledger keeps.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::check::session_check::{
    CheckEnd, CheckVerdict, DEFAULT_TIMEOUT_SECONDS, TestCounts, is_below, judge_check as judge_gate,
};
use crate::text::sanitize;

use crate::check::printed_output::{PrintedOutput, QUOTED_LINES};

pub use crate::check::output_listener::{HeardOutput, OutputListener};
pub use crate::check::shell_complaint::{ShellComplaint, has_pipe, is_shell_variable};

/// How long one may run at most, in seconds: a day.
pub(crate) const MAX_TIMEOUT_SECONDS: u32 = 86_400;
/// What pytest and unittest end with where they found no test.
const NO_TESTS: i32 = 5;
/// A shell adds this to the signal that ended a command, and ends with the sum.
const SIGNALLED: i32 = 128;
/// The greatest of the signals that every system has.
const LAST_SIGNAL: i32 = 31;
/// The signal that ends a program which writes to a pipe without a reader.
const BROKEN_PIPE: i32 = 13;

/// A check of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheck {
    /// The command, for a POSIX shell. It may have several lines.
    pub command: String,
    /// What proves what it is for.
    #[serde(default)]
    pub expect: ExpectedResult,
    /// How long it may run, in seconds.
    #[serde(default = "default_timeout_seconds")]
    pub timeout_seconds: u32,
    /// The folder that it runs in, from the project's top; `None` for the top itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

fn default_timeout_seconds() -> u32 {
    DEFAULT_TIMEOUT_SECONDS
}

/// What proves what a check is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedResult {
    /// How it ends.
    #[serde(default)]
    pub exit: ExpectedExit,
    /// What stands somewhere in its output, stdout or stderr, colours taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_has: Option<String>,
}

/// How a check is to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExpectedExit {
    /// With status 0.
    #[default]
    Zero,
    /// By a failure of what it checks: tests that are written before what they test.
    NonZero,
    /// With this status.
    Exactly(i32),
}

/// What the end of a check is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskCheckVerdict {
    /// It ended as expected, said what was expected, and what it ran was something.
    Green,
    /// It did not.
    Red,
    /// It did not end in time.
    TimedOut,
    /// It says nothing about the work: it, or what it runs, could not be started.
    Environment {
        /// The command that could not be, where the output names it.
        command: Option<String>,
    },
    /// It ended as expected and ran no test.
    NothingRan,
}

impl TaskCheckVerdict {
    /// The word for people.
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

/// What came of a check, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheckOutcome {
    /// What it was worth.
    pub verdict: TaskCheckVerdict,
    /// The verdict in a few words, on one line. May quote the output: for people, not for a terminal
    /// without more ado.
    pub detail: String,
    /// The exit status, where it ended by itself.
    #[serde(default)]
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub took_millis: u64,
    /// What is kept of its output.
    #[serde(flatten)]
    pub printed: PrintedOutput,
    /// Where its output is.
    #[serde(default)]
    pub log: Option<PathBuf>,
    /// What its tests counted, where they could be read.
    #[serde(default)]
    pub counts: Option<TestCounts>,
    /// It has a pipe, and there was no shell that tells a failure before it: only the status of what
    /// stands behind the pipe counted.
    #[serde(default)]
    pub has_pipe_without_pipefail: bool,
    /// The digest of the check, its folder and the environment that it ran in.
    #[serde(default)]
    pub setting: String,
}

impl TaskCheckOutcome {
    /// It proves what it is for.
    pub fn is_green(&self) -> bool {
        self.verdict == TaskCheckVerdict::Green
    }

    /// How it ended, in words. Most commands of a plan are no test runners: that no tests were counted says nothing
    /// about those, and is left out.
    pub fn describe(&self) -> &str {
        self.detail.strip_suffix(", no count of tests").unwrap_or(&self.detail)
    }

    /// What is quoted of its output, and where all of it is.
    pub fn quoted_output(&self) -> Vec<String> {
        let mut lines = self.printed.excerpt(QUOTED_LINES);
        if let (false, Some(log)) = (lines.is_empty(), &self.log) {
            lines.push(format!("(all of it: {})", sanitize(&log.display().to_string(), 400)));
        }
        lines
    }
}

impl TaskCheck {
    /// A check that is to end with status 0.
    pub fn new(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            expect: ExpectedResult::default(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            cwd: None,
        }
    }

    /// Why it cannot be run as it is, in words; `None` where it can.
    pub fn invalid_reason(&self) -> Option<String> {
        if self.command.trim().is_empty() {
            return Some("the check has no command".to_owned());
        }
        if self.command.contains('\0') {
            return Some("the check's command holds a NUL".to_owned());
        }
        let folder = self.cwd.as_ref().filter(|folder| !is_below(folder))?;
        Some(format!("`{}` is no folder below the project's top", sanitize(folder, 60)))
    }

    /// How long it may run, in seconds.
    pub fn effective_timeout(&self) -> u32 {
        self.timeout_seconds.clamp(1, MAX_TIMEOUT_SECONDS)
    }

    /// What the check runs and where, as bytes: two checks that run the same have the same, whatever
    /// is expected of them and however long they may take.
    pub fn definition(&self) -> Vec<u8> {
        let parts = [self.command.as_str(), self.cwd.as_deref().unwrap_or_default()];
        // Each part with its length before it: no two checks run into the same bytes.
        parts.iter().flat_map(|part| [part.len().to_string().as_bytes(), b":", part.as_bytes()].concat()).collect()
    }
}

/// What was seen of a check that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedResult {
    /// How it ended.
    pub end: CheckEnd,
    /// What its tests counted.
    pub counts: Option<TestCounts>,
    /// What was heard in its output.
    pub heard: HeardOutput,
    /// Its shell tells a failure before a pipe, and the command has one.
    pub pipefail_matters: bool,
}

/// What an end is worth: the verdict, and the words for it.
pub fn judge_task_check(expect: &ExpectedResult, seen: &ObservedResult) -> (TaskCheckVerdict, String) {
    let status = match &seen.end {
        CheckEnd::NotStarted(why) => return (TaskCheckVerdict::Environment { command: None }, why.clone()),
        CheckEnd::TimedOut(seconds) => return (TaskCheckVerdict::TimedOut, format!("ended after {seconds} s")),
        CheckEnd::Killed(signal) => return (TaskCheckVerdict::Red, format!("ended by signal {signal}")),
        CheckEnd::Exited(status) => *status,
    };
    let ended = match expect.exit {
        ExpectedExit::Exactly(expected) if expected != 0 && status == expected => {
            Ok(format!("exit status {status}, as expected"))
        }
        _ if is_environment(expect.exit, status, seen) => Err(judge_not_found(status, seen)),
        ExpectedExit::Zero | ExpectedExit::Exactly(0) => judge_success(status, seen),
        ExpectedExit::NonZero => judge_failure(status, seen),
        ExpectedExit::Exactly(expected) => {
            Err((TaskCheckVerdict::Red, format!("exit status {status}, expected {expected}")))
        }
    };
    match (ended, &expect.stdout_has) {
        (Ok(words), Some(text)) if !seen.heard.has_text => {
            (TaskCheckVerdict::Red, format!("{words}, but its output does not have `{}`", sanitize(text, 80)))
        }
        (Ok(words), _) => (TaskCheckVerdict::Green, words),
        (Err(red), _) => red,
    }
}

/// What is not green, in the shape of an end.
type JudgedEnd = Result<String, (TaskCheckVerdict, String)>;

/// Whether nothing can be said about the work. A shell ends with 126 and 127 where a command could not
/// be run; so may any program, and only what the shell itself says about it counts. Where a failure
/// is expected, a command that is missing anywhere is none.
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
        Some(ShellComplaint::NotFound(command) | ShellComplaint::NotRun(command)) => Some(sanitize(command, 80)),
        Some(ShellComplaint::Syntax) | None => None,
    };
    let name = command.as_deref().unwrap_or("a command");
    (
        TaskCheckVerdict::Environment { command: command.clone() },
        format!("exit status {status}: `{name}` could not be run"),
    )
}

/// As a check is judged, but for what it is held to from before.
fn judge_success(status: i32, seen: &ObservedResult) -> JudgedEnd {
    let (verdict, words) = judge_gate(&CheckEnd::Exited(status), seen.counts);
    match verdict {
        CheckVerdict::Green => Ok(words),
        CheckVerdict::NothingRan => Err((TaskCheckVerdict::NothingRan, words)),
        _ if seen.heard.complaint == Some(ShellComplaint::Syntax) => {
            Err((TaskCheckVerdict::Red, format!("{words}: the shell cannot read the command")))
        }
        _ if seen.pipefail_matters && status == SIGNALLED + BROKEN_PIPE => Err((
            TaskCheckVerdict::Red,
            format!("{words}: what stands before a pipe was ended because what follows did not read all of it"),
        )),
        _ => Err((TaskCheckVerdict::Red, words)),
    }
}

/// A failure proves that tests are there and fail, where it can be nothing else.
fn judge_failure(status: i32, seen: &ObservedResult) -> JudgedEnd {
    let red = |words: String| Err((TaskCheckVerdict::Red, words));
    let has_none = seen.counts.is_some_and(|counts| counts.run == 0 && counts.failed == 0);
    match status {
        0 => red("exit status 0: the tests pass before the implementation".to_owned()),
        NO_TESTS if has_none => {
            Err((TaskCheckVerdict::NothingRan, format!("exit status {status}, but no test was run")))
        }
        _ if seen.heard.complaint == Some(ShellComplaint::Syntax) => {
            red(format!("exit status {status}: the shell cannot read the command"))
        }
        126 | 127 => red(format!("exit status {status}, which says that something could not be run")),
        status if (SIGNALLED + 1..=SIGNALLED + LAST_SIGNAL).contains(&status) => {
            red(format!("exit status {status}: ended by signal {}", status - SIGNALLED))
        }
        status => Ok(format!("exit status {status}, as expected before the implementation")),
    }
}

#[cfg(test)]
mod tests;

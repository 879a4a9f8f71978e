//! Meaning of a check that is not green: tests that fail, an item that is missing, or nothing.
//!
//! A failure for any other reason - a command that could not be run, a time-out, a set-up that is
//! broken - shows nothing about the tested code. One rule for both callers: the comparison of two
//! sides, and tests that are written first.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use omo_core::check::session_check::{CheckEnd, CheckVerdict};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::check::test_report::TestOutcome;
use omo_core::check::test_runner::{LineSplitter, TestOutputReader};
use omo_core::text::sanitize;
use regex::Regex;

use crate::missing_item::{MissingItem, find_missing_items, find_other_missing_items};
use crate::side_outcome::SideOutcome;

/// At most so many lines of an output explain an answer.
pub(crate) const MAX_LINES: usize = 5;
const MAX_LINE_CHARS: usize = 160;
/// Exit statuses of a shell that could not run its command.
pub(crate) const NOT_RUN: [i32; 2] = [126, 127];
/// Exit statuses of a shell whose command was ended by a signal.
const SIGNALLED: std::ops::RangeInclusive<i32> = 129..=159;

/// Summary of failed tests, without those that could not be loaded.
static FAILED_TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b([1-9][0-9]*) failed\b|\bfailures=([1-9][0-9]*)|\bfail ([1-9][0-9]*)\b").ok()
});

pub(crate) struct Failure<'a> {
    /// Command of the check.
    pub run: &'a str,
    /// `SideOutcome` of the check.
    pub side: &'a SideOutcome,
    /// Words for the side.
    pub side_words: &'a str,
    /// The tests that fail.
    pub failing: &'a [&'a str],
    /// Words for absent tests, behind those that fail.
    pub absent_words: String,
    /// A test runner, which counts the tests that it gets to.
    pub is_runner: bool,
    /// A missing item counts in every language, without the question whether a change defines it.
    pub reads_other_languages: bool,
    /// Doubt about any failure but a missing item: it could have another reason than the tested
    /// code.
    pub doubt: Option<String>,
}

/// Worth of a failure.
pub(crate) enum FailureAnswer {
    /// Absent or different tested code.
    Red {
        /// Reason, in one sentence.
        reason: String,
        /// The lines of output that say so.
        lines: Vec<String>,
        /// Only the exit status says it.
        is_by_status: bool,
    },
    /// An item that it needs is missing: a test that checks nothing could not pass either.
    NotBuilt {
        /// Reason, in one sentence.
        reason: String,
        /// The line of output that says so.
        lines: Vec<String>,
    },
    /// Any reason is possible.
    Unknown {
        /// Reason, in one sentence.
        reason: String,
    },
}

impl Failure<'_> {
    /// Judges it; `is_expected` says of an item that is missing whether it may be.
    pub(crate) fn judge(&self, is_expected: impl Fn(&str) -> bool) -> FailureAnswer {
        let (side, words) = (self.side, self.side_words);
        let unknown = |reason: String| FailureAnswer::Unknown { reason };
        let status = match &side.end {
            CheckEnd::Exited(status) => *status,
            CheckEnd::Killed(signal) => {
                return unknown(format!("{words} it was ended by signal {signal}"));
            }
            CheckEnd::TimedOut(seconds) => {
                return unknown(format!("{words} it did not end within {seconds} s"));
            }
            CheckEnd::NotStarted(why) => {
                return unknown(format!("{words} it could not be started: {why}"));
            }
        };
        let mut missing = find_missing_items(&side.lines);
        if self.reads_other_languages {
            missing.extend(find_other_missing_items(&side.lines));
        }
        // A module in the command itself is what the check runs, and no need of it.
        let is_asked_for = |item: &&MissingItem| {
            item.module
                .as_ref()
                .is_some_and(|module| self.asks_for(module))
        };
        let explained: Vec<_> = missing
            .iter()
            .filter(|item| is_expected(&item.name) && !is_asked_for(item))
            .collect();
        let not_built = explained.first().map(|first| {
            let names: BTreeSet<String> = explained
                .iter()
                .map(|item| format!("`{}`", sanitize(&item.name, 60)))
                .collect();
            let verb = if names.len() == 1 { "is" } else { "are" };
            let names: Vec<String> = names.into_iter().take(3).collect();
            let reason = format!(
                "it cannot be built {words}: {} {verb} missing",
                names.join(", ")
            );
            FailureAnswer::NotBuilt {
                reason,
                lines: vec![first.line.clone()],
            }
        });
        if !self.failing.is_empty() && self.doubt.is_none() {
            // In a language without a build, a test that needs a name fails for want of it.
            if let (Some(not_built), false) =
                (not_built, side.lines.iter().any(|line| is_assertion(line)))
            {
                return not_built;
            }
            let reason = count_tests(self.failing.len(), "test fails", "tests fail");
            let reason = format!("{reason} {words}{}", self.absent_words);
            return FailureAnswer::Red {
                reason,
                lines: lines_about(side, self.failing),
                is_by_status: false,
            };
        }
        if NOT_RUN.contains(&status) {
            return unknown(format!(
                "{words} its command could not be run (exit status {status})"
            ));
        }
        if SIGNALLED.contains(&status) {
            return unknown(format!(
                "{words} its command was ended by signal {}",
                status - 128
            ));
        }
        if side.verdict == CheckVerdict::NothingRan {
            return unknown(format!("{words} no test was run"));
        }
        let is_build = !missing.is_empty() || side.lines.iter().any(|line| is_build_failure(line));
        if let (false, Some(count)) = (is_build || self.doubt.is_some(), self.unnamed_failures()) {
            let reason = count_tests(count, "test fails", "tests fail");
            return FailureAnswer::Red {
                reason: format!("{reason} {words}"),
                lines: last_lines(side),
                is_by_status: false,
            };
        }
        if let Some(not_built) = not_built {
            return not_built;
        }
        if let Some(doubt) = &self.doubt {
            return unknown(doubt.clone());
        }
        if self.is_runner || is_build {
            let what = if words == "without the change" {
                "that the change defines"
            } else {
                "that is missing"
            };
            return unknown(format!(
                "it ends before its tests {words}, and names nothing {what} (exit status {status})"
            ));
        }
        let reason = match status {
            0 => format!("{words} it does not end as expected: {}", side.detail),
            status => format!("{words} it ends with exit status {status}"),
        };
        FailureAnswer::Red {
            reason,
            lines: last_lines(side),
            is_by_status: true,
        }
    }

    /// A command that names a module, or one within it.
    fn asks_for(&self, module: &str) -> bool {
        let is_end = |char: char| char.is_whitespace() || "'\"`;|&=()".contains(char);
        let mut words = self.run.split(is_end).filter(|word| !word.is_empty());
        words.any(|word| {
            let inner = word.strip_prefix(module);
            let is_named =
                inner.is_some_and(|inner| inner.is_empty() || inner.starts_with(['.', '/', ':']));
            // A program that is run by its path says the whole of it.
            is_named
                || module
                    .strip_suffix(word.trim_start_matches("./"))
                    .is_some_and(|folder| folder.ends_with('/'))
        })
    }

    /// Number of failed tests in a summary without their names: only the end of the output was
    /// printed.
    fn unnamed_failures(&self) -> Option<usize> {
        if self.side.report.iter().next().is_some() {
            return None;
        }
        // A file that could not be loaded is no test.
        let is_of_files =
            |line: &str| line.starts_with("Test Files") || line.starts_with("Test Suites");
        let mut lines = self
            .side
            .lines
            .iter()
            .map(|line| line.trim_start())
            .filter(|line| !is_of_files(line));
        let found = lines.find_map(|line| FAILED_TESTS.as_ref()?.captures(line))?;
        found.iter().skip(1).flatten().next()?.as_str().parse().ok()
    }
}

/// Judges tests that were written before what they test, in the files as they are then: those are the side without the
/// change. `outcome` is that of a check that ended with a failure of its own. Gives why it is red, where more than its exit
/// status says so.
///
/// # Errors
///
/// The failure could have another reason than that what is tested is not there; which.
pub fn judge_tests_first(
    check: &TaskCheck,
    is_runner: bool,
    outcome: &TaskCheckOutcome,
    output: &[u8],
) -> Result<Option<String>, String> {
    let mut lines = Vec::new();
    let mut splitter = LineSplitter::default();
    splitter.read(output, |line| lines.push(line.to_owned()));
    splitter.finish(|line| lines.push(line.to_owned()));
    let end = outcome.exit.map_or_else(
        || CheckEnd::NotStarted(outcome.detail.clone()),
        CheckEnd::Exited,
    );
    let mut reader = TestOutputReader::default();
    reader.read(output);
    let mut report = reader.report();
    report.counts = outcome.counts;
    let side = SideOutcome {
        end,
        verdict: CheckVerdict::Failed,
        detail: outcome.detail.clone(),
        report,
        lines,
    };
    let failed = side
        .report
        .iter()
        .filter(|(_, outcome)| *outcome == TestOutcome::Failed);
    let failing: Vec<&str> = failed.map(|(name, _)| name).collect();
    let failure = Failure {
        run: &check.command,
        side: &side,
        side_words: "before the implementation",
        failing: &failing,
        absent_words: String::new(),
        is_runner: is_runner || outcome.counts.is_some(),
        reads_other_languages: true,
        doubt: None,
    };
    match failure.judge(|_| true) {
        FailureAnswer::Red {
            reason,
            is_by_status,
            ..
        } => Ok((!is_by_status).then_some(reason)),
        FailureAnswer::NotBuilt { reason, .. } => Ok(Some(reason)),
        FailureAnswer::Unknown { reason } => Err(reason),
    }
}

pub(crate) fn count_tests(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Line of a failed assertion.
fn is_assertion(line: &str) -> bool {
    let line = line.trim_start();
    [
        "AssertionError",
        "ERR_ASSERTION",
        "expect(received)",
        "panicked at",
    ]
    .iter()
    .any(|word| line.contains(word))
        || line
            .strip_prefix('E')
            .is_some_and(|said| said.trim_start().starts_with("assert "))
}

/// Words of a tool that could not build, or could not load, the tested code.
pub(crate) fn is_build_failure(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("error[E")
        || line.starts_with("error: could not compile")
        || line.contains("[build failed]")
        || line.contains("[setup failed]")
        || line.starts_with("SyntaxError:")
        || line.contains(": fatal error: ")
        || line.contains(": error: ")
        || line.contains(": error TS")
        || line.contains("ERR_MODULE_NOT_FOUND")
        || line.contains(": error CS")
        || line.contains("(LoadError)")
        || line.contains("Unresolved reference")
        || line.contains("error: cannot find symbol")
}

fn lines_about(side: &SideOutcome, tests: &[&str]) -> Vec<String> {
    let last = |name: &str| {
        name.rsplit([':', '.', '>', ' ', '/'])
            .next()
            .unwrap_or(name)
            .to_owned()
    };
    let names: Vec<String> = tests
        .iter()
        .take(MAX_LINES)
        .map(|test| last(test))
        .collect();
    let says = |line: &&String| {
        names
            .iter()
            .any(|name| !name.is_empty() && line.contains(name.as_str()))
    };
    let lines: Vec<String> = side
        .lines
        .iter()
        .filter(says)
        .take(MAX_LINES)
        .map(|line| sanitize(line.trim(), MAX_LINE_CHARS))
        .collect();
    if lines.is_empty() {
        last_lines(side)
    } else {
        lines
    }
}

pub(crate) fn last_lines(side: &SideOutcome) -> Vec<String> {
    let says = |line: &&String| line.chars().any(char::is_alphanumeric);
    let lines: Vec<&String> = side.lines.iter().filter(says).collect();
    let from = lines.len().saturating_sub(MAX_LINES);
    lines
        .iter()
        .skip(from)
        .map(|line| sanitize(line.trim(), MAX_LINE_CHARS))
        .collect()
}

#[cfg(test)]
mod tests;

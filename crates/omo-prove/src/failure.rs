//! Interprets a failed check: failed tests, an item that is still missing, or no conclusion.
//!
//! A command that could not run, a timeout or a broken set-up shows nothing about the code.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use omo_core::check::session_check::{CheckEnd, CheckVerdict};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::check::test_report::TestOutcome;
use omo_core::check::test_runner::{LineSplitter, TestOutputReader};
use omo_core::text::sanitize;
use regex::Regex;

use crate::missing_item::{find_missing_items, find_other_missing_items};
use crate::side_outcome::SideOutcome;

/// Maximum lines of output that explain an answer.
pub(crate) const MAX_LINES: usize = 5;
const MAX_LINE_CHARS: usize = 160;
/// Exit statuses of a shell that could not run its command.
pub(crate) const NOT_RUN: [i32; 2] = [126, 127];
/// Exit statuses of a shell after a signal.
const SIGNALLED: std::ops::RangeInclusive<i32> = 129..=159;

/// Summary of failed tests; files that could not be loaded are not in it.
static FAILED_TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b([1-9][0-9]*) failed\b|\bfailures=([1-9][0-9]*)|\bfail ([1-9][0-9]*)\b").ok()
});

/// Failed check with all that its meaning depends on.
pub(crate) struct Failure<'a> {
    pub run: &'a str,
    pub side: &'a SideOutcome,
    pub side_words: &'a str,
    /// Names of failed tests.
    pub failing: &'a [&'a str],
    /// Text about absent tests, behind the failed ones.
    pub absent_words: String,
    /// `true` for a test runner, which counts tests.
    pub is_runner: bool,
    /// `true` where missing items of every language count, also undefined by the change.
    pub reads_other_languages: bool,
    /// Other possible reason of any failure, except for a missing item.
    pub doubt: Option<String>,
}

pub(crate) enum FailureAnswer {
    /// Failure by absent or different code under test.
    Red {
        reason: String,
        lines: Vec<String>,
        /// `true` where only the exit status shows it.
        is_by_status: bool,
    },
    /// Failure by a missing item, with which an empty test would fail, too.
    NotBuilt { reason: String, lines: Vec<String> },
    /// Failure that may have any reason.
    Unknown { reason: String },
}

impl Failure<'_> {
    /// Meaning of the failure; `is_expected` tells whether an item may be missing.
    pub(crate) fn judge(&self, is_expected: impl Fn(&str) -> bool) -> FailureAnswer {
        let (side, words) = (self.side, self.side_words);
        let status = match &side.end {
            CheckEnd::Exited(status) => *status,
            CheckEnd::Killed(signal) => {
                return unknown_answer(format!("{words} it was ended by signal {signal}"));
            }
            CheckEnd::TimedOut(seconds) => {
                return unknown_answer(format!("{words} it did not end within {seconds} s"));
            }
            CheckEnd::NotStarted(why) => {
                return unknown_answer(format!("{words} it could not be started: {why}"));
            }
        };
        let mut missing = find_missing_items(&side.lines);
        if self.reads_other_languages {
            missing.extend(find_other_missing_items(&side.lines));
        }
        // A module in the command itself is what the check runs, not a need of it.
        let explained: Vec<_> = missing
            .iter()
            .filter(|item| {
                let module = item.module.as_ref();
                is_expected(&item.name) && !module.is_some_and(|module| self.asks_for(module))
            })
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
            // Without a build, a test fails for want of a name that it needs.
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
            return unknown_answer(format!(
                "{words} its command could not be run (exit status {status})"
            ));
        }
        if SIGNALLED.contains(&status) {
            return unknown_answer(format!(
                "{words} its command was ended by signal {}",
                status - 128
            ));
        }
        if side.verdict == CheckVerdict::NothingRan {
            return unknown_answer(format!("{words} no test was run"));
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
            return unknown_answer(doubt.clone());
        }
        if self.is_runner || is_build {
            let missing_item = if words == "without the change" {
                "that the change defines"
            } else {
                "that is missing"
            };
            return unknown_answer(format!(
                "it ends before its tests {words}, and names nothing {missing_item} (exit status {status})"
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

    /// `true` for a command that names a module, or one within it.
    fn asks_for(&self, module: &str) -> bool {
        let mut words = self
            .run
            .split(|char: char| char.is_whitespace() || "'\"`;|&=()".contains(char))
            .filter(|word| !word.is_empty());
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

    /// Number of failed tests in a summary without names, at the end of the output.
    fn unnamed_failures(&self) -> Option<usize> {
        if self.side.report.iter().next().is_some() {
            return None;
        }
        // A file that could not be loaded is no test.
        let mut lines = self.side.lines.iter().map(|line| line.trim_start());
        let captures = lines.find_map(|line| {
            let counts_files = line.starts_with("Test Files") || line.starts_with("Test Suites");
            FAILED_TESTS
                .as_ref()?
                .captures(line)
                .filter(|_| !counts_files)
        })?;
        captures
            .iter()
            .skip(1)
            .flatten()
            .next()?
            .as_str()
            .parse()
            .ok()
    }
}

/// Reason why tests that were written first fail, where more than the exit status shows it.
///
/// # Errors
///
/// Failure that may have another reason than the missing code under test.
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

fn unknown_answer(reason: String) -> FailureAnswer {
    FailureAnswer::Unknown { reason }
}

pub(crate) fn count_tests(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

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
            .is_some_and(|message| message.trim_start().starts_with("assert "))
}

/// `true` for a message of a tool that could not build or load the code under test.
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
    let names: Vec<&str> = tests
        .iter()
        .take(MAX_LINES)
        .map(|test| {
            test.rsplit([':', '.', '>', ' ', '/'])
                .next()
                .unwrap_or(test)
        })
        .collect();
    let lines: Vec<String> = side
        .lines
        .iter()
        .filter(|line| {
            names
                .iter()
                .any(|name| !name.is_empty() && line.contains(name))
        })
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
    let lines: Vec<&String> = side
        .lines
        .iter()
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .collect();
    let from = lines.len().saturating_sub(MAX_LINES);
    lines
        .iter()
        .skip(from)
        .map(|line| sanitize(line.trim(), MAX_LINE_CHARS))
        .collect()
}

#[cfg(test)]
mod tests;

//! Reader of the output of Python's `unittest`, whose number of executed tests includes skipped
//! ones, except in 3.12.1.

use super::test_commands::runs_python_module;
use super::{add_counts, parse_numbered_words};
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    program == "unittest" || runs_python_module(program, arguments, "unittest")
}

#[derive(Debug, Default)]
pub(super) struct Unittest {
    /// `true` for a single run: the last summary is the runner's, and others come from tests.
    pub(super) is_alone: bool,
    total: Option<TestCounts>,
    is_below_rule: bool,
    ran: Option<u64>,
    /// A test whose outcome follows behind its documentation or output.
    named: Option<String>,
}

impl Unittest {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        self.name_test(line, report);
        let is_below_rule = std::mem::replace(
            &mut self.is_below_rule,
            line.len() == 70 && line.bytes().all(|byte| byte == b'-'),
        );
        if let Some(ran) = ran(line).filter(|_| is_below_rule) {
            self.end(TestCounts::default());
            self.ran = Some(ran);
        } else if self.ran.is_some()
            && let Some(left) = ended(line)
        {
            self.end(left);
        }
    }

    fn name_test(&mut self, line: &str, report: &mut TestReport) {
        let failed = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "));
        if let Some(name) = failed.and_then(test_name) {
            report.add(&name, TestOutcome::Failed);
            return;
        }
        let (name, printed) = line
            .rsplit_once(" ... ")
            .map_or((line, line), |(name, end)| (name, end));
        let name = test_name(name).or_else(|| self.named.take());
        match (name, outcome(printed)) {
            // A part of a test has its values behind the name.
            (Some(name), Some(outcome)) if line.contains(") (") || line.contains(") [") => {
                report.add(&name, outcome);
            }
            (Some(name), Some(outcome)) => report.add_test(&name, outcome),
            (name, _) => self.named = name,
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        let open = self.ran.map(|run| TestCounts {
            run,
            ..TestCounts::default()
        });
        [self.total, open]
            .into_iter()
            .flatten()
            .reduce(TestCounts::plus)
    }

    /// Executed tests include skipped ones and expected failures.
    fn end(&mut self, left: TestCounts) {
        if let Some(ran) = self.ran.take() {
            let run = ran.saturating_sub(left.skipped).max(left.failed);
            self.total = self.total.filter(|_| !self.is_alone);
            add_counts(&mut self.total, TestCounts { run, ..left });
        }
    }
}

/// `Ran 3 tests in 0.001s`
fn ran(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let is_it = rest.starts_with("tests in ") || rest.starts_with("test in ");
    is_it.then(|| number.parse().ok()).flatten()
}

/// `OK`, `OK (skipped=1)`, `FAILED (failures=1, errors=1, expected failures=1)`, `NO TESTS RAN`
fn ended(line: &str) -> Option<TestCounts> {
    let (word, list) = line.split_once(" (").unwrap_or((line, ""));
    if !matches!(word, "OK" | "FAILED" | "NO TESTS RAN") {
        return None;
    }
    let mut counts = TestCounts::default();
    // `failures=1` as `1 failures`, for the common reader.
    let list: Vec<String> = list
        .trim_end_matches(')')
        .split(", ")
        .filter_map(|part| part.split_once('='))
        .map(|(word, number)| format!("{number} {word}"))
        .collect();
    for (number, word) in parse_numbered_words(&list.join(","), ",").flatten() {
        match word {
            "failures" | "errors" => counts.failed = counts.failed.saturating_add(number),
            "skipped" | "expected failures" => {
                counts.skipped = counts.skipped.saturating_add(number);
            }
            _ => {}
        }
    }
    Some(counts)
}

/// `test_a (pkg.test_b.Class.test_a)`, or `test_a (pkg.test_b.Class)` before Python 3.11.
fn test_name(text: &str) -> Option<String> {
    let (method, rest) = text.split_once(" (")?;
    let (class, _) = rest.split_once(')')?;
    if !is_name(method) || !is_name(class) || !class.contains('.') || class.contains("_FailedTest")
    {
        return None;
    }
    let class = class
        .strip_suffix(method)
        .and_then(|class| class.strip_suffix('.'))
        .unwrap_or(class);
    Some(format!("{class}.{method}"))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|char| char.is_alphanumeric() || "_.".contains(char))
}

fn outcome(end: &str) -> Option<TestOutcome> {
    Some(match end {
        "ok" | "unexpected success" => TestOutcome::Passed,
        "FAIL" | "ERROR" => TestOutcome::Failed,
        "expected failure" => TestOutcome::Skipped,
        _ if end.starts_with("skipped") => TestOutcome::Skipped,
        // The test's output precedes it. A failed test is told once more at the end.
        _ if end.ends_with("ok") => TestOutcome::Passed,
        _ => return None,
    })
}

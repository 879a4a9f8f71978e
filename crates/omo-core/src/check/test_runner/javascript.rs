//! Jest and Vitest, which share most of their forms.

use super::{add_counts, parse_numbered_words};
use crate::check::session_check::TestCounts;

/// Whether the command runs tests with it.
pub(super) fn is_test_run(program: &str, _arguments: &[&str]) -> bool {
    matches!(program, "jest" | "vitest")
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct JavaScript {
    total: Option<TestCounts>,
    /// What the JSON form says, which may come beside the one for people.
    json: Option<TestCounts>,
    /// The line before was the one about files that stands above the one about tests.
    is_below_files: bool,
}

impl JavaScript {
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim_start();
        let is_about_files = line.starts_with("Test Suites:") || line.starts_with("Test Files  ");
        let is_below_files = std::mem::replace(&mut self.is_below_files, is_about_files);
        if let Some(counts) = jest(line).or_else(|| vitest(line)).filter(|_| is_below_files).or_else(|| none(line)) {
            add_counts(&mut self.total, counts);
        } else if let Some(counts) = json(line) {
            add_counts(&mut self.json, counts);
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        self.total.or(self.json)
    }
}

/// `Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total`
fn jest(line: &str) -> Option<TestCounts> {
    let list = line.strip_prefix("Tests:")?;
    list.trim_end().ends_with(" total").then_some(())?;
    listed(list, ",")
}

/// `Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)`, or `Tests  no tests`
fn vitest(line: &str) -> Option<TestCounts> {
    let list = line.strip_prefix("Tests  ")?.trim();
    if list == "no tests" {
        return Some(TestCounts::default());
    }
    let (list, total) = list.rsplit_once(" (")?;
    total.strip_suffix(')')?.parse::<u64>().ok()?;
    listed(list, "|")
}

fn listed(list: &str, separator: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    for part in parse_numbered_words(list, separator) {
        let (number, word) = part?;
        let (run, failed, skipped) = match word {
            "passed" => (number, 0, 0),
            "failed" => (number, number, 0),
            "skipped" | "todo" | "pending" | "expected fail" => (0, 0, number),
            _ => (0, 0, 0),
        };
        counts = counts.plus(TestCounts { run, failed, skipped });
    }
    Some(counts)
}

/// Neither of them found a file with tests.
fn none(line: &str) -> Option<TestCounts> {
    let is_it = line.starts_with("No tests found, exiting with code")
        || line.starts_with("No tests found related to files")
        || line.starts_with("No test files found, exiting with code");
    is_it.then(TestCounts::default)
}

/// Both write the same object with `--json` and `--reporter=json`.
fn json(line: &str) -> Option<TestCounts> {
    line.starts_with('{').then_some(())?;
    let number = |name: &str| {
        let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
        let digits = rest.trim_start();
        let end = digits.find(|char: char| !char.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse::<u64>().ok()
    };
    let (passed, failed) = (number("numPassedTests")?, number("numFailedTests")?);
    let skipped = number("numPendingTests")?.saturating_add(number("numTodoTests").unwrap_or(0));
    Some(TestCounts { run: passed.saturating_add(failed), failed, skipped })
}

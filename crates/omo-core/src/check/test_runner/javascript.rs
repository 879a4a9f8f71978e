//! Reader of the output of Jest and Vitest: counts, and tests with outcomes.

use super::{add_counts, parse_numbered_words};
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, _arguments: &[&str]) -> bool {
    matches!(program, "jest" | "vitest")
}

#[derive(Debug, Default)]
pub(super) struct JavaScript {
    total: Option<TestCounts>,
    /// Counts of the JSON output, which are used where no text has them.
    json: Option<TestCounts>,
    is_below_files: bool,
    jest_file: Option<String>,
    suites: Vec<(usize, String)>,
}

impl JavaScript {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        self.name_test(line, report);
        let line = line.trim_start();
        let is_about_files = line.starts_with("Test Suites:") || line.starts_with("Test Files  ");
        let is_below_files = std::mem::replace(&mut self.is_below_files, is_about_files);
        if let Some(counts) = jest_counts(line)
            .or_else(|| vitest_counts(line))
            .filter(|_| is_below_files)
            .or_else(|| no_test_counts(line))
        {
            add_counts(&mut self.total, counts);
        } else if let Some(counts) = json_counts(line) {
            add_counts(&mut self.json, counts);
        }
    }

    fn name_test(&mut self, line: &str, report: &mut TestReport) {
        if let Some((name, outcome)) = vitest_line(line.trim_start()) {
            report.add(&name, outcome);
            return;
        }
        if let Some(file) = jest_file(line) {
            (self.jest_file, self.suites) = (Some(file.to_owned()), Vec::new());
            return;
        }
        if self.jest_file.is_some() {
            self.name_jest_test(line, report);
        }
    }

    fn name_jest_test(&mut self, line: &str, report: &mut TestReport) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if indent == 0 || text.starts_with('●') {
            self.jest_file = None;
            return;
        }
        while self
            .suites
            .last()
            .is_some_and(|(above, _)| *above >= indent)
        {
            self.suites.pop();
        }
        let Some((name, outcome)) = jest_test(text) else {
            if self.suites.len() < 64 {
                self.suites.push((indent, text.to_owned()));
            }
            return;
        };
        let file = self.jest_file.as_deref().into_iter();
        let above = file.chain(self.suites.iter().map(|(_, name)| name.as_str()));
        let parts: Vec<&str> = above.chain([name]).collect();
        report.add_test(&parts.join(" > "), outcome);
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        self.total.or(self.json)
    }
}

/// `Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total`
fn jest_counts(line: &str) -> Option<TestCounts> {
    let list = line.strip_prefix("Tests:")?;
    list.trim_end().ends_with(" total").then_some(())?;
    listed(list, ",")
}

/// `Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)`, or `Tests  no tests`
fn vitest_counts(line: &str) -> Option<TestCounts> {
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
        counts = counts.plus(TestCounts {
            run,
            failed,
            skipped,
        });
    }
    Some(counts)
}

fn no_test_counts(line: &str) -> Option<TestCounts> {
    let is_message = line.starts_with("No tests found, exiting with code")
        || line.starts_with("No tests found related to files")
        || line.starts_with("No test files found, exiting with code");
    is_message.then(TestCounts::default)
}

/// Counts in the object of `--json` and `--reporter=json`, which is one line.
fn json_counts(line: &str) -> Option<TestCounts> {
    line.starts_with('{').then_some(())?;
    let (passed, failed) = (
        json_number(line, "numPassedTests")?,
        json_number(line, "numFailedTests")?,
    );
    let skipped = json_number(line, "numPendingTests")?
        .saturating_add(json_number(line, "numTodoTests").unwrap_or(0));
    Some(TestCounts {
        run: passed.saturating_add(failed),
        failed,
        skipped,
    })
}

fn json_number(line: &str, name: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    let digits = rest.trim_start();
    let end = digits
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// `✓ a.test.ts > suite > name 3ms`, `× …`, `↓ …`, `FAIL  a.test.ts > suite > name`
fn vitest_line(text: &str) -> Option<(String, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✓" => TestOutcome::Passed,
        "×" | "FAIL" => TestOutcome::Failed,
        "↓" => TestOutcome::Skipped,
        _ => return None,
    };
    let rest = rest.trim_start();
    // With projects, their name stands before the file.
    let rest = rest
        .strip_prefix('|')
        .and_then(|rest| Some(rest.split_once("| ")?.1))
        .unwrap_or(rest);
    let (file, _) = rest.split_once(" > ")?;
    is_test_file(file).then_some(())?;
    Some((without_time(rest).to_owned(), outcome))
}

/// `name` of `name 3ms` or `name (3 ms)`.
fn without_time(text: &str) -> &str {
    let text = text.trim_end();
    if let Some((name, time)) = text.rsplit_once(" (") {
        let number = time
            .strip_suffix(" ms)")
            .or_else(|| time.strip_suffix(" s)"));
        return if number.is_some_and(is_number) {
            name
        } else {
            text
        };
    }
    text.rsplit_once(' ')
        .filter(|(_, time)| time.strip_suffix("ms").is_some_and(is_number))
        .map_or(text, |(name, _)| name)
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

fn jest_file(line: &str) -> Option<&str> {
    let file = line
        .strip_prefix("PASS ")
        .or_else(|| line.strip_prefix("FAIL "))?;
    let file = without_time(file);
    is_test_file(file).then_some(file)
}

fn jest_test(text: &str) -> Option<(&str, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✓" => TestOutcome::Passed,
        "✕" => TestOutcome::Failed,
        "○" | "✎" => TestOutcome::Skipped,
        _ => return None,
    };
    let rest = if outcome == TestOutcome::Skipped {
        rest.strip_prefix("skipped ").unwrap_or(rest)
    } else {
        rest
    };
    Some((without_time(rest), outcome))
}

fn is_test_file(name: &str) -> bool {
    !name.contains(' ')
        && name.rsplit_once('.').is_some_and(|(_, ending)| {
            ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"].contains(&ending)
        })
}

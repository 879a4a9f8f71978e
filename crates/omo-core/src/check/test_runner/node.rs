//! Reader of the output of `node --test`: lines of tests, and the block of counts below them, with
//! `ℹ` in the spec form and `#` in TAP.

use super::{add_counts, tap};
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    program == "node" && arguments.contains(&"--test")
}

/// A suite whose end was not read yet; in TAP it may be a test.
#[derive(Debug)]
struct OpenSuite {
    indent: usize,
    name: String,
    has_tests: bool,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    total: Option<TestCounts>,
    open: Option<TestCounts>,
    /// Files that are reported as passed tests, and in which no test was run.
    files: u64,
    suites: Vec<OpenSuite>,
    /// `true` for TAP, which announces each test.
    is_tap: bool,
    is_repeating: bool,
}

impl Node {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        self.name_test(line, report);
        if is_passed_file(line) {
            self.files = self.files.saturating_add(1);
        }
        let Some((word, number)) = entry(line) else {
            self.open = None;
            return;
        };
        match (word, &mut self.open) {
            ("tests", open) => *open = Some(TestCounts::default()),
            ("pass", Some(open)) => open.run = open.run.saturating_add(number),
            ("fail" | "cancelled", Some(open)) => {
                open.run = open.run.saturating_add(number);
                open.failed = open.failed.saturating_add(number);
            }
            ("skipped" | "todo", Some(open)) => open.skipped = open.skipped.saturating_add(number),
            ("duration_ms", open) => {
                self.total = end(self.total, open.take(), std::mem::take(&mut self.files));
            }
            _ => {}
        }
    }

    fn name_test(&mut self, line: &str, report: &mut TestReport) {
        if line.trim_end() == "✖ failing tests:" {
            self.is_repeating = true;
        }
        if self.is_repeating {
            return;
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        self.is_tap |= text.starts_with("# Subtest: ");
        if let Some(name) = text
            .strip_prefix("▶ ")
            .or_else(|| text.strip_prefix("# Subtest: "))
        {
            self.close(indent);
            let is_end = name.ends_with("ms)");
            if !is_end && self.suites.len() < 64 {
                self.suites.push(OpenSuite {
                    indent,
                    name: unescape(name),
                    has_tests: false,
                });
            }
            return;
        }
        let Some((name, outcome)) = spec(text).or_else(|| tap::test(text).filter(|_| self.is_tap))
        else {
            return;
        };
        let name = unescape(name);
        // TAP names a test before it, too, at the same indent; a suite ends with a line like a
        // test's.
        let was_suite = self
            .close(indent)
            .is_some_and(|suite| suite.has_tests || text.starts_with(['✔', '✖', '▶']));
        self.suites
            .iter_mut()
            .for_each(|suite| suite.has_tests = true);
        if was_suite || is_file(&name) {
            return;
        }
        let above: Vec<&str> = self
            .suites
            .iter()
            .map(|suite| suite.name.as_str())
            .collect();
        let separator = if above.is_empty() { "" } else { " > " };
        report.add_test(&format!("{}{separator}{name}", above.join(" > ")), outcome);
    }

    /// Closes the suites at or below this indent; gives the one at it.
    fn close(&mut self, indent: usize) -> Option<OpenSuite> {
        let mut closed = None;
        while self
            .suites
            .last()
            .is_some_and(|suite| suite.indent >= indent)
        {
            closed = self.suites.pop();
        }
        closed.filter(|suite| suite.indent == indent)
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        self.total
    }
}

fn end(mut total: Option<TestCounts>, open: Option<TestCounts>, files: u64) -> Option<TestCounts> {
    if let Some(counts) = open {
        let run = counts.run.saturating_sub(files).max(counts.failed);
        add_counts(&mut total, TestCounts { run, ..counts });
    }
    total
}

/// `ℹ tests 5`; whole milliseconds of a time.
fn entry(line: &str) -> Option<(&str, u64)> {
    let rest = line
        .strip_prefix("ℹ ")
        .or_else(|| line.strip_prefix("# "))?;
    let (word, number) = rest.split_once(' ')?;
    Some((word, number.split('.').next()?.trim().parse().ok()?))
}

/// `✔ one.test.js (0.5ms)`, or `ok 1 - one.test.js`: a file without a match, since version 22.
fn is_passed_file(line: &str) -> bool {
    let name = match line.strip_prefix("✔ ") {
        Some(rest) => rest.rsplit_once(" (").map_or(rest, |(name, _)| name),
        None => match line
            .strip_prefix("ok ")
            .and_then(|rest| rest.split_once(" - "))
        {
            Some((_, name)) => name,
            None => return false,
        },
    };
    is_file(name)
}

fn is_file(name: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// `✔ name (1.2ms)`, `✖ name (1.2ms)`, `﹣ name (0.1ms) # SKIP`
fn spec(text: &str) -> Option<(&str, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✔" => TestOutcome::Passed,
        "✖" => TestOutcome::Failed,
        "﹣" => TestOutcome::Skipped,
        _ => return None,
    };
    let is_marked = [" # SKIP", " # TODO"]
        .iter()
        .find_map(|mark| rest.split_once(mark));
    let (rest, outcome) =
        is_marked.map_or((rest, outcome), |(name, _)| (name, TestOutcome::Skipped));
    let (name, _) = rest
        .rsplit_once(" (")
        .filter(|(_, time)| time.ends_with("ms)"))?;
    Some((name, outcome))
}

fn unescape(name: &str) -> String {
    name.trim().replace("\\#", "#")
}

//! Reader of the output of pytest: counts, and tests with outcomes.

use super::parse_numbered_words;
use super::test_commands::runs_python_module;
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    matches!(program, "pytest" | "py.test") || runs_python_module(program, arguments, "pytest")
}

/// Only the last summary of a session counts: tests may print summaries, or run sessions of their own.
#[derive(Debug, Default)]
pub(super) struct Pytest {
    before: Option<TestCounts>,
    last: Option<TestCounts>,
    open_sessions: u64,
}

impl Pytest {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        // A file that could not be imported is no test.
        if let Some((name, outcome)) = short_summary(line).or_else(|| verbose(line)) {
            report.add(name, outcome);
        }
        if line.starts_with('=') && line.contains(" test session starts ") {
            if self.open_sessions == 0 {
                (self.before, self.last) = (self.counts(), None);
            }
            self.open_sessions = self.open_sessions.saturating_add(1);
        } else if let Some(counts) = summary(line) {
            (self.last, self.open_sessions) = (Some(counts), self.open_sessions.saturating_sub(1));
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        // A session without a summary proves nothing.
        let unfinished = (self.open_sessions > 0).then_some(TestCounts {
            run: 0,
            failed: 1,
            skipped: 0,
        });
        [self.before, self.last, unfinished]
            .into_iter()
            .flatten()
            .reduce(TestCounts::plus)
    }
}

/// `=== 1 failed, 2 passed, 1 skipped, 1 xfailed in 0.03s ===`, or `no tests ran in 0.01s`.
fn summary(line: &str) -> Option<TestCounts> {
    let (list, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if list == "no tests ran" || list.starts_with("no tests collected") || is_collected(list) {
        return Some(TestCounts::default());
    }
    let mut counts = TestCounts::default();
    for part in parse_numbered_words(list, ",") {
        let (number, word) = part?;
        let (run, failed, skipped) = match word {
            "passed" | "xpassed" => (number, 0, 0),
            "failed" | "error" | "errors" => (number, number, 0),
            "skipped" | "xfailed" => (0, 0, number),
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => (0, 0, 0),
            _ => return None,
        };
        counts = counts.plus(TestCounts {
            run,
            failed,
            skipped,
        });
    }
    Some(counts)
}

/// `7 tests collected`, `2/7 tests collected (5 deselected)`: listed, not run.
fn is_collected(list: &str) -> bool {
    let mut words = list.split(' ');
    words
        .next()
        .is_some_and(|word| word.starts_with(|char: char| char.is_ascii_digit()))
        && matches!(words.next(), Some("test" | "tests"))
        && words.next() == Some("collected")
}

/// `FAILED tests/a.py::test_b - AssertionError: …`
fn short_summary(line: &str) -> Option<(&str, TestOutcome)> {
    let (word, rest) = line.split_once(' ')?;
    let outcome = outcome(word)?;
    let name = rest.split(" - ").next()?;
    is_test(name).then_some((name, outcome))
}

/// `tests/a.py::test_b PASSED                [ 50%]`
fn verbose(line: &str) -> Option<(&str, TestOutcome)> {
    let line = line
        .rsplit_once(" [")
        .filter(|(_, rest)| rest.ends_with("%]"))
        .map_or(line, |(before, _)| before);
    let line = line.trim_end();
    // A skipped test has its reason in brackets.
    let line = line
        .strip_suffix(')')
        .and_then(|line| line.rsplit_once(" ("))
        .map_or(line, |(before, _)| before);
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = outcome(word)?;
    is_test(name).then_some((name, outcome))
}

fn outcome(word: &str) -> Option<TestOutcome> {
    Some(match word {
        "PASSED" | "XPASS" => TestOutcome::Passed,
        "FAILED" | "ERROR" => TestOutcome::Failed,
        "SKIPPED" | "XFAIL" => TestOutcome::Skipped,
        _ => return None,
    })
}

fn is_test(name: &str) -> bool {
    name.split_once("::").is_some_and(|(file, _)| {
        file.rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "py")
            && !file.contains(' ')
    })
}

//! Which test ended how, as a runner's output tells it: each runner names the tests in a way of its own, some name only
//! those that failed, and what none of them names is not guessed.

mod cargo;
mod go;
mod javascript;
mod node;
mod pytest;
mod unittest;

use std::collections::BTreeMap;

use omo_core::check::test_runner::LineSplitter;
use omo_core::text::sanitize_line;
use serde::Serialize;

/// So many tests are told apart; a suite with more is compared by its counts.
pub const MAX_TESTS: usize = 20_000;
const MAX_NAME_CHARS: usize = 300;
/// Of a longer line only the beginning is read.
const LINE_BYTES: usize = 16 * 1024;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It was there and was not executed, or its failure was expected.
    Skipped,
    /// It failed.
    Failed,
}

/// The tests that a runner named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestReport {
    outcomes: BTreeMap<String, TestOutcome>,
    /// There were more than are told apart.
    pub is_cut: bool,
}

impl TestReport {
    /// Reads the output of a check.
    pub fn read(output: &[u8]) -> Self {
        let mut readers = Readers::default();
        let mut lines = LineSplitter::with_limit(LINE_BYTES);
        let mut report = Self::default();
        lines.read(output, |line| readers.line(line, &mut report));
        lines.finish(|line| readers.line(line, &mut report));
        report
    }

    /// How a test ended; `None` where it was not named.
    pub fn outcome(&self, name: &str) -> Option<TestOutcome> {
        self.outcomes.get(name).copied()
    }

    /// The tests by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, TestOutcome)> {
        self.outcomes.iter().map(|(name, outcome)| (name.as_str(), *outcome))
    }

    /// Whether the runner named tests that passed: some name only those that did not.
    pub fn names_passed_tests(&self) -> bool {
        self.outcomes.values().any(|outcome| *outcome == TestOutcome::Passed)
    }

    /// Of two tests with one name the worse outcome counts.
    fn add(&mut self, name: &str, outcome: TestOutcome) {
        let name: String = sanitize_line(name.trim()).chars().take(MAX_NAME_CHARS).collect();
        if name.is_empty() {
            return;
        }
        if self.outcomes.len() >= MAX_TESTS && !self.outcomes.contains_key(&name) {
            self.is_cut = true;
            return;
        }
        let known = self.outcomes.entry(name).or_insert(outcome);
        *known = outcome.max(*known);
    }
}

/// One reader for each runner; each reads its own lines and no others.
#[derive(Debug, Default)]
struct Readers {
    cargo: cargo::CargoReader,
    go: go::GoReader,
    javascript: javascript::JavaScriptReader,
    node: node::NodeReader,
    pytest: pytest::PytestReader,
    unittest: unittest::UnittestReader,
}

impl Readers {
    fn line(&mut self, line: &str, report: &mut TestReport) {
        if line.is_empty() {
            return;
        }
        self.cargo.line(line, report);
        self.go.line(line, report);
        self.javascript.line(line, report);
        self.node.line(line, report);
        self.pytest.line(line, report);
        self.unittest.line(line, report);
    }
}

#[cfg(test)]
mod tests;

//! Tests that a check ran, by name and outcome, as its runner printed them. Some runners name only
//! failed tests; the others stay unnamed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::session_check::TestCounts;
use crate::text::sanitize_line;

/// Maximum tests by name; a larger suite is compared by its counts.
pub const MAX_TESTS: usize = 20_000;
const MAX_NAME_CHARS: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TestOutcome {
    Passed,
    /// Not executed, or an expected failure.
    Skipped,
    Failed,
}

/// Counts of a check's tests, and the outcomes of named ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TestReport {
    pub counts: Option<TestCounts>,
    outcomes: BTreeMap<String, TestOutcome>,
    /// Number of tests for a name that several tests share.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    times: BTreeMap<String, u64>,
    pub is_cut: bool,
}

impl TestReport {
    /// Outcome of a named test; `None` for a test that the runner did not name.
    pub fn outcome(&self, name: &str) -> Option<TestOutcome> {
        self.outcomes.get(name).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, TestOutcome)> {
        self.outcomes
            .iter()
            .map(|(name, outcome)| (name.as_str(), *outcome))
    }

    /// `true` for a runner that names passed tests: some name only failures.
    pub fn names_passed_tests(&self) -> bool {
        self.outcomes
            .values()
            .any(|outcome| *outcome == TestOutcome::Passed)
    }

    /// The report without `path` in names: the folder of a copy changes each time.
    #[must_use]
    pub fn without_path(mut self, path: &str) -> Self {
        let names: Vec<String> = self
            .outcomes
            .keys()
            .filter(|name| name.contains(path))
            .cloned()
            .collect();
        for name in names {
            if let Some(outcome) = self.outcomes.remove(&name) {
                let times = self.times.remove(&name).unwrap_or(1);
                (0..times).for_each(|_| self.add_test(&name.replace(path, ""), outcome));
            }
        }
        self
    }

    pub fn count_unnamed(&self) -> u64 {
        self.count_all()
            .map_or(0, |all| all.saturating_sub(self.count_named()))
    }

    /// Number of names beyond the executed tests, which something else printed.
    pub fn count_surplus(&self) -> u64 {
        self.count_all()
            .map_or(0, |all| self.count_named().saturating_sub(all))
    }

    pub fn times(&self, name: &str) -> u64 {
        self.times
            .get(name)
            .copied()
            .unwrap_or(u64::from(self.outcomes.contains_key(name)))
    }

    /// `true` for names in the form of Go, such as `pkg.TestX`.
    pub fn is_of_go(&self) -> bool {
        const KINDS: [&str; 4] = ["Test", "Example", "Fuzz", "Benchmark"];
        self.outcomes
            .keys()
            .filter_map(|name| name.rsplit_once('.'))
            .any(|(_, name)| KINDS.iter().any(|kind| name.starts_with(kind)))
    }

    fn count_all(&self) -> Option<u64> {
        self.counts
            .map(|counts| counts.run.saturating_add(counts.skipped))
    }

    fn count_named(&self) -> u64 {
        let names = u64::try_from(self.outcomes.len()).unwrap_or(u64::MAX);
        self.times
            .values()
            .map(|times| times.saturating_sub(1))
            .fold(names, u64::saturating_add)
    }

    /// Adds a test of a runner that names each test once, and lets several share a name.
    pub(super) fn add_test(&mut self, name: &str, outcome: TestOutcome) {
        let is_known = self.outcomes.contains_key(&shown_name(name));
        self.add(name, outcome);
        if is_known {
            *self.times.entry(shown_name(name)).or_insert(1) += 1;
        }
    }

    pub(super) fn add(&mut self, name: &str, outcome: TestOutcome) {
        let name = shown_name(name);
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

fn shown_name(name: &str) -> String {
    sanitize_line(name.trim())
        .chars()
        .take(MAX_NAME_CHARS)
        .collect()
}

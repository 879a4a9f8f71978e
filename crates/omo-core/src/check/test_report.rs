//! The tests of a check, as its runner tells them: how many, and by name with the outcome of each. Some runners name only
//! those that failed, and what none of them names is not guessed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::session_check::TestCounts;
use crate::text::sanitize_line;

/// So many tests are told apart; a suite with more is compared by its counts.
pub const MAX_TESTS: usize = 20_000;
const MAX_NAME_CHARS: usize = 300;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It was there and was not executed, or its failure was expected.
    Skipped,
    /// It failed.
    Failed,
}

/// The tests that a check ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TestReport {
    /// The sums of all runners; `None` where none of them said anything.
    pub counts: Option<TestCounts>,
    outcomes: BTreeMap<String, TestOutcome>,
    /// Number of tests with the same name, where there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    times: BTreeMap<String, u64>,
    /// There were more than [`MAX_TESTS`].
    pub is_cut: bool,
}

impl TestReport {
    /// The outcome of a test; `None` where it was not named.
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

    /// The report without this path in the names of tests: that of a copy, which is another one each time.
    #[must_use]
    pub fn without_path(mut self, path: &str) -> Self {
        let names: Vec<String> = self.outcomes.keys().filter(|name| name.contains(path)).cloned().collect();
        for name in names {
            if let Some(outcome) = self.outcomes.remove(&name) {
                let times = self.times.remove(&name).unwrap_or(1);
                (0..times).for_each(|_| self.add_test(&name.replace(path, ""), outcome));
            }
        }
        self
    }

    /// Tests that ran, and that no name was read for.
    pub fn count_unnamed(&self) -> u64 {
        self.count_all().map_or(0, |all| all.saturating_sub(self.count_named()))
    }

    /// Names beyond the tests that ran: something else has printed them.
    pub fn count_surplus(&self) -> u64 {
        self.count_all().map_or(0, |all| self.count_named().saturating_sub(all))
    }

    /// Tests of this name.
    pub fn times(&self, name: &str) -> u64 {
        self.times.get(name).copied().unwrap_or(u64::from(self.outcomes.contains_key(name)))
    }

    /// Its tests are called as those of Go.
    pub fn is_of_go(&self) -> bool {
        const KINDS: [&str; 4] = ["Test", "Example", "Fuzz", "Benchmark"];
        let is_it = |name: &String| {
            name.rsplit_once('.').is_some_and(|(_, name)| KINDS.iter().any(|kind| name.starts_with(kind)))
        };
        self.outcomes.keys().any(is_it)
    }

    fn count_all(&self) -> Option<u64> {
        self.counts.map(|counts| counts.run.saturating_add(counts.skipped))
    }

    fn count_named(&self) -> u64 {
        let names = u64::try_from(self.outcomes.len()).unwrap_or(u64::MAX);
        self.times.values().map(|times| times.saturating_sub(1)).fold(names, u64::saturating_add)
    }

    /// A test of a runner that tells each once, and lets several have one name.
    pub(super) fn add_test(&mut self, name: &str, outcome: TestOutcome) {
        let is_known = self.outcomes.contains_key(&shown_name(name));
        self.add(name, outcome);
        if is_known {
            *self.times.entry(shown_name(name)).or_insert(1) += 1;
        }
    }

    /// Of two tests with one name the worse outcome counts.
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
    sanitize_line(name.trim()).chars().take(MAX_NAME_CHARS).collect()
}

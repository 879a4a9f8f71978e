//! Facts about a check of a claim beside its two sides: the tests with the judges and the tests of
//! then.

use omo_core::check::counterfactual::list_names;
use omo_core::check::test_report::{TestOutcome, TestReport};
use omo_core::text::pluralize;

/// Facts about a check that is green with the change, beside its `CheckProof`.
#[derive(Clone, Debug, Default)]
pub struct ClaimComparison {
    /// Files that may steer it and changed, where it is green only with them as they are now.
    pub judged_by: Vec<String>,
    /// `hex_digest` of all such files that changed, as they are.
    pub judging_digest: String,
    /// Questions left open.
    pub notes: Vec<String>,
    /// `TestReport` of now.
    pub now: TestReport,
    /// The tests with these files as they were, where it is not green then and tests alone load them.
    pub with_judges_of_then: Option<TestReport>,
    /// The tests with all test files as they were, and those files, where it was asked and is not green then.
    pub with_tests_of_then: Option<(TestReport, Vec<String>)>,
}

impl ClaimComparison {
    /// Files without which the check is not green. Where each test of the beginning that passes now passes without them as
    /// well, they are there for new tests alone, as a fixture is.
    pub(crate) fn judging_files(&self, started: &TestReport) -> &[String] {
        let is_of_now = |name: &str| self.now.outcome(name) == Some(TestOutcome::Passed);
        let is_for_new_tests = |then: &TestReport| {
            let mut kept = started
                .iter()
                .filter(|(name, _)| is_of_now(name))
                .peekable();
            let fails = then
                .iter()
                .any(|(_, outcome)| outcome == TestOutcome::Failed);
            let passes = |(name, _)| then.outcome(name) == Some(TestOutcome::Passed);
            fails && !then.is_cut && kept.peek().is_some() && kept.all(passes)
        };
        if self
            .with_judges_of_then
            .as_ref()
            .is_some_and(is_for_new_tests)
        {
            return &[];
        }
        match &self.with_tests_of_then {
            // Tests without names: all that is known is that they made it green.
            Some((_, files)) if self.judged_by.is_empty() && !self.now.names_passed_tests() => {
                files
            }
            _ => &self.judged_by,
        }
    }

    /// A note of tests that failed at the start, pass now, and still fail as they were.
    pub(crate) fn changed_tests(&self, started: &TestReport) -> Option<String> {
        let (then, _) = self.with_tests_of_then.as_ref()?;
        let fails = |name: &&str| then.outcome(name) == Some(TestOutcome::Failed);
        let names: Vec<String> = turned_green(started, &self.now)
            .filter(fails)
            .map(str::to_owned)
            .collect();
        (!names.is_empty()).then(|| {
            let count = pluralize(names.len(), "test");
            format!(
                "{count} failing at the start and passing only as changed: {}",
                list_names(&names, names.len())
            )
        })
    }
}

pub(crate) fn turned_green<'a>(
    started: &'a TestReport,
    now: &'a TestReport,
) -> impl Iterator<Item = &'a str> {
    let passes = |name: &&str| now.outcome(name) == Some(TestOutcome::Passed);
    started
        .iter()
        .filter(|(_, outcome)| *outcome == TestOutcome::Failed)
        .map(|(name, _)| name)
        .filter(passes)
}

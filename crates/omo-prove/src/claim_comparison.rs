//! `ClaimComparison`: a check of a claim with the judges and the tests of then.

use omo_core::check::counterfactual::list_names;
use omo_core::check::test_report::{TestOutcome, TestReport};
use omo_core::text::pluralize;

/// Facts about a check that is green with the change, beside its `CheckProof`.
#[derive(Clone, Debug, Default)]
pub struct ClaimComparison {
    /// Changed files without which it is not green.
    pub judged_by: Vec<String>,
    /// `hex_digest` of all changed files that may steer it.
    pub judging_digest: String,
    pub notes: Vec<String>,
    pub now: TestReport,
    /// Tests with the judges as they were, where only tests load those and the check is red.
    pub with_judges_of_then: Option<TestReport>,
    /// Tests with all test files as they were, and these files, where the check is red then.
    pub with_tests_of_then: Option<(TestReport, Vec<String>)>,
}

impl ClaimComparison {
    /// Files without which it is not green; none where all tests of the start pass without them, as with a new fixture.
    pub(crate) fn judging_files(&self, started: &TestReport) -> &[String] {
        if self
            .with_judges_of_then
            .as_ref()
            .is_some_and(|then| self.is_for_new_tests(started, then))
        {
            return &[];
        }
        match &self.with_tests_of_then {
            // Tests without names: only that they made it green is known.
            Some((_, files)) if self.judged_by.is_empty() && !self.now.names_passed_tests() => {
                files
            }
            _ => &self.judged_by,
        }
    }

    fn is_for_new_tests(&self, started: &TestReport, then: &TestReport) -> bool {
        let mut kept = started
            .iter()
            .filter(|(name, _)| self.now.outcome(name) == Some(TestOutcome::Passed))
            .peekable();
        let fails = then
            .iter()
            .any(|(_, outcome)| outcome == TestOutcome::Failed);
        fails
            && !then.is_cut
            && kept.peek().is_some()
            && kept.all(|(name, _)| then.outcome(name) == Some(TestOutcome::Passed))
    }

    /// Note of tests that failed at the start, pass now, and still fail as they were.
    pub(crate) fn changed_tests(&self, started: &TestReport) -> Option<String> {
        let (then, _) = self.with_tests_of_then.as_ref()?;
        let names: Vec<String> = turned_green(started, &self.now)
            .filter(|name| then.outcome(name) == Some(TestOutcome::Failed))
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
    started
        .iter()
        .filter(|(_, outcome)| *outcome == TestOutcome::Failed)
        .map(|(name, _)| name)
        .filter(|name| now.outcome(name) == Some(TestOutcome::Passed))
}

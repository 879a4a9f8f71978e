//! `ClaimComparison`: a claim's check, compared with runs on the steering files and the tests of the run's start.

use omo_core::check::counterfactual::list_names;
use omo_core::check::test_report::{TestOutcome, TestReport};
use omo_core::text::pluralize;

/// Facts about a check that is green with the change, beside its `CheckProof`.
#[derive(Clone, Debug, Default)]
pub struct ClaimComparison {
    /// Changed files without which the check is not green.
    pub judged_by: Vec<String>,
    /// `hex_digest` of all changed files that may steer the check.
    pub judging_digest: String,
    pub notes: Vec<String>,
    pub now: TestReport,
    /// Outcomes with the steering files of the start, where only tests load these files and the check is red.
    pub with_judges_of_then: Option<TestReport>,
    /// Outcomes with all test files of the start, and the names of these files, where the check is red with them.
    pub with_tests_of_then: Option<(TestReport, Vec<String>)>,
}

impl ClaimComparison {
    /// Files that the green check needs; none where all tests of the start pass without them, as with a new fixture.
    pub(crate) fn judging_files(&self, started: &TestReport) -> &[String] {
        if self
            .with_judges_of_then
            .as_ref()
            .is_some_and(|then| self.is_for_new_tests(started, then))
        {
            return &[];
        }
        match &self.with_tests_of_then {
            // A report without names tells only that the changed test files made the check green.
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

    /// Note of tests that failed at the start and pass now, but fail with the test files of the start.
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

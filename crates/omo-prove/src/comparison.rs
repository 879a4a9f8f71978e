//! Comparison of the two runs of a check, with and without the change: `compare_sides` gives a `CheckProof`.
//!
//! Red without the change proves the work by a test that passes with it, or by a missing item that the change defines.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::counterfactual::{
    CheckCounterfactual, HollowAnswer, MAX_NAMED_TESTS, TestChanges, WithoutChange,
};
use omo_core::check::test_report::TestOutcome;
use serde::Serialize;

use crate::failure::{Failure, FailureAnswer, MAX_LINES, NOT_RUN, count_tests, last_lines};
use crate::side_outcome::SideOutcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WithChange {
    Green,
    Red,
    /// Could not be run; `red` in JSON, with a reason.
    #[serde(rename = "red")]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestComparison {
    /// Name by its runner.
    pub name: String,
    pub with: TestState,
    pub without: TestState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TestState {
    Passed,
    Failed,
    Skipped,
    /// Test that is not there on this side.
    Absent,
    /// Test that the runner did not name.
    Unknown,
}

/// Result of one check, a row of `Proof`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckProof {
    /// Command, such as `cargo test`.
    pub run: String,
    pub with: WithChange,
    pub without: WithoutChange,
    /// Reason of the result, in one sentence.
    pub reason: String,
    /// Result with emptied functions, see `hollow`.
    pub hollow: HollowAnswer,
    /// Lines of output that show the reason.
    pub lines: Vec<String>,
    /// Tests of both sides by name, see `compare_tests`.
    pub tests: Vec<TestComparison>,
}

impl CheckProof {
    /// `true` where the check is green with the change, and notices a missing change.
    pub fn is_proved(&self) -> bool {
        self.with == WithChange::Green && self.without.shows_change(&self.hollow) == Some(true)
    }

    /// `true` where the check certainly shows nothing.
    pub fn is_refuted(&self) -> bool {
        self.with == WithChange::Red || self.without.shows_change(&self.hollow) == Some(false)
    }

    pub fn summarize(&self, name: &str) -> CheckCounterfactual {
        let mut tests = TestChanges::default();
        let mut shows_nothing = Vec::new();
        for test in &self.tests {
            match (test.without, test.with) {
                (TestState::Failed | TestState::Absent, TestState::Passed) => tests.to_passing += 1,
                (TestState::Passed, TestState::Passed) => {
                    tests.passed_before += 1;
                    if shows_nothing.len() < MAX_NAMED_TESTS {
                        shows_nothing.push(test.name.clone());
                    }
                }
                _ => {}
            }
        }
        let (without, reason, hollow) = (self.without, self.reason.clone(), self.hollow.clone());
        let name = name.to_owned();
        CheckCounterfactual {
            name,
            without,
            reason,
            hollow,
            tests,
            shows_nothing,
            ..CheckCounterfactual::default()
        }
    }

    /// Result of a check that is not green with the change: the other side says nothing.
    pub fn not_green_with_change(run: &str, with: &SideOutcome) -> Self {
        let is_told = with
            .end
            .status()
            .is_some_and(|status| !NOT_RUN.contains(&status));
        let (state, why) = if is_told {
            (WithChange::Red, "it is not green with the change")
        } else {
            (WithChange::Unknown, "it could not be run with the change")
        };
        Self {
            run: run.to_owned(),
            with: state,
            without: WithoutChange::Unknown,
            reason: format!("{why}: {}", with.detail),
            hollow: HollowAnswer::default(),
            lines: last_lines(with),
            tests: compare_tests(with, None),
        }
    }

    /// Result of a check that could be run on neither side.
    pub fn not_runnable(run: &str, reason: String) -> Self {
        let (with, without) = (WithChange::Unknown, WithoutChange::Unknown);
        let hollow = HollowAnswer::default();
        Self {
            run: run.to_owned(),
            with,
            without,
            reason,
            hollow,
            lines: Vec::new(),
            tests: Vec::new(),
        }
    }

    /// Result of a check that is green with the change, and could not be run without it.
    pub fn not_run_without_change(run: &str, with: &SideOutcome, reason: String) -> Self {
        Self {
            run: run.to_owned(),
            with: WithChange::Green,
            without: WithoutChange::Unknown,
            reason,
            hollow: HollowAnswer::default(),
            lines: Vec::new(),
            tests: compare_tests(with, None),
        }
    }

    /// Result of a check whose second run with the same files differs from the first.
    pub fn not_repeatable(
        run: &str,
        with: &SideOutcome,
        is_with_change: bool,
        second_run: &SideOutcome,
    ) -> Self {
        let (side, first) = if is_with_change {
            ("with", "green")
        } else {
            ("without", "red")
        };
        let reason = format!(
            "two runs {side} the change differ: {first} first, then {}",
            second_run.detail
        );
        Self {
            lines: last_lines(second_run),
            ..Self::not_run_without_change(run, with, reason)
        }
    }
}

/// Input of `compare_sides` about the change.
#[derive(Clone, Debug, Default)]
pub struct ChangeFacts {
    /// Words that only the source code with the change has, such as `add_item`.
    pub defined: BTreeSet<String>,
    /// File with tests that exist only with the change.
    pub unseparated_tests: Option<String>,
    /// File whose form without the change is not known.
    pub unknown_file: Option<String>,
}

/// Compares the sides of a check that is green with the change.
pub fn compare_sides(
    run: &str,
    with: &SideOutcome,
    without: &SideOutcome,
    facts: &ChangeFacts,
) -> CheckProof {
    let mut tests = compare_tests(with, Some(without));
    let JudgedSide {
        answer,
        reason,
        lines,
    } = judge_without(run, with, without, facts, &tests);
    if answer.is_red()
        && !ended_early(without)
        && without
            .report
            .counts
            .is_none_or(|counts| counts.run == counts.failed)
    {
        // No test passed, since nothing could be built or imported: tests without an outcome are absent.
        tests
            .iter_mut()
            .filter(|test| test.without == TestState::Unknown)
            .for_each(|test| test.without = TestState::Absent);
    }
    let hollow = HollowAnswer::default();
    CheckProof {
        run: run.to_owned(),
        with: WithChange::Green,
        without: answer,
        reason,
        hollow,
        lines,
        tests,
    }
}

struct JudgedSide {
    answer: WithoutChange,
    reason: String,
    lines: Vec<String>,
}

impl JudgedSide {
    fn unknown(reason: String, lines: Vec<String>) -> Self {
        Self {
            answer: WithoutChange::Unknown,
            reason,
            lines,
        }
    }
}

fn judge_without(
    run: &str,
    with: &SideOutcome,
    without: &SideOutcome,
    facts: &ChangeFacts,
    tests: &[TestComparison],
) -> JudgedSide {
    if without.is_green() {
        return judge_green(with, without, facts, tests);
    }
    let failing: Vec<&str> = failing_names(tests).collect();
    let failure = Failure {
        run,
        side: without,
        side_words: "without the change",
        failing: &failing,
        absent_words: absent_words(tests),
        is_runner: with.report.counts.is_some() || without.report.counts.is_some(),
        reads_other_languages: false,
        doubt: facts.unknown_file.as_deref().map(unknown_file_reason),
    };
    let (answer, reason, lines) = match failure.judge(|item| facts.defined.contains(item)) {
        FailureAnswer::Red { reason, lines, .. } => (WithoutChange::Red, reason, lines),
        FailureAnswer::NotBuilt { reason, lines } => (WithoutChange::NotBuilt, reason, lines),
        FailureAnswer::Unknown { reason } => {
            return JudgedSide::unknown(reason, last_lines(without));
        }
    };
    JudgedSide {
        answer,
        reason,
        lines,
    }
}

fn failing_names(tests: &[TestComparison]) -> impl Iterator<Item = &str> {
    tests
        .iter()
        .filter(|test| {
            test.without == TestState::Failed
                && matches!(test.with, TestState::Passed | TestState::Unknown)
        })
        .map(|test| test.name.as_str())
}

/// Tests that fail on the other side only.
pub(crate) fn find_failing(with: &SideOutcome, other: &SideOutcome) -> Vec<String> {
    failing_names(&compare_tests(with, Some(other)))
        .map(str::to_owned)
        .collect()
}

fn judge_green(
    with: &SideOutcome,
    without: &SideOutcome,
    facts: &ChangeFacts,
    tests: &[TestComparison],
) -> JudgedSide {
    let absent: Vec<&str> = tests
        .iter()
        .filter(|test| test.without == TestState::Absent)
        .map(|test| test.name.as_str())
        .collect();
    let added_tests = match (with.report.counts, without.report.counts) {
        (Some(with), Some(without)) => with.run.saturating_sub(without.run),
        _ => 0,
    };
    let added_tests = usize::try_from(added_tests)
        .unwrap_or(usize::MAX)
        .max(absent.len());
    if added_tests > 0 {
        let count = count_tests(added_tests, "test is", "tests are");
        let reason = format!(
            "{count} only there with the change, in files that are not test files, and could not be separated"
        );
        let names = absent.iter().take(MAX_LINES);
        return JudgedSide::unknown(reason, names.map(|name| (*name).to_owned()).collect());
    }
    if let Some(file) = &facts.unknown_file {
        return JudgedSide::unknown(unknown_file_reason(file), Vec::new());
    }
    if let Some(file) = &facts.unseparated_tests {
        let reason = format!(
            "the tests in {file} could not be separated: without the change they are not there"
        );
        return JudgedSide::unknown(reason, Vec::new());
    }
    JudgedSide {
        answer: WithoutChange::Green,
        reason: "it is green without the change, too: it shows nothing about this work".to_owned(),
        lines: Vec::new(),
    }
}

fn unknown_file_reason(file: &str) -> String {
    format!(
        "{file} could not be separated: git keeps another form of it, and what it was is not known"
    )
}

fn absent_words(tests: &[TestComparison]) -> String {
    match tests
        .iter()
        .filter(|test| test.without == TestState::Absent)
        .count()
    {
        0 => String::new(),
        absent => format!(
            ", {} not there",
            count_tests(absent, "test is", "tests are")
        ),
    }
}

/// Tests of both sides by name; a runner that names only failures leaves the rest unknown.
fn compare_tests(with: &SideOutcome, without: Option<&SideOutcome>) -> Vec<TestComparison> {
    let names: BTreeSet<&str> = [Some(with), without]
        .into_iter()
        .flatten()
        .flat_map(|side| side.report.iter().map(|(name, _)| name))
        .collect();
    let compared = names.into_iter().map(|name| TestComparison {
        name: name.to_owned(),
        with: test_state(with, name),
        without: without.map_or(TestState::Unknown, |side| test_state(side, name)),
    });
    compared.collect()
}

fn test_state(side: &SideOutcome, name: &str) -> TestState {
    match side.report.outcome(name) {
        Some(TestOutcome::Passed) => TestState::Passed,
        Some(TestOutcome::Failed) => TestState::Failed,
        Some(TestOutcome::Skipped) => TestState::Skipped,
        None if ended_early(side) && !names_test_of_same_program(side, name) => TestState::Unknown,
        None if side.report.names_passed_tests() && !side.report.is_cut => TestState::Absent,
        // Only failed tests are named, and all others that ran passed.
        None if side
            .report
            .counts
            .is_some_and(|counts| counts.failed == 0 && counts.skipped == 0 && counts.run > 0) =>
        {
            TestState::Passed
        }
        None => TestState::Unknown,
    }
}

/// A cargo without `--no-fail-fast` that stopped after a failed test program.
fn ended_early(side: &SideOutcome) -> bool {
    side.lines.iter().any(|line| {
        line.trim_start()
            .starts_with("error: test failed, to rerun pass")
    })
}

fn names_test_of_same_program(side: &SideOutcome, name: &str) -> bool {
    let program = name.split_once("::").map(|(program, _)| program);
    side.report
        .iter()
        .any(|(other, _)| other.split_once("::").map(|(program, _)| program) == program)
}

/// Number of tests by change of state, such as `failing to passing`.
pub fn count_changes(tests: &[TestComparison]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for test in tests {
        let word = match (test.without, test.with) {
            (TestState::Failed, TestState::Passed) => "failing to passing",
            (TestState::Absent, TestState::Passed) => "absent to passing",
            (TestState::Passed, TestState::Passed) => "passed before",
            (TestState::Passed, TestState::Failed) => "passing to failing",
            (TestState::Passed, TestState::Skipped) => "passing to skipped",
            (TestState::Passed, TestState::Absent) => "gone",
            _ => continue,
        };
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests;

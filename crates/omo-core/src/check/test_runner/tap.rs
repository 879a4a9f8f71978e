//! Reader of the Test Anything Protocol of `bats`, `prove -v` and others; node's is in `node`.

use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, _arguments: &[&str]) -> bool {
    matches!(program, "bats" | "prove")
}

#[derive(Debug, Default)]
pub(super) struct Tap {
    counts: TestCounts,
    /// The `3` of `1..3`, above or below the tests.
    planned: Option<u64>,
    has_ended_early: bool,
    is_of_node: bool,
}

impl Tap {
    /// Reads the next line; a named test goes into `report`.
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        self.is_of_node |= line.starts_with("# Subtest: ") || line.starts_with("# duration_ms ");
        if self.is_of_node {
            return;
        }
        self.has_ended_early |= line.starts_with("Bail out!");
        if let Some(number) = line.strip_prefix("1..") {
            let number = number.split(' ').next().unwrap_or(number).parse().ok();
            self.planned = number
                .map(|number: u64| number.saturating_add(self.planned.unwrap_or_default()))
                .or(self.planned);
        } else if let Some((name, outcome)) = test(line) {
            report.add_test(name, outcome);
            let (failed, skipped) = (
                outcome == TestOutcome::Failed,
                outcome == TestOutcome::Skipped,
            );
            self.counts = self.counts.plus(TestCounts {
                run: u64::from(!skipped),
                failed: failed.into(),
                skipped: skipped.into(),
            });
        }
    }

    /// `None` without a plan such as `1..3`. Planned tests that never came count as failed.
    pub(super) fn counts(&self) -> Option<TestCounts> {
        let planned = self.planned.filter(|_| !self.is_of_node)?;
        let seen = self.counts.run.saturating_add(self.counts.skipped);
        let missing = planned
            .saturating_sub(seen)
            .max(u64::from(self.has_ended_early));
        Some(self.counts.plus(TestCounts {
            run: missing,
            failed: missing,
            skipped: 0,
        }))
    }
}

/// `ok 1 - name`, `not ok 2 name`, with `# SKIP why` or `# TODO why` behind it.
pub(super) fn test(line: &str) -> Option<(&str, TestOutcome)> {
    let (rest, outcome) = match line.strip_prefix("not ok ") {
        Some(rest) => (rest, TestOutcome::Failed),
        None => (line.strip_prefix("ok ")?, TestOutcome::Passed),
    };
    let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
    number.parse::<u32>().ok()?;
    let name = name.trim_start_matches("- ");
    let (name, outcome) = match name.split_once("# ") {
        Some((name, mark)) if is_skipped(mark) => (name.trim_end(), TestOutcome::Skipped),
        _ => (name, outcome),
    };
    // A test without a name has its number.
    Some((if name.is_empty() { number } else { name }, outcome))
}

fn is_skipped(mark: &str) -> bool {
    let word = mark.get(..4).unwrap_or_default();
    word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo")
}

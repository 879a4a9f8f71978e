//! Reader of sums such as `3 passed, 1 failed`, for runners without a reader of their own (uvu,
//! `RSpec`, minitest, `PHPUnit`, Maven, .NET, `ExUnit`) and for programs that count by hand.

use crate::check::session_check::TestCounts;

/// Labels of totals, which count only beside passed tests.
const TOTALS: [&str; 9] = [
    "total",
    "tests",
    "test",
    "tests run",
    "examples",
    "example",
    "runs",
    "run",
    "test cases",
];
const PASSED: [&str; 4] = ["passed", "passes", "pass", "passing"];
const FAILED: [&str; 8] = [
    "failed", "failures", "failure", "fail", "failing", "errors", "error", "broken",
];
const SKIPPED: [&str; 5] = ["skipped", "skips", "skip", "pending", "incomplete"];

#[derive(Clone, Copy, Debug, Default)]
struct LabelledNumbers {
    total: Option<u64>,
    is_of_tests: bool,
    passed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
}

impl LabelledNumbers {
    fn add(&mut self, label: &str, number: u64) -> bool {
        let place = match label {
            _ if TOTALS.contains(&label) => &mut self.total,
            _ if PASSED.contains(&label) => &mut self.passed,
            _ if FAILED.contains(&label) => &mut self.failed,
            _ if SKIPPED.contains(&label) => &mut self.skipped,
            _ => return false,
        };
        *place = Some(place.unwrap_or_default().saturating_add(number));
        self.is_of_tests |= TOTALS.contains(&label) && label != "total" || label == "passing";
        true
    }

    /// The counts of a total beside an outcome, unless it is 0. Failed tests count as run: the exit
    /// status decides about a check.
    fn counts(&self) -> Option<TestCounts> {
        let (failed, skipped) = (
            self.failed.unwrap_or_default(),
            self.skipped.unwrap_or_default(),
        );
        let run = match (self.passed, self.total.filter(|_| self.is_of_tests)) {
            (Some(passed), total) if self.is_of_tests || total.or(self.total).is_some() => {
                passed.saturating_add(failed)
            }
            (None, Some(total)) if self.failed.or(self.skipped).is_some() => {
                total.saturating_sub(skipped)
            }
            _ => return None,
        };
        let is_sum = run > 0
            || skipped > 0
            || (self.is_of_tests && self.passed.is_some() && self.total.is_none());
        is_sum.then_some(TestCounts {
            run,
            failed: 0,
            skipped,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct SummaryLines {
    sum: Option<TestCounts>,
    open: LabelledNumbers,
}

impl SummaryLines {
    /// Reads the next line of the output.
    pub(super) fn line(&mut self, line: &str) {
        let mut numbers = LabelledNumbers::default();
        let parts = line
            .split([',', ';', '|'])
            .filter_map(|part| part.rsplit(" - ").next());
        let labelled: Vec<(String, u64)> = parts.filter_map(labelled_number).collect();
        let count = labelled
            .iter()
            .filter(|(label, number)| numbers.add(label, *number))
            .count();
        match labelled.as_slice() {
            [(label, number)] if count == 1 => {
                if numbers.total.is_some() {
                    self.close();
                }
                self.open.add(label, *number);
            }
            _ if !line.trim().is_empty() => {
                self.close();
                self.add(numbers.counts());
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.add(open.counts());
    }

    fn add(&mut self, counts: Option<TestCounts>) {
        self.sum = self.sum.into_iter().chain(counts).reduce(TestCounts::plus);
    }

    pub(super) fn counts(mut self) -> Option<TestCounts> {
        self.close();
        self.sum
    }
}

/// `Passed: 3` or `3 passed`, with the label in lower case.
fn labelled_number(part: &str) -> Option<(String, u64)> {
    let part = part.trim().trim_end_matches('.');
    let (label, number) = match part.split_once(':') {
        Some((label, number)) => (label, number),
        None => part
            .split_once(' ')
            .map(|(number, label)| (label, number))?,
    };
    let label = label.split(" (").next().unwrap_or(label);
    Some((label.trim().to_lowercase(), number.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_other_runners_are_read() {
        for (output, counts) in [
            (
                "  Total:     32\n  Passed:    31\n  Skipped:   2\n  Duration:  1.67ms\n",
                Some((31, 0, 2)),
            ),
            ("  2 passing (5ms)\n  1 pending\n\n", Some((2, 0, 1))),
            ("  0 passing (1ms)\n", Some((0, 0, 0))),
            ("Total: 12 | Skipped: 3\n", None),
            ("Total: 120\nErrors: 2\n", None),
            (
                "  Total:     0\n  Passed:    0\n  Skipped:   32\n",
                Some((0, 0, 32)),
            ),
            ("5 examples, 1 failure, 1 pending\n", Some((4, 0, 1))),
            (
                "5 runs, 9 assertions, 1 failures, 1 errors, 1 skips\n",
                Some((4, 0, 1)),
            ),
            (
                "Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.\n",
                Some((4, 0, 1)),
            ),
            (
                "Tests run: 5, Failures: 0, Errors: 0, Skipped: 2\n",
                Some((3, 0, 2)),
            ),
            (
                "Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5\n",
                Some((4, 0, 1)),
            ),
            (
                "46 tests, 46 passed, 0 failed\n46 tests, 45 passed, 1 failed\n",
                Some((92, 0, 0)),
            ),
            ("3 tests\n", None),
            ("0 errors, 0 warnings\n", None),
            ("0 tests, 0 failures\n", None),
            ("Found 5 tests, 2 failed to open\n", None),
            ("12:30: passed\n", None),
        ] {
            let mut summary = SummaryLines::default();
            output.lines().for_each(|line| summary.line(line));
            let counts = counts.map(|(run, failed, skipped)| TestCounts {
                run,
                failed,
                skipped,
            });
            assert_eq!(summary.counts(), counts, "{output}");
        }
    }
}

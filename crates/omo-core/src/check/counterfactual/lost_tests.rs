//! Tests of the start that no longer run and pass, by name, or by number.

use serde::{Deserialize, Serialize};

use super::{MAX_NAMED_TESTS, list_names};
use crate::check::renamed_tests::RenamedTests;
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};
use crate::text::pluralize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LostTests {
    /// Passed then, absent now.
    pub gone: NamedTests,
    /// Ran then, skipped now, or expected to fail.
    pub skipped: NamedTests,
    /// Failed then, not run now.
    pub failing_not_run: NamedTests,
    /// Failed then, passes with the present tests on the old files.
    pub changed: NamedTests,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NamedTests {
    pub count: usize,
    /// At most [`MAX_NAMED_TESTS`].
    pub names: Vec<String>,
}

impl NamedTests {
    fn add(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < MAX_NAMED_TESTS {
            self.names.push(name.to_owned());
        }
    }
}

impl LostTests {
    pub fn names_some_alone(&self) -> bool {
        [
            &self.gone,
            &self.skipped,
            &self.failing_not_run,
            &self.changed,
        ]
        .iter()
        .any(|tests| tests.count > tests.names.len())
    }

    /// Compares the named tests of a check at the start with those of now. A test with another
    /// name, by its place or a number in it, is the same test.
    pub fn compare(started: &TestReport, now: &TestReport) -> Self {
        let mut lost = Self::default();
        let names_all = now.names_passed_tests() && !now.is_cut;
        let names_passed = are_names_whole(started, now);
        let mut renamed = RenamedTests::of(started, now);
        for (name, outcome) in started.iter() {
            let is_fewer = now.times(name) < started.times(name);
            let outcome_now = now
                .outcome(name)
                .filter(|outcome| !is_fewer || *outcome != TestOutcome::Passed);
            let outcome_now = outcome_now.or_else(|| renamed.take(name, outcome));
            let names = match (outcome, outcome_now) {
                (TestOutcome::Passed | TestOutcome::Failed, Some(TestOutcome::Skipped)) => {
                    &mut lost.skipped
                }
                (TestOutcome::Passed, None) if names_passed => &mut lost.gone,
                (TestOutcome::Failed, None) if names_all => &mut lost.failing_not_run,
                _ => continue,
            };
            names.add(name);
        }
        lost
    }

    /// Adds tests that failed at the start, and pass with the present tests on the old files.
    #[must_use]
    pub fn with_changed<'a>(
        mut self,
        started: &TestReport,
        pass_without_change: impl Iterator<Item = &'a str>,
    ) -> Self {
        let failed =
            pass_without_change.filter(|name| started.outcome(name) == Some(TestOutcome::Failed));
        failed.for_each(|name| self.changed.add(name));
        self
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let lists = [
            (&self.gone, "gone"),
            (&self.skipped, "skipped now"),
            (
                &self.failing_not_run,
                "failing at the start and not run now",
            ),
            (
                &self.changed,
                "failing at the start and passing by a change of the tests alone",
            ),
        ];
        lists
            .into_iter()
            .filter(|(tests, _)| tests.count > 0)
            .map(|(tests, word)| {
                format!(
                    "{} {word}: {}",
                    pluralize(tests.count, "test"),
                    list_names(&tests.names, tests.count)
                )
            })
    }
}

/// Output may be cut, and a test may print a name.
fn are_names_whole(started: &TestReport, now: &TestReport) -> bool {
    now.names_passed_tests()
        && !now.is_cut
        && now.count_unnamed() <= started.count_unnamed()
        && now.count_surplus() <= started.count_surplus()
}

pub fn compare_counts(started: &TestReport, now: &TestReport) -> Option<String> {
    match (started.counts, now.counts) {
        (Some(first), None) => Some(format!(
            "{first} at the start, and how many tests run now is not known"
        )),
        (Some(first), Some(last)) if last.run < first.run && !are_names_whole(started, now) => {
            Some(format!(
                "{} ran at the start, {} now",
                pluralize_count(first.run),
                last.run
            ))
        }
        (Some(first), Some(last))
            if last.skipped > first.skipped && !are_names_whole(started, now) =>
        {
            Some(format!(
                "{} skipped at the start, {} now",
                pluralize_count(first.skipped),
                last.skipped
            ))
        }
        (_, Some(last)) if now.count_surplus() > started.count_surplus() => {
            let ran = last.run.saturating_add(last.skipped);
            Some(format!(
                "{} named, and {ran} counted",
                pluralize_count(ran.saturating_add(now.count_surplus()))
            ))
        }
        _ => None,
    }
}

/// Compares the counts with those in a private copy, which skips some tests from the start.
pub fn compare_places(here: TestCounts, copy: &TestReport, started: &TestReport) -> Option<String> {
    let counts = copy.counts?;
    let skipped = started.counts.map_or(0, |started| started.skipped);
    let is_known = counts.skipped > here.skipped && counts.skipped <= skipped;
    // A quiet Go counts packages.
    let is_other_unit = copy.is_of_go() && here.skipped == 0;
    let differs =
        !is_other_unit && (here.skipped != counts.skipped || count_all(here) != count_all(counts));
    (differs && !is_known).then(|| {
        let (run, skipped) = (pluralize_count(here.run), here.skipped);
        format!(
            "{run} run and {skipped} skipped here, {} and {} in a private copy",
            counts.run, counts.skipped
        )
    })
}

fn count_all(counts: TestCounts) -> u64 {
    counts.run.saturating_add(counts.skipped)
}

fn pluralize_count(count: u64) -> String {
    pluralize(usize::try_from(count).unwrap_or(usize::MAX), "test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::test_runner::TestOutputReader;

    #[test]
    fn tests_that_are_lost_are_told_by_name_and_without_names_by_number() {
        let report = |output: &str| {
            let mut reader = TestOutputReader::default();
            reader.read(output.as_bytes());
            reader.report()
        };
        let started = report("1..4\nok 1 - a\nnot ok 2 - b\nok 3 - c\nok 4 - d\n");
        let lost = LostTests::compare(&started, &report("1..2\nok 1 - a\nok 2 - c # skip\n"));
        assert_eq!(
            lost.lines().collect::<Vec<_>>(),
            [
                "1 test gone: d",
                "1 test skipped now: c",
                "1 test failing at the start and not run now: b"
            ]
        );
        assert_eq!(
            LostTests::compare(
                &started,
                &report("1..4\nok 1 - a\nok 2 - b\nok 3 - c\nok 4 - d\n")
            ),
            LostTests::default()
        );
        let printed = report(
            "1..4\nok 1 - a\nnot ok 2 - b\nok 3 - c\nmuch: ok 4 - d\nok 4 - d\n"
                .replace("ok 4 - d\n", "")
                .as_str(),
        );
        assert_eq!(
            LostTests::compare(&started, &printed).gone.count,
            0,
            "a name that is not read is not gone"
        );
        let twins = report("1..3\nok 1 - a\nok 2 - a\nok 3 - b\n");
        let lost_of = |now: &str| {
            LostTests::compare(&twins, &report(now))
                .lines()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lost_of("1..3\nok 1 - a\nok 2 - b\nok 3 - c\n"),
            ["1 test gone: a"]
        );
        assert_eq!(
            lost_of("1..4\nok 1 - a\nok 2 - a\nok 3 - b\nok 4 - c\n"),
            [""; 0]
        );
        let printed = report(
            "collected\ntest_a.py::a PASSED\ntest_a.py::b PASSED\n== 1 passed in 0.01s ==\n",
        );
        assert_eq!(
            compare_counts(
                &report("test_a.py::a PASSED\n== 1 passed in 0.01s ==\n"),
                &printed
            )
            .as_deref(),
            Some("2 tests named, and 1 counted")
        );
        let quiet = |count: u64| report(&format!("{count} passed in 0.01s\n"));
        assert_eq!(
            LostTests::compare(&started, &quiet(3)),
            LostTests::default()
        );
        assert_eq!(
            compare_counts(&quiet(4), &quiet(3)).as_deref(),
            Some("4 tests ran at the start, 3 now")
        );
        assert_eq!(compare_counts(&quiet(3), &quiet(4)), None);
        assert!(compare_counts(&quiet(4), &report("all good\n")).is_some());
    }

    #[test]
    fn tests_that_a_private_copy_skips_are_told_unless_they_always_were() {
        let report = |run, skipped| {
            let mut reader = TestOutputReader::default();
            reader.read(format!("== {run} passed, {skipped} skipped in 0.01s ==\n").as_bytes());
            reader.report()
        };
        let counts = |run, skipped| TestCounts {
            run,
            failed: 0,
            skipped,
        };
        let compare = |here, copy, started| compare_places(here, &copy, &started);
        assert_eq!(compare(counts(3, 0), report(3, 0), report(2, 0)), None);
        assert_eq!(compare(counts(3, 0), report(2, 1), report(2, 1)), None);
        assert!(compare(counts(3, 0), report(2, 1), report(2, 0)).is_some());
        assert_eq!(
            compare(counts(2, 1), report(3, 0), report(3, 0)).as_deref(),
            Some("2 tests run and 1 skipped here, 3 and 0 in a private copy")
        );
        let mut go = TestOutputReader::default();
        go.read(b"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tp\t0.01s\n");
        assert_eq!(
            compare(counts(1, 0), go.report(), TestReport::default()),
            None,
            "a quiet Go counts packages"
        );
    }
}

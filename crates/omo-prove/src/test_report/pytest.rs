//! pytest: the lines of `-v` and those of the short summary. What could not be imported is no test.

use super::{TestOutcome, TestReport};

#[derive(Debug, Default)]
pub(super) struct PytestReader;

impl PytestReader {
    #[expect(clippy::unused_self, reason = "it is one of the readers")]
    pub(super) fn line(&self, line: &str, report: &mut TestReport) {
        if let Some((name, outcome)) = summary(line).or_else(|| verbose(line)) {
            report.add(name, outcome);
        }
    }
}

/// `FAILED tests/a.py::test_b - AssertionError: …`
fn summary(line: &str) -> Option<(&str, TestOutcome)> {
    let (word, rest) = line.split_once(' ')?;
    let outcome = outcome(word)?;
    let name = rest.split(" - ").next()?;
    is_test(name).then_some((name, outcome))
}

/// `tests/a.py::test_b PASSED                [ 50%]`
fn verbose(line: &str) -> Option<(&str, TestOutcome)> {
    let line = line.rsplit_once(" [").filter(|(_, rest)| rest.ends_with("%]")).map_or(line, |(before, _)| before);
    let line = line.trim_end();
    // The reason of a skipped one stands in brackets.
    let line = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")).map_or(line, |(before, _)| before);
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = outcome(word)?;
    is_test(name).then_some((name, outcome))
}

fn outcome(word: &str) -> Option<TestOutcome> {
    Some(match word {
        "PASSED" | "XPASS" => TestOutcome::Passed,
        "FAILED" | "ERROR" => TestOutcome::Failed,
        "SKIPPED" | "XFAIL" => TestOutcome::Skipped,
        _ => return None,
    })
}

fn is_test(name: &str) -> bool {
    name.split_once("::")
        .is_some_and(|(file, _)| file.rsplit_once('.').is_some_and(|(_, ending)| ending == "py") && !file.contains(' '))
}

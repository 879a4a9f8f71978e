//! `python -m unittest`: the lines of `-v`, and the headings of what failed. A module that could not be imported is no
//! test.

use super::{TestOutcome, TestReport};

/// A test with a documentation string takes two lines: its name, and the string with the outcome.
#[derive(Debug, Default)]
pub(super) struct UnittestReader {
    open: Option<String>,
}

impl UnittestReader {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        let failed = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        if let Some(name) = failed.and_then(test_name) {
            report.add(&name, TestOutcome::Failed);
            return;
        }
        let open = self.open.take();
        let ended = line.rsplit_once(" ... ").and_then(|(name, end)| Some((name, outcome(end)?)));
        if let Some((name, outcome)) = ended {
            if let Some(name) = test_name(name).or(open) {
                report.add(&name, outcome);
            }
        } else {
            self.open = test_name(line);
        }
    }
}

/// `test_a (pkg.test_b.Class.test_a)`, or `test_a (pkg.test_b.Class)` before Python 3.11; with `(i=1)` behind it for a
/// part of a test.
fn test_name(text: &str) -> Option<String> {
    let (method, rest) = text.split_once(" (")?;
    let (class, _) = rest.split_once(')')?;
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|char| char.is_alphanumeric() || "_.".contains(char));
    if !is_name(method) || !is_name(class) || !class.contains('.') || class.contains("_FailedTest") {
        return None;
    }
    let class = class.strip_suffix(method).and_then(|class| class.strip_suffix('.')).unwrap_or(class);
    Some(format!("{class}.{method}"))
}

fn outcome(end: &str) -> Option<TestOutcome> {
    Some(match end {
        "ok" | "unexpected success" => TestOutcome::Passed,
        "FAIL" | "ERROR" => TestOutcome::Failed,
        "expected failure" => TestOutcome::Skipped,
        _ if end.starts_with("skipped") => TestOutcome::Skipped,
        _ => return None,
    })
}

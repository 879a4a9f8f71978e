//! `go test -v`. Without `-v` it names only the tests that failed.

use super::{TestOutcome, TestReport};

/// Reads `--- PASS: TestName (0.00s)`; the line that names the package comes below its tests.
#[derive(Debug, Default)]
pub(super) struct GoReader {
    open: Vec<(String, TestOutcome)>,
}

impl GoReader {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        if let Some(test) = test(line.trim_start()) {
            if self.open.len() < super::MAX_TESTS {
                self.open.push(test);
            }
        } else if let Some(package) = package(line) {
            for (name, outcome) in self.open.drain(..) {
                report.add(&format!("{package}.{name}"), outcome);
            }
        }
    }
}

fn test(line: &str) -> Option<(String, TestOutcome)> {
    let (word, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
    Some((name.to_owned(), outcome))
}

/// `ok`, a tab, the package, a tab, the time; or `FAIL` in the place of `ok`.
fn package(line: &str) -> Option<&str> {
    let mut parts = line.split('\t');
    let is_end = matches!(parts.next()?.trim(), "ok" | "FAIL");
    parts.next().filter(|name| is_end && !name.is_empty())
}

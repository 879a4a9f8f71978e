//! Vitest and Jest. Both name the tests that passed only where they are told to, or where there is one file.

use super::{TestOutcome, TestReport};

/// Jest names the file above its tests; Vitest in the line of each test.
#[derive(Debug, Default)]
pub(super) struct JavaScriptReader {
    /// The file of Jest's whose tests follow.
    jest_file: Option<String>,
    /// The suites above a test of Jest's, each with its indent.
    suites: Vec<(usize, String)>,
}

impl JavaScriptReader {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        if let Some((name, outcome)) = vitest(line.trim_start()) {
            report.add(&name, outcome);
            return;
        }
        if let Some(file) = jest_file(line) {
            (self.jest_file, self.suites) = (Some(file.to_owned()), Vec::new());
            return;
        }
        if self.jest_file.is_some() {
            self.jest(line, report);
        }
    }

    fn jest(&mut self, line: &str, report: &mut TestReport) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        // What failed is told below in full, and the numbers of all of it.
        if indent == 0 || text.starts_with('●') {
            self.jest_file = None;
            return;
        }
        while self.suites.last().is_some_and(|(above, _)| *above >= indent) {
            self.suites.pop();
        }
        let Some((name, outcome)) = jest_test(text) else {
            if self.suites.len() < 64 {
                self.suites.push((indent, text.to_owned()));
            }
            return;
        };
        let file = self.jest_file.as_deref().into_iter();
        let above = file.chain(self.suites.iter().map(|(_, name)| name.as_str()));
        let parts: Vec<&str> = above.chain([name]).collect();
        report.add(&parts.join(" > "), outcome);
    }
}

/// `✓ a.test.ts > suite > name 3ms`, `× …`, `↓ …`, `FAIL  a.test.ts > suite > name`
fn vitest(text: &str) -> Option<(String, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✓" => TestOutcome::Passed,
        "×" | "FAIL" => TestOutcome::Failed,
        "↓" => TestOutcome::Skipped,
        _ => return None,
    };
    let rest = rest.trim_start();
    // With projects, the name of one stands before the file.
    let rest = rest.strip_prefix('|').and_then(|rest| Some(rest.split_once("| ")?.1)).unwrap_or(rest);
    let (file, _) = rest.split_once(" > ")?;
    is_test_file(file).then_some(())?;
    Some((without_time(rest).to_owned(), outcome))
}

/// `name 3ms`, `name (3 ms)`
fn without_time(text: &str) -> &str {
    let text = text.trim_end();
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    if let Some((name, time)) = text.rsplit_once(" (") {
        let number = time.strip_suffix(" ms)").or_else(|| time.strip_suffix(" s)"));
        return if number.is_some_and(is_number) { name } else { text };
    }
    text.rsplit_once(' ')
        .filter(|(_, time)| time.strip_suffix("ms").is_some_and(is_number))
        .map_or(text, |(name, _)| name)
}

fn jest_file(line: &str) -> Option<&str> {
    let file = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL "))?;
    let file = without_time(file);
    is_test_file(file).then_some(file)
}

fn jest_test(text: &str) -> Option<(&str, TestOutcome)> {
    let (mark, rest) = text.split_once(' ')?;
    let outcome = match mark {
        "✓" => TestOutcome::Passed,
        "✕" => TestOutcome::Failed,
        "○" | "✎" => TestOutcome::Skipped,
        _ => return None,
    };
    let rest = if outcome == TestOutcome::Skipped { rest.strip_prefix("skipped ").unwrap_or(rest) } else { rest };
    Some((without_time(rest), outcome))
}

fn is_test_file(name: &str) -> bool {
    !name.contains(' ')
        && name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"].contains(&ending))
}

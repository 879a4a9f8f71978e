//! Reader of the output of `go test`. Without `-v` it names packages, each of which counts as one
//! test.

use std::collections::HashSet;

use super::test_commands::subcommand;
use crate::check::session_check::TestCounts;
use crate::check::test_report::{MAX_TESTS, TestOutcome, TestReport};

/// Maximum tests that run at once; more are not counted.
const MAX_RUNNING: usize = 100_000;

pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    program == "go" && subcommand(arguments) == "test"
}

#[derive(Debug, Default)]
pub(super) struct Go {
    packages: Option<TestCounts>,
    tests: Option<TestCounts>,
    /// Announced tests without an end; the verdict on any other was printed by a test.
    running: HashSet<String>,
    ended: Vec<(String, TestOutcome)>,
}

impl Go {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        if line.starts_with('{') {
            return self.json(line, report);
        }
        if let Some(name) = line.strip_prefix("=== RUN ") {
            self.tests.get_or_insert_default();
            if self.running.len() < MAX_RUNNING {
                self.running.insert(name.trim().to_owned());
            }
        } else if let Some((word, name)) = verdict(line) {
            // Without `-v` no test is announced, and only failed ones are named.
            let is_announced = self.running.remove(name);
            if is_announced {
                self.count(word);
            }
            let is_named =
                is_announced || (self.tests.is_none() && line.trim_start().starts_with("--- "));
            if is_named && self.ended.len() < MAX_TESTS {
                self.ended.push((name.to_owned(), outcome(word)));
            }
        } else if let Some(counts) = package(line) {
            super::add_counts(&mut self.packages, counts);
            if let Some(package) = package_name(line) {
                for (name, outcome) in self.ended.drain(..) {
                    report.add(&format!("{package}.{name}"), outcome);
                }
            }
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        // With `-v` and without tests, the packages count.
        self.tests.or(self.packages)
    }

    fn count(&mut self, word: &str) {
        let (run, failed, skipped) = match word {
            "PASS" => (1, 0, 0),
            "FAIL" => (1, 1, 0),
            _ => (0, 0, 1),
        };
        super::add_counts(
            &mut self.tests,
            TestCounts {
                run,
                failed,
                skipped,
            },
        );
    }

    /// `{"Time":…,"Action":"pass","Package":"p","Test":"TestX","Elapsed":0}`
    fn json(&mut self, line: &str, report: &mut TestReport) {
        let is_go = line.contains("\"Package\":\"") || line.contains("\"ImportPath\":\"");
        let Some((_, action)) = line.split_once("\"Action\":\"").filter(|_| is_go) else {
            return;
        };
        let action = action.split('"').next().unwrap_or_default();
        let word = match action {
            "start" | "run" => {
                self.tests.get_or_insert_default();
                return;
            }
            "pass" => "PASS",
            "fail" => "FAIL",
            "skip" => "SKIP",
            _ => return,
        };
        if let Some(test) = json_value(line, "\"Test\":\"") {
            self.count(word);
            if let Some(package) = json_value(line, "\"Package\":\"") {
                report.add(&format!("{package}.{test}"), outcome(word));
            }
        }
    }
}
/// The text behind a key such as `"Test":"`.
fn json_value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.split_once(key)
        .and_then(|(_, rest)| rest.split('"').next())
}

/// `--- PASS: TestX (0.00s)`, with an indent for a part, and behind other output.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let at = line.rfind("--- ")?;
    let (verdict, rest) = line.get(at + 4..)?.split_once(": ")?;
    let (name, _) = rest.rsplit_once(" (")?;
    matches!(verdict, "PASS" | "FAIL" | "SKIP").then_some((verdict, name))
}

/// `ok  <tab>p<tab>0.002s`, `FAIL<tab>p [build failed]`, `?   <tab>p<tab>[no test files]`
fn package(line: &str) -> Option<TestCounts> {
    let (status, rest) = line.split_once('\t')?;
    let is_empty = rest.contains("[no tests to run]") || rest.contains("[no test files]");
    match status.trim_end() {
        "ok" | "?" if is_empty => Some(TestCounts::default()),
        "ok" => Some(TestCounts {
            run: 1,
            ..TestCounts::default()
        }),
        "FAIL" => Some(TestCounts {
            run: 1,
            failed: 1,
            ..TestCounts::default()
        }),
        _ => None,
    }
}

fn outcome(word: &str) -> TestOutcome {
    match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        _ => TestOutcome::Skipped,
    }
}

fn package_name(line: &str) -> Option<&str> {
    line.split('\t').nth(1).filter(|name| !name.is_empty())
}

//! `go test`. Without `-v` it names packages and not tests: then a package counts as one.

use super::test_commands::subcommand;
use std::collections::HashSet;

use crate::check::session_check::TestCounts;

/// So many tests may run at once; of more the rest is not counted.
const MAX_RUNNING: usize = 100_000;

/// Whether the command runs tests with it.
pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    program == "go" && subcommand(arguments) == "test"
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Go {
    packages: Option<TestCounts>,
    tests: Option<TestCounts>,
    /// Tests that began and have not ended: a verdict about another one was printed by a test.
    running: HashSet<String>,
}

impl Go {
    pub(super) fn line(&mut self, line: &str) {
        if line.starts_with('{') {
            return self.json(line);
        }
        if let Some(name) = line.strip_prefix("=== RUN ") {
            self.tests.get_or_insert_default();
            if self.running.len() < MAX_RUNNING {
                self.running.insert(name.trim().to_owned());
            }
        } else if let Some((verdict, name)) = verdict(line) {
            if self.running.remove(name) {
                match verdict {
                    "PASS" => self.test(1, 0, 0),
                    "FAIL" => self.test(1, 1, 0),
                    _ => self.test(0, 0, 1),
                }
            }
        } else if let Some(counts) = package(line) {
            super::add_counts(&mut self.packages, counts);
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        // With `-v`, and no test at all, the packages say so.
        self.tests.or(self.packages)
    }

    fn test(&mut self, run: u64, failed: u64, skipped: u64) {
        super::add_counts(&mut self.tests, TestCounts { run, failed, skipped });
    }

    /// `{"Time":…,"Action":"pass","Package":"p","Test":"TestX","Elapsed":0}`
    fn json(&mut self, line: &str) {
        let is_go = line.contains("\"Package\":\"") || line.contains("\"ImportPath\":\"");
        let Some((_, action)) = line.split_once("\"Action\":\"").filter(|_| is_go) else { return };
        let action = action.split('"').next().unwrap_or_default();
        let is_test = line.contains("\"Test\":\"");
        match action {
            "start" | "run" => {
                self.tests.get_or_insert_default();
            }
            "pass" if is_test => self.test(1, 0, 0),
            "fail" if is_test => self.test(1, 1, 0),
            "skip" if is_test => self.test(0, 0, 1),
            _ => {}
        }
    }
}

/// `--- PASS: TestX (0.00s)`, indented for a part of a test, and behind what a test printed last.
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
        "ok" => Some(TestCounts { run: 1, ..TestCounts::default() }),
        "FAIL" => Some(TestCounts { run: 1, failed: 1, ..TestCounts::default() }),
        _ => None,
    }
}

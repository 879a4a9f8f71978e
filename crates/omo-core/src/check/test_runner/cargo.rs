//! `cargo test` (libtest, which almost all tests on stable Rust use) and `cargo nextest run`.

use super::test_commands::subcommand;
use super::{add_counts, parse_numbered_words};
use crate::check::session_check::TestCounts;

/// Whether the command runs tests with it.
pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    let is_nextest_run = || arguments.iter().any(|word| matches!(*word, "run" | "r"));
    match subcommand(arguments) {
        "test" | "t" => program == "cargo",
        "nextest" => program == "cargo" && is_nextest_run(),
        _ => false,
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Cargo {
    total: Option<TestCounts>,
    /// The last summary of nextest since it started: what a test prints comes before it.
    nextest: Option<TestCounts>,
    /// `running N tests` was read, and not yet how they ended.
    running: Option<u64>,
    /// nextest has started: it shows what failed tests printed, libtest's own summary among it.
    in_nextest: bool,
}

impl Cargo {
    pub(super) fn line(&mut self, line: &str) {
        let trimmed = line.trim_start();
        if let Some(counts) = nextest(trimmed).filter(|_| self.in_nextest) {
            self.nextest = Some(counts);
        } else if trimmed.starts_with("Starting ") && trimmed.contains(" across ") {
            self.give_up();
            self.in_nextest = true;
            self.total = self.counts();
            self.nextest = None;
        } else if trimmed.starts_with("Running ") || trimmed.starts_with("Doc-tests ") {
            // The next program of `cargo test`.
            self.give_up();
            self.in_nextest = false;
        } else if let Some(number) = running(line).filter(|_| !self.in_nextest) {
            self.running.get_or_insert(number);
        } else if line.ends_with(" benchmarks") && is_list(line) {
            add_counts(&mut self.total, TestCounts::default());
        } else if !self.in_nextest
            && let Some(counts) = libtest(line)
            && self.running == Some(counts.run.saturating_add(counts.skipped))
        {
            // What a test printed does not fit to what was announced first.
            self.running = None;
            add_counts(&mut self.total, counts);
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        let open = self.running.and_then(unended);
        [self.total, self.nextest, open].into_iter().flatten().reduce(TestCounts::plus)
    }

    /// Tests that were announced and never came to an end, a program that left early say, failed.
    fn give_up(&mut self) {
        if let Some(counts) = self.running.take().and_then(unended) {
            add_counts(&mut self.total, counts);
        }
    }
}

fn unended(announced: u64) -> Option<TestCounts> {
    (announced > 0).then_some(TestCounts { run: announced, failed: announced, skipped: 0 })
}

/// `3 tests, 0 benchmarks`: they were listed, and not run.
fn is_list(line: &str) -> bool {
    let mut words = line.split(' ');
    words.next().is_some_and(|number| number.parse::<u64>().is_ok()) && matches!(words.next(), Some("test," | "tests,"))
}

/// `running 3 tests`
fn running(line: &str) -> Option<u64> {
    let (number, word) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| number.parse().ok()).flatten()
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`
fn libtest(line: &str) -> Option<TestCounts> {
    let (_, list) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = TestCounts::default();
    for (number, word) in parse_numbered_words(list, ";").flatten() {
        match word {
            "passed" | "measured" => counts.run = counts.run.saturating_add(number),
            "failed" => {
                counts.run = counts.run.saturating_add(number);
                counts.failed = number;
            }
            "ignored" => counts.skipped = number,
            // What was filtered out was not asked for.
            _ => {}
        }
    }
    Some(counts)
}

/// `Summary [   0.012s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`, with `2/3 tests` in
/// place of the number where not all were run.
fn nextest(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once(']')?;
    let (run, list) = rest.split_once(" run:")?;
    let run = run.trim().split([' ', '/']).next()?.parse().ok()?;
    let mut counts = TestCounts { run, ..TestCounts::default() };
    for (number, word) in parse_numbered_words(list, ",").flatten() {
        match word.split(" (").next().unwrap_or(word) {
            "failed" | "timed out" | "exec failed" => counts.failed = counts.failed.saturating_add(number),
            "skipped" => counts.skipped = number,
            _ => {}
        }
    }
    Some(counts)
}

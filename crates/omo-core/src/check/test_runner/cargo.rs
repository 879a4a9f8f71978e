//! Reader of the output of `cargo test` (libtest) and `cargo nextest run`.

use super::test_commands::subcommand;
use super::{add_counts, parse_numbered_words};
use crate::check::session_check::TestCounts;
use crate::check::test_report::{TestOutcome, TestReport};

pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    match subcommand(arguments) {
        "test" | "t" => program == "cargo",
        "nextest" => {
            program == "cargo" && arguments.iter().any(|word| matches!(*word, "run" | "r"))
        }
        _ => false,
    }
}

#[derive(Debug, Default)]
pub(super) struct Cargo {
    total: Option<TestCounts>,
    nextest: Option<TestCounts>,
    running: Option<u64>,
    /// Behind the start of nextest, which shows libtest's summaries of failed tests.
    in_nextest: bool,
    program: String,
}

impl Cargo {
    /// Reads the next line; a named test goes into `report`.
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        let trimmed = line.trim_start();
        if let Some(program) = running_program(trimmed) {
            self.program = program;
        } else if let Some((name, outcome)) = libtest_line(line).filter(|_| !self.in_nextest) {
            let separator = if self.program.is_empty() { "" } else { "::" };
            report.add_test(&format!("{}{separator}{name}", self.program), outcome);
        } else if let Some((name, outcome)) = nextest_line(trimmed) {
            report.add(&name, outcome);
        }
        if let Some(counts) = nextest(trimmed).filter(|_| self.in_nextest) {
            self.nextest = Some(counts);
        } else if trimmed.starts_with("Starting ") && trimmed.contains(" across ") {
            self.give_up();
            self.in_nextest = true;
            self.total = self.counts();
            self.nextest = None;
        } else if trimmed.starts_with("Running ") || trimmed.starts_with("Doc-tests ") {
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
            self.running = None;
            add_counts(&mut self.total, counts);
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        let open = self.running.and_then(unended);
        [self.total, self.nextest, open]
            .into_iter()
            .flatten()
            .reduce(TestCounts::plus)
    }

    /// Counts announced tests without an end as failed, as in a program that exited early.
    fn give_up(&mut self) {
        if let Some(counts) = self.running.take().and_then(unended) {
            add_counts(&mut self.total, counts);
        }
    }
}

fn unended(announced: u64) -> Option<TestCounts> {
    (announced > 0).then_some(TestCounts {
        run: announced,
        failed: announced,
        skipped: 0,
    })
}

/// `3 tests, 0 benchmarks`: listed, not run.
fn is_list(line: &str) -> bool {
    let mut words = line.split(' ');
    words
        .next()
        .is_some_and(|number| number.parse::<u64>().is_ok())
        && matches!(words.next(), Some("test," | "tests,"))
}

/// `running 3 tests`
fn running(line: &str) -> Option<u64> {
    let (number, word) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests")
        .then(|| number.parse().ok())
        .flatten()
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
            _ => {}
        }
    }
    Some(counts)
}

/// `Summary [   0.012s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`, or `2/3 tests run`.
fn nextest(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once(']')?;
    let (run, list) = rest.split_once(" run:")?;
    let run = run.trim().split([' ', '/']).next()?.parse().ok()?;
    let mut counts = TestCounts {
        run,
        ..TestCounts::default()
    };
    for (number, word) in parse_numbered_words(list, ",").flatten() {
        match word.split(" (").next().unwrap_or(word) {
            "failed" | "timed out" | "exec failed" => {
                counts.failed = counts.failed.saturating_add(number);
            }
            "skipped" => counts.skipped = number,
            _ => {}
        }
    }
    Some(counts)
}

/// The program of `Running unittests src/lib.rs (target/debug/deps/name-0123abcd)`, without its
/// hash, or of `Doc-tests name`.
fn running_program(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} doc"));
    }
    let (_, program) = line
        .strip_prefix("Running ")?
        .strip_suffix(')')?
        .rsplit_once('(')?;
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let file = file.strip_suffix(".exe").unwrap_or(file);
    Some(
        file.rsplit_once('-')
            .map_or(file, |(name, _)| name)
            .to_owned(),
    )
}

/// `test parser::reads ... ok`, `test x - should panic ... FAILED`, `test src/lib.rs - f (line 3) ... ignored, why`.
fn libtest_line(line: &str) -> Option<(String, TestOutcome)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match end.split([',', ' ']).next()? {
        "ok" => TestOutcome::Passed,
        "FAILED" => TestOutcome::Failed,
        "ignored" => TestOutcome::Skipped,
        _ => return None,
    };
    // The line of a documentation test moves with the code above it.
    let name = name.trim_end_matches(" - should panic");
    let name = name
        .rsplit_once(" (line ")
        .filter(|(_, line)| {
            line.split(')')
                .next()
                .is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .map_or(name, |(name, _)| name);
    Some((name.to_owned(), outcome))
}

/// `PASS [   0.005s] ( 1/10) crate::program test::name`, `FAIL [...]`, `SKIP [...]`.
fn nextest_line(line: &str) -> Option<(String, TestOutcome)> {
    let (word, rest) = line.split_once(" [")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    let (_, name) = rest.split_once("] ")?;
    let name = name.trim_start();
    let name = name
        .strip_prefix('(')
        .and_then(|rest| Some(rest.split_once(") ")?.1))
        .unwrap_or(name);
    let (program, test) = name.trim().split_once(' ')?;
    (!test.contains(' ')).then(|| (format!("{program}::{test}"), outcome))
}

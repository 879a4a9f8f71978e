//! Readers of test runners' output: names of tests with their outcomes, and counts.
//!
//! An exit status of 0 proves nothing when no test was run. Known runners have a reader in a file
//! of their own; of other commands the numbers beside the usual words count. Lines are read as a
//! terminal shows them.

mod cargo;
mod go;
mod javascript;
mod node;
mod pytest;
mod summary;
mod tap;
pub mod test_commands;
mod unittest;
pub mod verbose;

use self::summary::SummaryLines;
use self::test_commands::only_runner;
use crate::check::session_check::TestCounts;
use crate::check::test_report::TestReport;

/// Maximum bytes read of a line: a summary in JSON begins with its numbers.
const LINE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub struct LineSplitter {
    line: Vec<u8>,
    limit: usize,
}

impl LineSplitter {
    /// A splitter that keeps at most `limit` bytes of a line.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            limit,
        }
    }

    /// Calls `each` with every finished line, in its visible form.
    pub fn read(&mut self, output: &[u8], mut each: impl FnMut(&str)) {
        for piece in output.split_inclusive(|byte| *byte == b'\n') {
            let room = self.limit.saturating_sub(self.line.len());
            self.line.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                self.emit_line(&mut each);
            }
        }
    }

    pub fn finish(mut self, mut each: impl FnMut(&str)) {
        if !self.line.is_empty() {
            self.emit_line(&mut each);
        }
    }

    fn emit_line(&mut self, each: &mut impl FnMut(&str)) {
        each(visible_line(&String::from_utf8_lossy(&self.line)).trim_end());
        self.line.clear();
    }
}

#[derive(Debug, Default)]
pub struct TestOutputReader {
    lines: LineSplitter,
    /// Runner of the command, the only one whose lines are read; `None` reads those of all.
    only: Option<&'static str>,
    runners: Runners,
    summary: SummaryLines,
    report: TestReport,
}

macro_rules! runners {
    ($($runner:ident: $reader:path,)*) => {
        #[derive(Debug, Default)]
        struct Runners {
            $($runner: $reader,)*
        }

        impl Runners {
            fn line(&mut self, line: &str, report: &mut TestReport, only: Option<&str>) {
                if line.is_empty() {
                    return;
                }
                $(if only.is_none_or(|only| only == stringify!($runner)) {
                    self.$runner.line(line, report);
                })*
            }

            fn counts(&self) -> Option<TestCounts> {
                [$(self.$runner.counts()),*].into_iter().flatten().reduce(TestCounts::plus)
            }
        }

        fn runner_of(program: &str, arguments: &[&str]) -> Option<&'static str> {
            $(if $runner::is_test_run(program, arguments) {
                return Some(stringify!($runner));
            })*
            None
        }
    };
}

runners! {
    cargo: cargo::Cargo,
    go: go::Go,
    javascript: javascript::JavaScript,
    node: node::Node,
    pytest: pytest::Pytest,
    tap: tap::Tap,
    unittest: unittest::Unittest,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_limit(LINE_BYTES)
    }
}

impl TestOutputReader {
    /// A reader for a command's output.
    ///
    /// ```
    /// use omo_core::check::test_runner::TestOutputReader;
    ///
    /// let mut reader = TestOutputReader::of_command("pytest -sq");
    /// reader.read(b"FAIL: test_inner (t.T.test_inner)\n1 passed in 0.01s\n");
    /// assert_eq!(reader.report().counts.map(|counts| (counts.run, counts.failed)), Some((1, 0)));
    /// ```
    pub fn of_command(command: &str) -> Self {
        let only = only_runner(command);
        let mut reader = Self {
            only,
            ..Self::default()
        };
        reader.runners.unittest.is_alone = only == Some("unittest");
        reader
    }

    pub fn read(&mut self, output: &[u8]) {
        self.lines.read(output, |line| {
            self.runners.line(line, &mut self.report, self.only);
            self.summary.line(line);
        });
    }

    pub fn report(self) -> TestReport {
        let Self {
            lines,
            only,
            mut runners,
            mut summary,
            mut report,
        } = self;
        lines.finish(|line| {
            runners.line(line, &mut report, only);
            summary.line(line);
        });
        report.counts = runners.counts().or_else(|| summary.counts());
        report
    }
}

/// A line without escape sequences and overwritten text.
pub fn visible_line(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            out.extend(Some(char).filter(|char| !char.is_control() || *char == '\t'));
            continue;
        }
        match chars.next() {
            Some('(' | ')') => _ = chars.next(),
            Some('[') => {
                while chars
                    .next()
                    .is_some_and(|char| !('@'..='~').contains(&char))
                {}
            }
            // A command to the terminal ends with a bell, or with an escape and a backslash.
            Some(']') => {
                while chars
                    .next()
                    .is_some_and(|char| char != '\u{7}' && char != '\\')
                {}
            }
            _ => {}
        }
    }
    out
}

fn add_counts(total: &mut Option<TestCounts>, counts: TestCounts) {
    *total = Some(total.unwrap_or_default().plus(counts));
}

/// Numbers with their words, as in `2 passed, 1 failed`.
fn parse_numbered_words<'a>(
    list: &'a str,
    separator: &'a str,
) -> impl Iterator<Item = Option<(u64, &'a str)>> {
    list.split(separator).map(|part| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, word.trim()))
    })
}

#[cfg(test)]
mod names;

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(output: &str) -> Option<(u64, u64, u64)> {
        let mut reader = TestOutputReader::default();
        // In pieces that end anywhere, as a pipe gives them.
        output
            .as_bytes()
            .chunks(7)
            .for_each(|chunk| reader.read(chunk));
        reader
            .report()
            .counts
            .map(|counts| (counts.run, counts.failed, counts.skipped))
    }

    #[test]
    fn what_no_runner_said_counts_nothing() {
        for output in [
            "",
            "all good\n",
            "ok\n",
            "3 files changed\n",
            "passed\n",
            "Tests: fine\n",
            "\u{1b}[31mred\u{1b}[0m\n",
        ] {
            assert_eq!(counts(output), None, "{output}");
        }
    }

    #[test]
    fn several_runners_in_one_gate_add_up() {
        let output = "running 4 tests\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n\
                      ==== 2 passed, 1 skipped in 0.01s ====\n";
        assert_eq!(counts(output), Some((5, 0, 2)));
    }

    #[test]
    fn what_tests_print_of_inner_runs_is_none_of_their_own() {
        let rule = "-".repeat(70);
        let inner = format!(
            "FAIL: test_inner (t.T.test_inner)\n{rule}\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n"
        );
        let unittest = format!("{inner}...\n{rule}\nRan 3 tests in 0.002s\n\nOK\n");
        let pytest =
            format!("===== test session starts =====\n{inner}==== 2 passed in 0.01s ====\n");
        let nested = "===== test session starts =====\n===== test session starts =====\n==== 1 failed in 0.01s ====\n\
                      ==== 2 passed in 0.02s ====\n";
        for (command, output, expected) in [
            ("python3 -m unittest discover", &*unittest, (3, 0)),
            ("cd web && coverage run -m unittest -q", &unittest, (3, 0)),
            (
                "python3 -m unittest a; python3 -m unittest b",
                &unittest,
                (4, 1),
            ),
            (
                "for t in a b; do python3 -m unittest $t; done",
                &unittest,
                (4, 1),
            ),
            (
                "find t -name 'test_*.py' -exec python3 -m unittest {} +",
                &unittest,
                (4, 1),
            ),
            ("make test", &unittest, (4, 1)),
            ("pytest -s", &pytest, (2, 0)),
            ("pytest -s", nested, (2, 0)),
            ("make test", nested, (2, 0)),
            (
                "pytest || true",
                "==== 1 failed, 1 passed in 0.01s ====\n",
                (2, 1),
            ),
        ] {
            let mut reader = TestOutputReader::of_command(command);
            reader.read(output.as_bytes());
            let counts = reader
                .report()
                .counts
                .map(|counts| (counts.run, counts.failed));
            assert_eq!(counts, Some(expected), "{command}: {output}");
        }
    }

    #[test]
    fn a_run_that_left_before_its_end_failed() {
        for (output, expected) in [
            ("running 4 tests\n", Some((4, 4, 0))),
            ("running 0 tests\n", None),
            (
                "running 4 tests\n     Running tests/b.rs\nrunning 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n",
                Some((5, 4, 0)),
            ),
            (
                "===== test session starts =====\ncollected 4 items\n",
                Some((0, 1, 0)),
            ),
        ] {
            assert_eq!(counts(output), expected, "{output}");
        }
    }

    #[test]
    fn colours_and_what_is_overwritten_are_not_read() {
        assert_eq!(
            visible_line("\u{1b}[1;32m2 passed\u{1b}[0m\u{1b}]8;;x\u{7}!\r\n"),
            "2 passed!"
        );
        assert_eq!(visible_line("running 1/3\rrunning 3/3\r\n"), "running 3/3");
        assert_eq!(visible_line("\u{1b}"), "");
    }

    #[test]
    fn hostile_output_is_read_to_its_end() {
        let long = "x".repeat(1_000_000);
        let mut reader = TestOutputReader::default();
        reader.read(long.as_bytes());
        reader.read(b"\n99999999999999999999 passed in 1s\n\xff\xfe\n");
        assert_eq!(reader.report(), TestReport::default());
        let max = u64::MAX;
        let line = format!(
            "running {max} tests\ntest result: ok. {max} passed; {max} failed; {max} ignored; 0 measured\n"
        );
        assert_eq!(counts(&line.repeat(2)), Some((max, max, max)));
    }
}

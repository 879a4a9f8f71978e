//! `cargo test` and `cargo nextest run`.

use super::{TestOutcome, TestReport};

/// Reads `test path::of::test ... ok`, below the line that says which program runs the tests.
#[derive(Debug, Default)]
pub(super) struct CargoReader {
    program: String,
}

impl CargoReader {
    pub(super) fn line(&mut self, line: &str, report: &mut TestReport) {
        let trimmed = line.trim_start();
        if let Some(program) = running_program(trimmed) {
            self.program = program;
        } else if let Some((name, outcome)) = libtest(line) {
            let separator = if self.program.is_empty() { "" } else { "::" };
            report.add(&format!("{}{separator}{name}", self.program), outcome);
        } else if let Some((name, outcome)) = nextest(trimmed) {
            report.add(&name, outcome);
        }
    }
}

/// The name of a program of tests, without the hash that a build gives it:
/// `Running unittests src/lib.rs (target/debug/deps/name-0123abcd)`, `Running tests/a.rs (…)`, `Doc-tests name`.
fn running_program(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} doc"));
    }
    let (_, program) = line.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once('(')?;
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let file = file.strip_suffix(".exe").unwrap_or(file);
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned())
}

/// `test parser::reads ... ok`, `test x - should panic ... FAILED`, `test src/lib.rs - f (line 3) ... ignored, why`.
fn libtest(line: &str) -> Option<(String, TestOutcome)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match end.split([',', ' ']).next()? {
        "ok" => TestOutcome::Passed,
        "FAILED" => TestOutcome::Failed,
        "ignored" => TestOutcome::Skipped,
        _ => return None,
    };
    // Where the line of a documentation test is does not tell it from another one: it moves with the code above it.
    let name = name.trim_end_matches(" - should panic");
    let is_at_line = |(_, line): &(&str, &str)| line.split(')').next().is_some_and(|it| it.parse::<u32>().is_ok());
    let name = name.rsplit_once(" (line ").filter(is_at_line).map_or(name, |(name, _)| name);
    Some((name.to_owned(), outcome))
}

/// `PASS [   0.005s] ( 1/10) crate::program test::name`, `FAIL [...]`, `SKIP [...]`.
fn nextest(line: &str) -> Option<(String, TestOutcome)> {
    let (word, rest) = line.split_once(" [")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    let (_, name) = rest.split_once("] ")?;
    let name = name.trim_start();
    let name = name.strip_prefix('(').and_then(|rest| Some(rest.split_once(") ")?.1)).unwrap_or(name);
    let (program, test) = name.trim().split_once(' ')?;
    (!test.contains(' ')).then(|| (format!("{program}::{test}"), outcome))
}

//! `node --test`: the block below its report, with `ℹ` in the spec form and `#` in TAP.

use super::add_counts;
use crate::check::session_check::TestCounts;

/// Whether the command runs tests with it.
pub(super) fn is_test_run(program: &str, arguments: &[&str]) -> bool {
    program == "node" && arguments.contains(&"--test")
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Node {
    total: Option<TestCounts>,
    /// The block that is being read.
    open: Option<TestCounts>,
    /// Files that are reported as a test of their own: no test in them was run.
    files: u64,
}

impl Node {
    pub(super) fn line(&mut self, line: &str) {
        if is_passed_file(line) {
            self.files = self.files.saturating_add(1);
        }
        let Some((word, number)) = entry(line) else {
            // Nothing stands between the lines of a block; what a test printed is none.
            self.open = None;
            return;
        };
        match (word, &mut self.open) {
            ("tests", open) => *open = Some(TestCounts::default()),
            ("pass", Some(open)) => open.run = open.run.saturating_add(number),
            ("fail" | "cancelled", Some(open)) => {
                open.run = open.run.saturating_add(number);
                open.failed = open.failed.saturating_add(number);
            }
            ("skipped" | "todo", Some(open)) => open.skipped = open.skipped.saturating_add(number),
            ("duration_ms", open) => self.total = end(self.total, open.take(), std::mem::take(&mut self.files)),
            _ => {}
        }
    }

    pub(super) fn counts(&self) -> Option<TestCounts> {
        self.total
    }
}

fn end(mut total: Option<TestCounts>, open: Option<TestCounts>, files: u64) -> Option<TestCounts> {
    if let Some(counts) = open {
        let run = counts.run.saturating_sub(files).max(counts.failed);
        add_counts(&mut total, TestCounts { run, ..counts });
    }
    total
}

/// `ℹ tests 5`; of a time only the whole milliseconds.
fn entry(line: &str) -> Option<(&str, u64)> {
    let rest = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# "))?;
    let (word, number) = rest.split_once(' ')?;
    Some((word, number.split('.').next()?.trim().parse().ok()?))
}

/// `✔ one.test.js (0.5ms)`, or `ok 1 - one.test.js`: from version 22 on, a file in which nothing
/// matched passes as if it were a test.
fn is_passed_file(line: &str) -> bool {
    let name = match line.strip_prefix("✔ ") {
        Some(rest) => rest.rsplit_once(" (").map_or(rest, |(name, _)| name),
        None => match line.strip_prefix("ok ").and_then(|rest| rest.split_once(" - ")) {
            Some((_, name)) => name,
            None => return false,
        },
    };
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"].iter().any(|ending| name.ends_with(ending))
}

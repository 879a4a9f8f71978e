//! Lines kept of a check's output, and the excerpt that messages quote: lines about failures in the
//! form of known runners and compilers, then the beginning and the end.

use serde::{Deserialize, Serialize};

use crate::text::sanitize;

pub(super) const MAX_LINES: usize = 20;
pub const QUOTED_LINES: usize = 14;
const MAX_FAILING_LINES: usize = 8;
const MIN_LINES: usize = 4;

/// Kept lines of an output, sanitized; `excerpt` quotes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PrintedOutput {
    pub first_lines: Vec<String>,
    pub last_lines: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing_lines: Vec<String>,
    /// `0` where an older omo did not count lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub line_count: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl PrintedOutput {
    /// Adds a line about a failure; `quoted` is its sanitized form.
    pub(super) fn note_failing_line(&mut self, line: &str, quoted: &str) {
        if self.failing_lines.len() < MAX_FAILING_LINES
            && is_failing_line(line)
            && self.failing_lines.iter().all(|known| known != quoted)
        {
            self.failing_lines.push(quoted.to_owned());
        }
    }

    pub fn is_blank(&self) -> bool {
        self.kept_lines().all(|line| line.trim().is_empty())
    }

    /// The reason of a red check: the first line about a failure, or the last one with a word.
    pub fn reason(&self) -> Option<&str> {
        let first_failing = self.failing_lines.first();
        first_failing
            .or_else(|| {
                self.last_lines
                    .iter()
                    .rev()
                    .chain(self.first_lines.iter().rev())
                    .find(|line| line.chars().any(char::is_alphanumeric))
            })
            .map(|line| line.trim())
    }

    fn kept_lines(&self) -> impl Iterator<Item = &String> {
        self.first_lines.iter().chain(&self.last_lines)
    }

    /// At most `most` lines: failures, the beginning and the end, with the number of lines left
    /// out.
    pub fn excerpt(&self, most: usize) -> Vec<String> {
        let kept: Vec<&String> = self.kept_lines().collect();
        let is_whole = match self.line_count {
            0 => self.last_lines.len() < MAX_LINES,
            count => count <= kept.len(),
        };
        if is_whole && kept.len() <= most {
            return kept.into_iter().cloned().collect();
        }
        let failing = self.failing_lines.len().min(most / 2);
        // A sign stands behind the failures, and in the middle.
        let rest = most.saturating_sub(failing + usize::from(failing > 0) + 1);
        let head = (rest / 3).min(self.first_lines.len());
        let tail = (rest - head).min(kept.len() - head);
        let (beginning, end) = (kept.split_at(head).0, kept.split_at(kept.len() - tail).1);
        let mut lines: Vec<String> = self
            .failing_lines
            .iter()
            .take(failing)
            .filter(|line| !beginning.contains(line) && !end.contains(line))
            .cloned()
            .collect();
        if !lines.is_empty() {
            lines.push("…".to_owned());
        }
        lines.extend(beginning.iter().map(|line| (*line).clone()));
        lines.push(match self.line_count.checked_sub(head + tail) {
            Some(1) => "… 1 line …".to_owned(),
            Some(left_out) if left_out > 0 => format!("… {left_out} lines …"),
            _ => "…".to_owned(),
        });
        lines.extend(end.iter().map(|line| (*line).clone()));
        lines
    }

    /// [`Self::excerpt`] in at most `max_chars` characters.
    pub fn excerpt_within(&self, most: usize, max_chars: usize) -> Vec<String> {
        let fitting = (MIN_LINES..=most)
            .rev()
            .map(|most| self.excerpt(most))
            .find(|lines| {
                let chars = lines.iter().map(|line| line.chars().count() + 1);
                chars.sum::<usize>() <= max_chars
            });
        fitting.unwrap_or_else(|| {
            let lines = self.excerpt(MIN_LINES);
            let share = (max_chars / lines.len().max(1)).saturating_sub(2);
            lines.iter().map(|line| sanitize(line, share)).collect()
        })
    }
}

const BEGINNINGS: [&str; 37] = [
    // cargo, rustc, clang
    "error:",
    "error[",
    "assertion `",
    "assertion failed",
    "left: ",
    "right: ", // pytest
    "FAILED ",
    "ERROR ",
    "E   ", // unittest
    "FAIL: ",
    "ERROR: ", // jest, vitest, mocha
    "FAIL ",
    "● ",
    "✕ ",
    "✗ ",
    "✖ ",
    "× ",
    "Error:",
    "AssertionError",
    "expect(",
    "Expected: ",
    "Received: ",
    "- Expected",
    "+ Received", // go
    "--- FAIL",
    "FAIL\t",
    "panic:", // rspec
    "rspec ./",
    "Failure/Error:",
    "expected: ",
    "got: ",   // TAP, node
    "not ok ", // maven, dotnet, make, git
    "[ERROR] ",
    "Failed ",
    "make: ***",
    "make[",
    "fatal:",
];

const LINE_PARTS: [&str; 6] = [
    ": error:",
    ": error ",
    " - error TS",
    "  error  ",
    " panicked at ",
    "_test.go:",
];

/// `true` for a line about a failure, in the form of known runners and compilers.
fn is_failing_line(line: &str) -> bool {
    let line = line.trim();
    BEGINNINGS
        .iter()
        .any(|beginning| line.starts_with(beginning))
        || line.ends_with(" FAILED")
        || line.split_whitespace().next().is_some_and(|word| {
            word.ends_with("Error:") || word.ends_with("Exception:") || is_go_place(word)
        })
        || LINE_PARTS.iter().any(|part| line.contains(part))
}

/// `true` for a place of the Go compiler: `./a.go:3:2:`.
fn is_go_place(word: &str) -> bool {
    let Some((_, place)) = word.split_once(".go:") else {
        return false;
    };
    let numbers: Vec<&str> = place.trim_end_matches(':').split(':').collect();
    word.ends_with(':')
        && numbers.len() == 2
        && numbers.iter().all(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(lines: usize, failing: &[&str]) -> PrintedOutput {
        let all: Vec<String> = (1..=lines).map(|number| format!("line {number}")).collect();
        let first_lines: Vec<String> = all.iter().take(20).cloned().collect();
        let last_lines = all
            .iter()
            .skip(20.max(lines.saturating_sub(20)))
            .cloned()
            .collect();
        let failing_lines = failing.iter().map(|line| (*line).to_owned()).collect();
        PrintedOutput {
            first_lines,
            last_lines,
            failing_lines,
            line_count: lines,
        }
    }

    #[test]
    fn what_failed_stands_before_the_beginning_and_the_end() {
        assert_eq!(
            printed(3, &["line 2"]).excerpt(8),
            ["line 1", "line 2", "line 3"]
        );
        assert_eq!(
            printed(500, &["test a ... FAILED", "line 500"]).excerpt(8),
            [
                "test a ... FAILED",
                "…",
                "line 1",
                "… 496 lines …",
                "line 498",
                "line 499",
                "line 500"
            ]
        );
        assert_eq!(
            printed(30, &[]).excerpt(4),
            ["line 1", "… 27 lines …", "line 29", "line 30"]
        );
        assert_eq!(printed(0, &[]).excerpt(8), Vec::<String>::new());
        let old = PrintedOutput {
            line_count: 0,
            ..printed(40, &[])
        };
        assert_eq!(old.excerpt(4), ["line 1", "…", "line 39", "line 40"]);
    }

    #[test]
    fn an_excerpt_is_bounded() {
        for (lines, failing) in [(0, 0), (1, 0), (19, 3), (20, 8), (41, 8), (9_000, 8)] {
            let failing: Vec<String> = (0..failing)
                .map(|number| format!("FAIL: {number}"))
                .collect();
            let output = printed(
                lines,
                &failing.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            for most in 4..=40 {
                assert!(
                    output.excerpt(most).len() <= most,
                    "{lines} in {most}: {:?}",
                    output.excerpt(most)
                );
                for chars in [20, 100, 1_000] {
                    let lines = output.excerpt_within(most, chars);
                    assert!(
                        lines
                            .iter()
                            .map(|line| line.chars().count() + 1)
                            .sum::<usize>()
                            <= chars,
                        "{lines:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_words_of_known_runners_are_known() {
        for line in [
            "test tests::adds ... FAILED",
            "error[E0425]: cannot find value `x`",
            "thread 'tests::adds' panicked at src/lib.rs:3:9:",
            "FAILED tests/test_a.py::test_adds - assert 1 == 2",
            "E       assert 1 == 2",
            "FAIL: test_adds (tests.Adds)",
            "ModuleNotFoundError: No module named 'helper'",
            " FAIL  src/a.test.ts > adds",
            "  ● adds › two numbers",
            "AssertionError [ERR_ASSERTION]: 1 == 2",
            "--- FAIL: TestAdds (0.00s)",
            "    a_test.go:7: got 1",
            "rspec ./spec/a_spec.rb:3 # adds",
            "not ok 2 - adds",
            "src/a.ts(1,7): error TS2322: no",
            "a.c:3:5: error: expected ';'",
            "src/b.ts:4:2 - error TS1005: ';' expected.",
            "  3:7  error  'x' is not defined  no-undef",
            "./a.go:3:2: undefined: x",
            "assertion `left == right` failed: the sum",
            "  left: 1",
            "    Expected: 3",
            "    expect(received).toBe(expected) // Object.is equality",
        ] {
            assert!(is_failing_line(line), "{line}");
        }
        for line in [
            "",
            "ok 1 - adds",
            "test tests::adds ... ok",
            "3 passed",
            "no errors",
            "PASS src/a.test.ts",
            "see a.go:3:2",
            "a.go:12: on",
        ] {
            assert!(!is_failing_line(line), "{line}");
        }
    }

    #[test]
    fn the_reason_is_what_failed_or_what_was_said_last() {
        assert_eq!(printed(500, &["  FAIL: adds"]).reason(), Some("FAIL: adds"));
        assert_eq!(printed(30, &[]).reason(), Some("line 30"));
        assert_eq!(printed(2, &[]).reason(), Some("line 2"));
        assert_eq!(printed(0, &[]).reason(), None);
    }

    #[test]
    fn what_an_older_omo_kept_is_read() {
        let old: PrintedOutput =
            serde_json::from_str(r#"{"firstLines":["a"],"lastLines":[]}"#).unwrap();
        assert_eq!(old.excerpt(4), ["a"]);
        assert!(serde_json::to_string(&old).unwrap() == r#"{"firstLines":["a"],"lastLines":[]}"#);
    }
}

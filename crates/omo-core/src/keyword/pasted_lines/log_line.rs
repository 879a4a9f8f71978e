//! Recognizes pasted lines that a program printed: logs, errors and stack traces.

use std::ops::Range;

use super::command_line::{PROSE, TASKS};
use super::{Line, among, is_name};

impl Line<'_> {
    /// `2026-11-23 12:00:01 INFO …`, `error: …`, `zsh: command not found: ulw`.
    pub(super) fn is_log(&self) -> bool {
        const SAID: [&str; 18] = [
            "command not found",
            "o such file",
            "not recognized as",
            "is not defined",
            "annot find",
            "not found in",
            "issing script",
            "panicked at",
            "nable to locate",
            "nknown command",
            "nknown variant",
            "ndefined",
            "nexpected",
            "did not match any",
            "o module named",
            "ermission denied",
            "... FAILED",
            "core dumped",
        ];
        let line = self.text.trim_start();
        is_stamped(line)
            || has_level(line)
            || has_error_label(line)
                && !self
                    .after()
                    .split_whitespace()
                    .next()
                    .is_some_and(|word| among(TASKS, word))
            || ["expected ", "Failed to ", "Could not ", "Cannot "]
                .iter()
                .any(|start| line.starts_with(start))
            || line
                .split_whitespace()
                .filter(|word| {
                    word.split_once('=')
                        .is_some_and(|(name, value)| is_name(name) && !value.is_empty())
                })
                .count()
                > 1
            || SAID.iter().any(|said| self.text.contains(said)) && !self.has_task_words()
            || self.after().starts_with('[')
            || self.before().ends_with(": ") && self.after().starts_with(": ")
            || line
                .get(..7)
                .is_some_and(|label| label.eq_ignore_ascii_case("usage: "))
    }

    fn has_task_words(&self) -> bool {
        let first = self
            .text
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        among(TASKS, &first) || self.goes_on_as_task()
    }

    /// `at run (index.js:10:5)`, `File "a.py", line 3, in run`.
    pub(super) fn is_stack_frame(&self) -> bool {
        let line = self.text.trim_start();
        line.starts_with("at ") && line.ends_with(')') && line.contains(':')
            || line.starts_with("File \"")
            || ["--> ", "✗", "✓", "✔", "✖", "×", "not ok "]
                .iter()
                .any(|mark| line.starts_with(mark))
            || is_test_result(line)
            || self.is_named_by_program()
    }

    /// `ulw: command not found`: a program of that name speaks.
    fn is_named_by_program(&self) -> bool {
        const SAID: [&str; 11] = [
            "The term",
            "usage:",
            "command not found",
            "error:",
            "error[",
            "warning:",
            "fatal:",
            "not found",
            "No such file",
            "unrecognized",
            "permission denied",
        ];
        let message = self
            .after()
            .trim_start()
            .strip_prefix(": ")
            .unwrap_or_default();
        self.starts_with_keyword() && SAID.iter().any(|start| message.starts_with(start))
    }
}

/// `test ulw ... ok`, `ok 1 - ulw`.
fn is_test_result(line: &str) -> bool {
    let numbered = line
        .strip_prefix("ok ")
        .is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    numbered && line.contains(" - ") || line.starts_with("test ") && line.contains(" ... ")
}

fn is_stamped(line: &str) -> bool {
    const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    let stamp = line.trim_start_matches(['[', '(']);
    let bytes = stamp.as_bytes();
    are_digits(bytes, 0..4) && matches!(bytes.get(4), Some(b'-' | b'/')) && are_digits(bytes, 5..7)
        || line.starts_with(['[', '<'])
            && line.split_once("] ").is_some_and(|(clock, _)| {
                clock.contains('.') && !clock.contains(|char: char| char.is_alphabetic())
            })
        || are_digits(bytes, 0..2) && bytes.get(2) == Some(&b':') && are_digits(bytes, 3..5)
        || stamp
            .split_once(' ')
            .is_some_and(|(month, rest)| among(MONTHS, month) && rest.contains(':'))
}

fn are_digits(bytes: &[u8], range: Range<usize>) -> bool {
    bytes
        .get(range)
        .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
}

/// `INFO …`, `[warn] …`, `level=info`.
fn has_level(line: &str) -> bool {
    const LEVELS: &str = "TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR FATAL CRITICAL FAILED FAIL PASS PASSED PANIC E";
    let bracketed = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map(|(label, _)| label.to_ascii_uppercase());
    let first = line.split([' ', ':', '\t']).next().unwrap_or_default();
    bracketed.is_some_and(|label| among(LEVELS, label.trim()))
        || among(LEVELS, first)
        || line.starts_with("level=")
}

/// Maximum words of an error's label, such as `Stop hook error: …`.
const LABEL_WORDS: usize = 4;

/// `error[E0425]: …`, `Uncaught TypeError: …`, `warning: …`, `make: *** …`, `npm ERR! …`.
fn has_error_label(line: &str) -> bool {
    const LABELS: [&str; 8] = [
        "error",
        "warning",
        "exception",
        "fatal",
        "panic",
        "traceback",
        "caused by",
        "failed",
    ];
    if line.starts_with("npm ERR!") || line.starts_with("make: ***") || line.contains("panicked at")
    {
        return true;
    }
    let Some((label, _)) = line.split_once(": ") else {
        return false;
    };
    if label.starts_with(|char: char| char.is_ascii_uppercase())
        && label.ends_with(|char: char| char.is_ascii_digit())
        && is_name(label)
    {
        return true;
    }
    let lower = label.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let is_short = words.clone().count() <= LABEL_WORDS;
    let is_sentence = words.any(|word| {
        word != "failed" && (among(PROSE, word) || among("debug handle catch log", word))
            || among(TASKS, word)
    });
    is_short
        && (!is_sentence || lower.ends_with(" failed"))
        && LABELS.iter().any(|name| lower.contains(name))
}

//! Criteria of tasks: `Run: npm test` is a command, anything else a sentence for the verifier.

use omo_core::check::task_check::TaskCheck;

use crate::fields::stated_checks::split_code_span;

const COMMAND_WORDS: [&str; 3] = ["run", "cmd", "command"];

/// Command in a criterion that is code alone or begins with `Run:`; `None` for a sentence.
pub(super) fn parse_criterion_command(criterion: &str) -> Option<TaskCheck> {
    let text = criterion.trim();
    let command = match (sole_code(text), text.split_once(':')) {
        (Some(code), _) => code,
        (None, Some((word, rest)))
            if COMMAND_WORDS.contains(&word.trim().to_ascii_lowercase().as_str()) =>
        {
            let rest = rest.trim();
            // With more text behind its code it is a sentence again.
            if rest.starts_with('`') {
                sole_code(rest)?
            } else {
                rest
            }
        }
        _ => return None,
    };
    let check = TaskCheck::new(command);
    check.invalid_reason().is_none().then_some(check)
}

/// `true` for text that begins like a command without backticks, such as `Run: …`.
pub(super) fn begins_with_command_word(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(word, _)| COMMAND_WORDS.contains(&word.trim().to_ascii_lowercase().as_str()))
}

/// Text of a criterion that is judged, not run.
pub fn criterion_text(check: &TaskCheck) -> String {
    format!("`{}`", check.command)
}

fn sole_code(text: &str) -> Option<&str> {
    let (code, rest) = split_code_span(text)?;
    rest.trim().is_empty().then(|| code.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_criterion_is_a_command() {
        for (criterion, expected) in [
            ("`cargo test`", Some("cargo test")),
            ("  `` echo `date` ``  ", Some("echo `date`")),
            ("cmd: make check", Some("make check")),
            ("Run: `npm test`", Some("npm test")),
            ("COMMAND: a && b: c", Some("a && b: c")),
            ("run:x", Some("x")),
            ("`cargo test` passes", None),
            ("Run: `cargo test` and read what it says", None),
            ("All tests of `cargo test` pass", None),
            ("Running: fast", None),
            ("run the tests", None),
            ("Run:", None),
            ("`", None),
            ("` `", None),
            ("cmd: a\0b", None),
            ("", None),
            ("works", None),
        ] {
            assert_eq!(
                parse_criterion_command(criterion)
                    .map(|check| check.command)
                    .as_deref(),
                expected,
                "{criterion:?}"
            );
        }
    }
}

//! What a criterion of a task is: a command that shows whether it holds, or a sentence that the verifier has to judge.

use omo_core::task_check::TaskCheck;

use crate::fields::verify::code_span;

/// What stands before a command, in small letters.
const WORDS: [&str; 3] = ["run", "cmd", "command"];

/// The command that a whole criterion is: code alone, or what stands behind `Run:`. A command within a sentence is
/// none: the sentence does not say that the command decides.
pub(super) fn command(criterion: &str) -> Option<TaskCheck> {
    let text = criterion.trim();
    let command = match (code_alone(text), text.split_once(':')) {
        (Some(code), _) => code,
        (None, Some((word, rest))) if WORDS.contains(&word.trim().to_ascii_lowercase().as_str()) => {
            let rest = rest.trim();
            // With more behind its code it is a sentence again.
            if rest.starts_with('`') { code_alone(rest)? } else { rest }
        }
        _ => return None,
    };
    let check = TaskCheck::new(command);
    check.invalid_reason().is_none().then_some(check)
}

/// A command as a criterion, where it is judged and not run by itself.
pub(crate) fn to_judge(check: &TaskCheck) -> String {
    format!("`{}`", check.command)
}

/// The code that a text is as a whole.
fn code_alone(text: &str) -> Option<&str> {
    let (code, rest) = code_span(text)?;
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
            assert_eq!(command(criterion).map(|check| check.command).as_deref(), expected, "{criterion:?}");
        }
    }
}

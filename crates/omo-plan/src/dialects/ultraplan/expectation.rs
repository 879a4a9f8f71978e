//! Expected result of a verify command: an exit status, a text in its output, or a sentence.

use omo_core::check::task_check::ExpectedExit;
use omo_core::check::task_check::TaskCheck;

use crate::dialects::ultraplan::inline_code::split_inline_code;
use crate::pattern::Pattern;

/// Command to verify a step, with the expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifyCommand {
    pub check: TaskCheck,
    /// `true` for a sentence without backticks.
    pub is_prose: bool,
    pub expected_sentence: Option<String>,
}

static LEADING_WORDS: Pattern = Pattern::new(
    r"^\s*(?:(?:→|->|=>|[:(\-—]|(?i-u:expect(?:ed|s)?|should|prints?|outputs?|contains?|shows?)\b)\s*)*",
);
/// Words of a sentence about a result, unlike those of a printed result.
const SENTENCE_WORDS: [&str; 17] = [
    "all",
    "pass",
    "passes",
    "passed.",
    "passing",
    "succeeds",
    "succeed",
    "success",
    "successful",
    "green",
    "clean",
    "cleanly",
    "works",
    "without",
    "should",
    "no",
    "is",
];

pub(crate) fn apply_expectation(command: &mut VerifyCommand, after: &str) {
    let rest = LEADING_WORDS.behind(after).unwrap_or(after).trim_end();
    let quoted = split_inline_code(rest)
        .into_iter()
        .find(|piece| piece.is_code)
        .map(|piece| piece.text.to_owned());
    let quoted = quoted.or_else(|| {
        rest.strip_prefix(['"', '“'])?
            .split(['"', '”'])
            .next()
            .map(str::to_owned)
    });
    let text = quoted.clone().unwrap_or_else(|| {
        rest.trim_end_matches(|char: char| char.is_whitespace() || ".)".contains(char))
            .to_owned()
    });
    if text.trim().is_empty() {
        return;
    }
    let words: Vec<String> = text
        .split_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    if let Some(exit) = parse_exit(&words) {
        command.check.expect.exit = exit;
    } else if quoted.is_none()
        && words
            .iter()
            .any(|word| SENTENCE_WORDS.contains(&word.as_str()))
    {
        command.expected_sentence = Some(text);
    } else {
        command.check.expect.stdout_has = Some(text);
    }
}

/// Rest behind the first word, in any case.
pub(crate) fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = (text.get(..word.len())?, text.get(word.len()..)?);
    let is_whole = !word.ends_with(char::is_alphabetic) || !rest.starts_with(char::is_alphanumeric);
    (start.eq_ignore_ascii_case(word) && is_whole).then_some(rest)
}

/// Exit status in `exit 0`, `exit code 1`, `non-zero`, `fails`.
fn parse_exit(words: &[String]) -> Option<ExpectedExit> {
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_matches([',', '.', ':']))
        .collect();
    match words.as_slice() {
        ["fail" | "fails" | "failure", ..] | ["non-zero" | "nonzero"] => {
            Some(ExpectedExit::NonZero)
        }
        ["exit" | "exits" | "status" | "code", rest @ ..] | [rest @ .., "exit" | "status"] => {
            let about = rest
                .iter()
                .find(|word| !matches!(**word, "code" | "status" | "with" | "is" | "exit"))?;
            match (*about, about.parse::<i32>()) {
                (_, Ok(0)) => Some(ExpectedExit::Zero),
                (_, Ok(status)) => Some(ExpectedExit::Exactly(status)),
                ("non-zero" | "nonzero", _) => Some(ExpectedExit::NonZero),
                _ => None,
            }
        }
        _ => None,
    }
}

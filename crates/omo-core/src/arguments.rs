//! What stands after `/omo:ulw`: options at its start or end, and the task, byte for byte.
//!
//! The text is read here and nowhere else. It never passes a shell, and what is no option is the
//! user's own words: ``fix `touch x`; a | b`` is a task like any other.

use crate::limits::{Limit, Limits};

/// One line that shows how the command is used.
pub const USAGE: &str = "usage: /omo:ulw [--max-blocks N] [--max-minutes N] <task>  (or type `ulw` in any prompt)";

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UlwArguments<'a> {
    /// The task; `None` where there is only white space.
    pub task: Option<&'a str>,
    /// The bounds: the given ones, each replaced by an option where there is one.
    pub limits: Limits,
}

/// Why nothing was turned on; the text is one line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `-h` or `--help`.
    Help,
    /// An option that cannot be as it is.
    BadOption(String),
}

impl Refusal {
    /// What the user reads.
    pub fn message(&self) -> String {
        match self {
            Self::Help => USAGE.to_owned(),
            Self::BadOption(what) => format!("{what}; nothing was turned on. {USAGE}"),
        }
    }
}

/// Reads the arguments over the user's own bounds.
///
/// Options stand before the task or after it. Before it a bad value is refused; at the end, where
/// `document --max-blocks` may well be the task, only a complete and valid option is taken.
pub fn parse(arguments: &str, limits: Limits) -> Result<UlwArguments<'_>, Refusal> {
    let mut limits = limits;
    let text = leading_options(arguments, &mut limits)?;
    let text = trailing_options(text, &mut limits);
    Ok(UlwArguments { task: (!text.trim().is_empty()).then_some(text), limits })
}

fn leading_options<'a>(arguments: &'a str, limits: &mut Limits) -> Result<&'a str, Refusal> {
    let mut text = arguments;
    loop {
        let (word, rest) = first_word(text);
        if matches!(word, "-h" | "--help") {
            return Err(Refusal::Help);
        }
        let (name, inline) = split_option(word);
        if name == "--completion-promise" {
            let why = "`--completion-promise` is not an option: the promise is always DONE";
            return Err(Refusal::BadOption(why.to_owned()));
        }
        let Some(limit) = limit_of(name) else { return Ok(text) };
        let (value, rest) = match inline {
            Some(value) => (value, rest),
            None => first_word(rest),
        };
        set(limits, limit, name, value)?;
        text = without_separator(rest);
    }
}

fn trailing_options<'a>(text: &'a str, limits: &mut Limits) -> &'a str {
    let mut text = text;
    loop {
        let (before_last, last) = last_word(text);
        let (name, inline) = split_option(last);
        let (before, name, value) = if let Some(value) = inline {
            (before_last, name, value)
        } else {
            let (before, name) = last_word(before_last);
            (before, name, last)
        };
        let Some(limit) = own_limit_of(name) else { return text };
        match value.parse() {
            Ok(value) if limits.set(limit, value) => text = before.trim_end(),
            _ => return text,
        }
    }
}

fn set(limits: &mut Limits, limit: Limit, name: &str, value: &str) -> Result<(), Refusal> {
    let allowed = limit.allowed();
    let taken = value.parse().is_ok_and(|value| limits.set(limit, value));
    if taken {
        return Ok(());
    }
    let range = format!("a number from {} to {}", allowed.start(), allowed.end());
    let shown = crate::words::neutral(value, 40);
    Err(Refusal::BadOption(if value.is_empty() {
        format!("`{name}` needs {range}")
    } else {
        format!("`{name}` needs {range}, not `{shown}`")
    }))
}

fn own_limit_of(name: &str) -> Option<Limit> {
    match name {
        "--max-blocks" => Some(Limit::MaxBlocks),
        "--max-minutes" => Some(Limit::MaxMinutes),
        _ => None,
    }
}

/// Also the name that other loops gave this option: their users type it from habit.
fn limit_of(name: &str) -> Option<Limit> {
    own_limit_of(name).or((name == "--max-iterations").then_some(Limit::MaxBlocks))
}

/// `--x=v` as its two halves; anything else whole.
fn split_option(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value)),
        _ => (word, None),
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let start =
        text.char_indices().rev().find(|(_, char)| char.is_whitespace()).map_or(0, |(at, char)| at + char.len_utf8());
    text.split_at(start)
}

/// Without the one white space that parts an option from what follows.
fn without_separator(text: &str) -> &str {
    text.strip_prefix(char::is_whitespace).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(arguments: &str) -> Option<&str> {
        parse(arguments, Limits::default()).unwrap().task
    }

    #[test]
    fn a_task_is_taken_byte_for_byte() {
        for text in [
            "line one\nline two",
            "run `touch PWNED`",
            "a; touch PWNED",
            "a | tee PWNED",
            "a && b > c",
            "cost is $HOME dollars",
            "$(touch PWNED)",
            "fix *.md files",
            "is it ok?",
            r"C:\Users\me\x",
            r"path with \ spaces",
            "fix (this) bug",
            "f(x) => y",
            "fix #123",
            "!important",
            "작업을 끝내줘",
            "--",
            "--unknown x",
            "-x",
            "'single",
            "\"double",
            "  two leading blanks",
            "trailing blank ",
            "change '- [ ]' to '- [x]' --completion-promise \"DONE\" --max-iterations 5",
            "document the --max-blocks 3 option",
            "document --max-blocks",
            "say --max-blocks abc",
            "tab\there",
            "\u{0}nul",
            "🦀",
        ] {
            assert_eq!(task(text), Some(text), "{text:?}");
        }
    }

    #[test]
    fn no_task_is_no_error() {
        for text in ["", " ", "\n\t"] {
            assert_eq!(task(text), None, "{text:?}");
        }
    }

    #[test]
    fn options_are_read_at_both_ends_and_in_both_forms() {
        for (text, blocks, minutes, task) in [
            ("--max-blocks 5 fix it", 5, 240, Some("fix it")),
            ("--max-blocks=5 fix it", 5, 240, Some("fix it")),
            ("--max-minutes 9 --max-blocks=5 fix  it", 5, 9, Some("fix  it")),
            ("--max-blocks 5\nfix\nit", 5, 240, Some("fix\nit")),
            ("fix it --max-blocks 5", 5, 240, Some("fix it")),
            ("--max-minutes=9 fix it --max-blocks=5", 5, 9, Some("fix it")),
            ("fix it --max-minutes 9 --max-blocks 5", 5, 9, Some("fix it")),
            ("--max-iterations 5 fix it", 5, 240, Some("fix it")),
            ("--max-blocks 5", 5, 240, None),
            ("--max-blocks 5  `a; b`", 5, 240, Some(" `a; b`")),
        ] {
            let read = parse(text, Limits::default()).unwrap();
            assert_eq!((read.limits.max_blocks, read.limits.max_minutes), (blocks, minutes), "{text}");
            assert_eq!(read.task, task, "{text}");
        }
    }

    #[test]
    fn a_bad_option_turns_nothing_on_and_says_why() {
        for (text, part) in [
            ("--max-blocks abc x", "not `abc`"),
            ("--max-blocks", "needs a number from 1 to 100"),
            ("--max-blocks= x", "needs a number"),
            ("--max-blocks 0 x", "not `0`"),
            ("--max-blocks -3 x", "not `-3`"),
            ("--max-blocks 99999999999999999999 x", "not `9"),
            ("--max-minutes 1e3 x", "1 to 1440"),
            ("--max-iterations abc x", "not `abc`"),
            ("--completion-promise", "always DONE"),
            ("--completion-promise ALL DONE Build it", "always DONE"),
            ("-h", "usage:"),
            ("--help me", "usage:"),
        ] {
            let message = parse(text, Limits::default()).unwrap_err().message();
            assert!(message.contains(part), "{text}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

//! Arguments of `/omo:ulw`: options at its start or end, and the task, byte for byte.
//!
//! The text never passes a shell: ``fix `touch x`; a | b`` is a task like any other.

use std::borrow::Cow;

use crate::check::counterfactual::ProveMode;
use crate::check::session_check::{self, Check, CheckOrigin};
use crate::limits::{LIMITS, LimitRow, RunLimits};

pub const USAGE: &str = "usage: /omo:ulw [--check \"COMMAND\"]... [--no-review] [--prove] [--new] [--max-blocks N] [--max-minutes N] [--max-tokens N] [--max-failed-claims N] <task>  (or type `ulw` in any prompt)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UlwArguments<'a> {
    /// `None` for white space only.
    pub task: Option<Cow<'a, str>>,
    pub options: UlwOptions,
}

/// Bounds, checks and review of a run, as settings and options say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UlwOptions {
    /// The given bounds, as options replace them.
    pub limits: RunLimits,
    pub checks: Vec<Check>,
    pub review: bool,
    pub prove: ProveMode,
    pub begins_anew: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UlwRefusal {
    /// `-h` or `--help`.
    Help,
    BadOption(String),
}

impl UlwRefusal {
    pub fn message(&self) -> String {
        match self {
            Self::Help => USAGE.to_owned(),
            Self::BadOption(what) => format!("{what}; nothing was turned on. {USAGE}"),
        }
    }
}

/// Reads the arguments over the user's settings.
///
/// Before the task a bad value is refused; behind it, where `document --max-blocks` may be the
/// task, only complete and valid options are taken.
pub fn parse(arguments: &str, options: UlwOptions) -> Result<UlwArguments<'_>, UlwRefusal> {
    let mut options = options;
    let mut text = take_front_options(arguments, &mut options)?;
    if let Some((before, at_end)) = options_at_end(text, &options) {
        (text, options) = (before, at_end);
    }
    refuse_check_within(text)?;
    Ok(UlwArguments {
        task: (!text.trim().is_empty()).then_some(Cow::Borrowed(text)),
        options,
    })
}

const CHECK: &str = "--check";

fn refuse_check_within(task: &str) -> Result<(), UlwRefusal> {
    let is_refused = task
        .match_indices(CHECK)
        .take(CANDIDATES)
        .filter_map(|(at, _)| task.split_at_checked(at))
        .any(|(before, rest)| is_quoted_check(before, rest));
    if !is_refused {
        return Ok(());
    }
    Err(bad_check(
        "`--check \"COMMAND\"` stands in the middle of the task: it belongs before the task or at its end, or without \
        quotes where it is a part of it",
    ))
}

/// `true` for text that begins with [`CHECK`] and a command in quotes.
fn is_quoted_check(before: &str, option: &str) -> bool {
    let value = option.strip_prefix(CHECK).unwrap_or_default();
    let Some(value) = value
        .strip_prefix('=')
        .or_else(|| value.strip_prefix(char::is_whitespace))
    else {
        return false;
    };
    let value = value.trim_start();
    let is_quoted = value.starts_with(|char| QUOTES.iter().any(|(open, _)| *open == char));
    before.ends_with(char::is_whitespace) && is_quoted && quoted(value).is_some()
}

/// `true` for an option of omo anywhere; tested for every prompt that turns nothing on.
pub(super) fn mentions_option(text: &str) -> bool {
    text.contains("--")
        && ["--check", "--no-review", "--prove"]
            .into_iter()
            .chain(LIMITS.iter().filter_map(|row| row.option))
            .any(|name| text.contains(name))
}

/// Options of a prompt with the keyword: at its start, behind the keyword, or at its end. `prompt`
/// is the text before the keyword, the keyword, and the text behind; `None` without options.
pub fn parse_around_keyword<'a>(
    prompt: [&'a str; 3],
    options: &UlwOptions,
) -> Result<Option<UlwArguments<'a>>, UlwRefusal> {
    let [before, keyword, after] = prompt;
    let after = after
        .strip_prefix([',', ':', ';', '，', '：'])
        .filter(|rest| begins_with_option(rest))
        .unwrap_or(after);
    let mut taken = options.clone();
    let before = if begins_with_option(before) {
        take_front_options(before, &mut taken)?
    } else {
        before
    };
    let after = if begins_with_option(after) {
        take_front_options(after, &mut taken)?
    } else {
        after
    };
    let (after, taken) = options_at_end(after, &taken).unwrap_or((after, taken));
    let (before, taken) = match options_at_end(before, &taken).filter(|_| after.trim().is_empty()) {
        Some((text, read)) => (before.get(..text.len() + 1).unwrap_or(text), read),
        None => (before, taken),
    };
    refuse_check_within(before)?;
    refuse_check_within(after)?;
    if taken == *options && [before, after] == [prompt[0], prompt[2]] {
        return Ok(None);
    }
    let is_alone = before.trim().is_empty() && after.trim().is_empty();
    let blank = if after.starts_with(char::is_whitespace) {
        ""
    } else {
        " "
    };
    let task = (!is_alone).then(|| {
        format!("{before}{keyword}{blank}{after}")
            .trim_end()
            .to_owned()
            .into()
    });
    Ok(Some(UlwArguments {
        task,
        options: taken,
    }))
}

fn begins_with_option(text: &str) -> bool {
    let name = split_option(first_word(text).0).0;
    NAMES.contains(&name)
        || limit_named(name, OptionPosition::Front).is_some()
        || similar_name(name).is_some()
}

fn take_front_options<'a>(text: &'a str, options: &mut UlwOptions) -> Result<&'a str, UlwRefusal> {
    let mut text = text;
    while let Some(rest) = take_option(text, options, OptionPosition::Front)? {
        // One white space parts an option from what follows.
        text = rest.strip_prefix(char::is_whitespace).unwrap_or(rest);
    }
    Ok(text)
}

const NAMES: [&str; 7] = [
    "-h",
    "--help",
    "--completion-promise",
    "--no-review",
    "--prove",
    "--new",
    "--check",
];

/// The option that a misspelt word means, which would silently become part of the task.
fn similar_name(name: &str) -> Option<&'static str> {
    const SHORTEST: usize = 4;
    let typed = plain_name(name);
    // Input methods make one dash of two.
    if !["--", "—", "–"].iter().any(|dash| name.starts_with(dash)) || typed.len() < SHORTEST {
        return None;
    }
    NAMES
        .into_iter()
        .skip(2)
        .chain(LIMITS.iter().filter_map(|row| row.option))
        .filter(|known_name| *known_name != name)
        .find(|known_name| {
            let known = plain_name(known_name);
            known.starts_with(&typed)
                || typed
                    .strip_prefix(&known)
                    .is_some_and(|more| more.len() <= 2)
                || differs_in_one_byte(&known, &typed)
        })
}

fn plain_name(name: &str) -> String {
    name.replace(['-', '_', '—', '–'], "").to_ascii_lowercase()
}

fn differs_in_one_byte(one: &str, other: &str) -> bool {
    let same_start = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let same_end = one
        .bytes()
        .rev()
        .zip(other.bytes().rev())
        .take_while(|(a, b)| a == b)
        .count();
    same_start + same_end + 1 >= one.len().max(other.len())
}

const CANDIDATES: usize = 32;

fn options_at_end<'a>(text: &'a str, options: &UlwOptions) -> Option<(&'a str, UlwOptions)> {
    let candidates: Vec<usize> = text
        .rmatch_indices("--")
        .map(|(at, _)| at)
        .filter(|at| {
            text.get(..*at)
                .is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
        })
        .take(CANDIDATES)
        .collect();
    candidates.into_iter().rev().find_map(|at| {
        let (before, rest) = text.split_at_checked(at)?;
        let read = all_options(rest, options.clone())?;
        Some((before.trim_end(), read))
    })
}

fn all_options(text: &str, mut options: UlwOptions) -> Option<UlwOptions> {
    let mut text = text;
    while !text.trim().is_empty() {
        text = take_option(text, &mut options, OptionPosition::End).ok()??;
    }
    Some(options)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionPosition {
    Front,
    End,
}

/// Takes one option from the front of `text` and gives the rest; `None` without one.
fn take_option<'a>(
    text: &'a str,
    options: &mut UlwOptions,
    place: OptionPosition,
) -> Result<Option<&'a str>, UlwRefusal> {
    let (word, rest) = first_word(text);
    let (name, inline) = split_option(word);
    match (name, place) {
        ("-h" | "--help", OptionPosition::Front) => Err(UlwRefusal::Help),
        ("--completion-promise", OptionPosition::Front) => {
            let why = "`--completion-promise` is not an option: the promise is always DONE";
            Err(UlwRefusal::BadOption(why.to_owned()))
        }
        ("--no-review", _) if inline.is_none() => {
            options.review = false;
            Ok(Some(rest))
        }
        ("--prove", _) if inline.is_none() => {
            options.prove = ProveMode::Require;
            Ok(Some(rest))
        }
        ("--new", OptionPosition::Front) if inline.is_none() => {
            options.begins_anew = true;
            Ok(Some(rest))
        }
        ("--check", _) => {
            // `=value` in the same word, or the next one.
            let value = match inline {
                Some(_) => text.trim_start().get(name.len() + 1..).unwrap_or_default(),
                None => rest.trim_start(),
            };
            let (command, rest) =
                quoted(value).ok_or_else(|| bad_check("`--check` needs a command in quotes"))?;
            if command.contains('\n') {
                return Err(bad_check("`--check` needs a command on one line"));
            }
            let check = Check::new(None, &command, CheckOrigin::User)
                .map_err(|error| bad_check(&format!("`--check`: {error}")))?;
            session_check::add_check(&mut options.checks, check)
                .map_err(|error| bad_check(&format!("`--check`: {error}")))?;
            Ok(Some(rest))
        }
        _ => {
            let Some(limit) = limit_named(name, place) else {
                let similar = similar_name(name).filter(|_| place == OptionPosition::Front);
                return similar.map_or(Ok(None), |similar| {
                    let shown = crate::text::sanitize(name, 40);
                    Err(UlwRefusal::BadOption(format!(
                        "`{shown}` is not an option, `{similar}` is"
                    )))
                });
            };
            let (value, rest) = inline.map_or_else(|| first_word(rest), |value| (value, rest));
            set_limit(&mut options.limits, limit, name, value)?;
            Ok(Some(rest))
        }
    }
}

fn bad_check(why: &str) -> UlwRefusal {
    UlwRefusal::BadOption(why.to_owned())
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’')];

/// A quoted value or one word, and the rest; `None` for an open quote, or a word that continues
/// behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let begins = text.chars().next();
    // Input methods write these for the quotes of a keyboard.
    let quote = begins.and_then(|open| {
        QUOTES
            .into_iter()
            .find(|(opening, _)| *opening == open)
            .map(|(_, closing)| closing)
    });
    let Some(quote) = quote else {
        let (word, rest) = first_word(text);
        return Some((word.to_owned(), rest));
    };
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        if char == quote {
            let rest = text.get(at + char.len_utf8()..)?;
            return (rest.is_empty() || rest.starts_with(char::is_whitespace))
                .then_some((value, rest));
        }
        match (char, quote) {
            ('\\', '"') => {
                let (_, next) = chars.next()?;
                // A shell keeps the backslash before other characters.
                if !matches!(next, '"' | '\\') {
                    value.push('\\');
                }
                value.push(next);
            }
            _ => value.push(char),
        }
    }
    None
}

fn set_limit(
    limits: &mut RunLimits,
    row: &LimitRow,
    name: &str,
    value: &str,
) -> Result<(), UlwRefusal> {
    let taken = value.parse().is_ok_and(|value| limits.set(row, value));
    if taken {
        return Ok(());
    }
    let range = format!("a number from {}", row.range_text());
    let shown = crate::text::sanitize(value, 40);
    Err(UlwRefusal::BadOption(if value.is_empty() {
        format!("`{name}` needs {range}")
    } else {
        format!("`{name}` needs {range}, not `{shown}`")
    }))
}

/// In front also the name that other loops gave this option.
fn limit_named(name: &str, place: OptionPosition) -> Option<&'static LimitRow> {
    match (name, place) {
        ("--max-iterations", OptionPosition::Front) => LimitRow::named("max_blocks"),
        _ => LIMITS.iter().find(|row| row.option == Some(name)),
    }
}

/// The halves of `--x=v`; anything else whole.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> UlwOptions {
        UlwOptions {
            limits: RunLimits::default(),
            checks: Vec::new(),
            review: true,
            prove: ProveMode::default(),
            begins_anew: false,
        }
    }

    fn task(arguments: &str) -> Option<String> {
        parse(arguments, options())
            .unwrap()
            .task
            .map(Cow::into_owned)
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
            assert_eq!(task(text).as_deref(), Some(text), "{text:?}");
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
            (
                "--max-minutes 9 --max-blocks=5 fix  it",
                5,
                9,
                Some("fix  it"),
            ),
            ("--max-blocks 5\nfix\nit", 5, 240, Some("fix\nit")),
            ("fix it --max-blocks 5", 5, 240, Some("fix it")),
            (
                "--max-minutes=9 fix it --max-blocks=5",
                5,
                9,
                Some("fix it"),
            ),
            (
                "fix it --max-minutes 9 --max-blocks 5",
                5,
                9,
                Some("fix it"),
            ),
            ("--max-iterations 5 fix it", 5, 240, Some("fix it")),
            ("--max-blocks 5", 5, 240, None),
            ("--max-blocks 5  `a; b`", 5, 240, Some(" `a; b`")),
        ] {
            let read = parse(text, options()).unwrap();
            let limits = read.options.limits;
            assert_eq!(
                (limits.max_blocks, limits.max_minutes),
                (blocks, minutes),
                "{text}"
            );
            assert_eq!(read.task.as_deref(), task, "{text}");
        }
    }

    #[test]
    fn checks_are_read_byte_for_byte_and_a_review_is_turned_off() {
        for (text, checks, review, task) in [
            (
                "--check \"cargo test\" fix it",
                vec!["cargo test"],
                true,
                Some("fix it"),
            ),
            (
                "--check='npm test' --no-review fix it",
                vec!["npm test"],
                false,
                Some("fix it"),
            ),
            (
                "--check \"cargo test\" --check ./check.sh  fix it",
                vec!["cargo test", "./check.sh"],
                true,
                Some(" fix it"),
            ),
            (
                "fix it --check \"cargo test --all\" --max-blocks 3",
                vec!["cargo test --all"],
                true,
                Some("fix it"),
            ),
            ("fix it --no-review", vec![], false, Some("fix it")),
            ("--no-review\nfix it", vec![], false, Some("fix it")),
            ("--check true", vec!["true"], true, None),
            (
                r#"--check "echo \"a\" $HOME \n" x"#,
                vec![r#"echo "a" $HOME \n"#],
                true,
                Some("x"),
            ),
            (r"--check 'a \' b", vec![r"a \"], true, Some("b")),
            (
                "explain --check and the rest",
                vec![],
                true,
                Some("explain --check and the rest"),
            ),
            (
                "explain --check \"open",
                vec![],
                true,
                Some("explain --check \"open"),
            ),
            (
                "say \"--no-review\"",
                vec![],
                true,
                Some("say \"--no-review\""),
            ),
            ("--no-review=1 x", vec![], true, Some("--no-review=1 x")),
        ] {
            let read = parse(text, options()).unwrap();
            let runs: Vec<&str> = read
                .options
                .checks
                .iter()
                .map(|check| check.command.as_str())
                .collect();
            assert_eq!(
                (runs, read.options.review, read.task.as_deref()),
                (checks, review, task),
                "{text}"
            );
        }
    }

    #[test]
    fn options_beside_the_keyword_are_no_part_of_the_task() {
        for (prompt, check, blocks, task) in [
            (
                ["", "ulw", " --check 'sh test.sh' fix the tests"],
                Some("sh test.sh"),
                8,
                Some("ulw fix the tests"),
            ),
            (
                ["", "ulw", " fix the tests --check 'sh test.sh'"],
                Some("sh test.sh"),
                8,
                Some("ulw fix the tests"),
            ),
            (
                ["--max-blocks 3 ", "ulw", " fix it"],
                None,
                3,
                Some("ulw fix it"),
            ),
            (
                ["Fix the tests. ", "ulw", " --check make --max-blocks=2"],
                Some("make"),
                2,
                Some("Fix the tests. ulw"),
            ),
            (["", "ulw", " --max-blocks 3"], None, 3, None),
            (
                ["", "ulw", ": --check “sh t.sh” fix"],
                Some("sh t.sh"),
                8,
                Some("ulw fix"),
            ),
            (
                ["fix it --check 'sh test.sh' ", "ulw", ""],
                Some("sh test.sh"),
                8,
                Some("fix it ulw"),
            ),
            (
                ["fix it --max-blocks 3 ", "ulw", "\n"],
                None,
                3,
                Some("fix it ulw"),
            ),
        ] {
            let read = parse_around_keyword(prompt, &options()).unwrap().unwrap();
            let command = read
                .options
                .checks
                .first()
                .map(|check| check.command.as_str());
            assert_eq!(
                (
                    command,
                    read.options.limits.max_blocks,
                    read.task.as_deref()
                ),
                (check, blocks, task),
                "{prompt:?}"
            );
        }
        for prompt in [
            ["", "ulw", " fix the tests"],
            ["document --check ", "ulw", ""],
            ["", "ulw", " --unknown x"],
            ["", "ulw", " document the --max-blocks 3 option"],
        ] {
            assert_eq!(
                parse_around_keyword(prompt, &options()).unwrap(),
                None,
                "{prompt:?}"
            );
        }
        for prompt in [
            ["", "ulw", " --checks make fix"],
            ["", "ulw", " --chek 'make' fix"],
            ["", "ulw", " --check \"open fix"],
            ["--max-blocks x ", "ulw", ""],
            ["fix --check 'make' the tests ", "ulw", ""],
        ] {
            assert!(
                parse_around_keyword(prompt, &options()).is_err(),
                "{prompt:?}"
            );
        }
    }

    #[test]
    fn a_hostile_tail_is_read_in_no_time_worth_naming() {
        let text = format!("x {}", "--check \"a ".repeat(10_000));
        assert_eq!(task(&text), Some(text));
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
            ("--check", "a check needs a command"),
            ("--check \"cargo test fix", "needs a command in quotes"),
            ("--check \"\" fix", "a check needs a command"),
            ("--check \"a\"b fix", "needs a command in quotes"),
            ("fix --check 'make' the tests", "in the middle of the task"),
            ("--checks 'make' x", "`--check` is"),
            ("--chec='make' x", "`--check` is"),
            ("--max_blocks 3 x", "`--max-blocks` is"),
            ("--noreview x", "`--no-review` is"),
            ("-h", "usage:"),
            ("--help me", "usage:"),
        ] {
            let message = parse(text, options()).unwrap_err().message();
            assert!(message.contains(part), "{text}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

//! Parses an expected result of a command: `exit 1`, `all tests pass`, or quoted output.

use omo_core::check::task_check::{ExpectedExit, ExpectedResult, has_pipe};

use super::split_code_span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatedOutcome {
    #[default]
    Nothing,
    Success,
    Failure,
}

/// Expected result of a command, with the outcome in words.
pub(super) struct Expectation {
    pub(super) expect: ExpectedResult,
    pub(super) stated: StatedOutcome,
    pub(super) is_prose: bool,
}

const FAILING: [&str; 6] = ["fail", "fails", "failed", "failing", "failure", "red"];
const PASSING: [&str; 9] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "success",
    "succeeds",
    "succeeded",
    "ok",
    "green",
];
const SHOWING: [&str; 18] = [
    "contains",
    "contain",
    "containing",
    "includes",
    "include",
    "including",
    "shows",
    "show",
    "prints",
    "print",
    "printed",
    "output",
    "outputs",
    "displays",
    "says",
    "with",
    "returns",
    "reports",
];
/// Words beside which a quotation may be unwanted output.
const DENYING: [&str; 12] = [
    "no", "not", "without", "never", "nothing", "zero", "absent", "missing", "removed", "instead",
    "or", "except",
];

pub(super) fn parse_expectation(text: &str, command: &str) -> Expectation {
    let (prose, quotes) = split_quotes(text);
    let lower = prose.to_lowercase();
    let words = split_words(&lower);
    // One of several quotations is ambiguous.
    let quote = if let [quote] = quotes.as_slice() {
        *quote
    } else {
        ""
    };
    let quote_lower = quote.to_lowercase();
    let exit_in_quote = parse_exit(&self::split_words(&quote_lower));
    let exit = parse_exit(&words)
        .or(exit_in_quote)
        .or_else(|| finds_nothing(command, &words, quote));
    let (exit, stated) = match exit {
        Some(ExpectedExit::Zero) => (ExpectedExit::Zero, StatedOutcome::Success),
        Some(exit) => (exit, StatedOutcome::Failure),
        None => match stated_end(&words) {
            StatedOutcome::Failure => (ExpectedExit::NonZero, StatedOutcome::Failure),
            stated => (ExpectedExit::Zero, stated),
        },
    };
    let is_shown = words.is_empty() || words.iter().any(|word| SHOWING.contains(word));
    let is_denied = words.iter().any(|word| DENYING.contains(word)) || lower.contains("n't");
    let is_output = is_shown && !is_denied && exit_in_quote.is_none() && !quote.trim().is_empty();
    let stdout_has = is_output.then(|| quote.to_owned());
    let is_prose = stated == StatedOutcome::Nothing && stdout_has.is_none();
    Expectation {
        expect: ExpectedResult { exit, stdout_has },
        stated,
        is_prose,
    }
}

fn split_words(lower: &str) -> Vec<&str> {
    lower
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

fn split_quotes(text: &str) -> (String, Vec<&str>) {
    let (mut prose, mut quotes, mut rest) = (String::new(), Vec::new(), text);
    while let Some(at) = rest.find(['`', '"', '“']) {
        let (before, behind) = rest.split_at(at);
        prose.push_str(before);
        prose.push(' ');
        let close = if behind.starts_with('“') {
            '”'
        } else {
            '"'
        };
        let quote =
            split_code_span(behind).or_else(|| behind.get(close.len_utf8()..)?.split_once(close));
        let Some((quote, behind)) = quote.filter(|_| behind.starts_with('`') || behind.len() > 1)
        else {
            rest = behind.get(1..).unwrap_or_default();
            continue;
        };
        quotes.push(quote);
        rest = behind;
    }
    prose.push_str(rest);
    (prose, quotes)
}

fn parse_exit(words: &[&str]) -> Option<ExpectedExit> {
    let exit_at = words
        .iter()
        .position(|word| matches!(*word, "exit" | "exits" | "exited" | "status"));
    let has_exit = exit_at.is_some() || words.contains(&"returns");
    if has_exit
        && (words.contains(&"nonzero") || words.windows(2).any(|pair| pair == ["non", "zero"]))
    {
        return Some(ExpectedExit::NonZero);
    }
    let at = exit_at?;
    let between = ["code", "status", "with", "of", "is", "a", "value"];
    let mut behind = words
        .iter()
        .skip(at + 1)
        .skip_while(|word| between.contains(*word));
    let status = behind.next()?.parse::<i32>().ok()?;
    // `exit 0 or 1` cannot be held to.
    let is_one_of = behind.next().is_some_and(|word| *word == "or");
    (!is_one_of && (0..256).contains(&status)).then_some(match status {
        0 => ExpectedExit::Zero,
        status => ExpectedExit::Exactly(status),
    })
}

/// Outcome in words: `FAIL …`, `all tests pass`, `3 passed`.
fn stated_end(words: &[&str]) -> StatedOutcome {
    if words.first().is_some_and(|word| FAILING.contains(word)) {
        return StatedOutcome::Failure;
    }
    let is_clean = ["no", "0", "zero", "without"];
    let has_failure = words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        (FAILING.contains(word) || matches!(*word, "failures" | "errors"))
            && !before.is_some_and(|word| is_clean.contains(word))
    });
    let is_denied = words.iter().any(|word| matches!(*word, "not" | "cannot"));
    if words.iter().any(|word| PASSING.contains(word)) && !has_failure && !is_denied {
        StatedOutcome::Success
    } else {
        StatedOutcome::Nothing
    }
}

/// Status `1` for `no output` of a search program such as `grep`.
fn finds_nothing(command: &str, words: &[&str], quote: &str) -> Option<ExpectedExit> {
    let mut parts = command.split_whitespace();
    let mut program = parts.next()?;
    if program == "git" {
        program = parts.next()?;
    }
    let is_search = matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack");
    let is_alone =
        !has_pipe(command) && !command.contains([';', '&', '\n']) && !command.contains("||");
    let things = [
        "output",
        "match",
        "matches",
        "result",
        "results",
        "hit",
        "hits",
        "line",
        "lines",
        "occurrences",
    ];
    let says_none = words.windows(2).any(|pair| {
        let (first, second) = (
            pair.first().copied().unwrap_or_default(),
            pair.last().copied().unwrap_or_default(),
        );
        (matches!(first, "no" | "0" | "zero" | "empty") && things.contains(&second))
            || (first, second) == ("not", "found")
    });
    let is_zero = matches!(
        (words, quote),
        (["0" | "zero" | "nothing" | "empty" | "none", ..], _) | ([], "0")
    );
    (is_search && is_alone && (says_none || is_zero)).then_some(ExpectedExit::Exactly(1))
}

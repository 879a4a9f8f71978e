//! The text behind `Depends on:`: the tasks that it names, nothing, or neither.

use crate::segments::outline::{half, id, leading};

/// Words for nothing, whatever the case of their letters.
const NOTHING: [&str; 9] = ["none", "n/a", "na", "no", "nothing", "nil", "null", "not", "无"];
/// What joins the ends of a range.
const RANGE: [&str; 10] = ["...", "..", "…", "-", "–", "—", "−", "~", "through", "to"];
/// What stands between the members of a list. Longer ones first.
const JOINTS: [&str; 9] = ["and", "or", ",", ";", "&", "/", "+", "、", "，"];

/// One thing that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// Its id.
    One(&'a str),
    /// The numbers of its two ends.
    Range(u64, u64),
}

/// What stands behind a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// That nothing is needed.
    Nothing,
    /// What is needed.
    References(Vec<Reference<'a>>),
    /// Something that names no task.
    Unreadable,
}

/// Two values as one: what names nothing gives way.
pub(super) fn merged<'a>(one: Value<'a>, other: Value<'a>) -> Value<'a> {
    match (one, other) {
        (Value::References(mut all), Value::References(more)) => {
            all.extend(more);
            Value::References(all)
        }
        (Value::References(all), _) | (_, Value::References(all)) => Value::References(all),
        (_, other) => other,
    }
}

/// Reads what stands behind a label, or in an item below it.
pub(super) fn parse(text: &str) -> Value<'_> {
    let plain = text.trim_matches(|char: char| char.is_whitespace() || "*_`.()[]".contains(char));
    if !plain.chars().any(char::is_alphanumeric) || is_nothing(plain) {
        return Value::Nothing;
    }
    let references = references(text);
    if references.is_empty() { Value::Unreadable } else { Value::References(references) }
}

/// Whether a text says nothing is needed. `None beyond Task 1` does not.
fn is_nothing(text: &str) -> bool {
    let behind = |word: &&str| {
        let (said, behind) = text.split_at_checked(word.len())?;
        said.eq_ignore_ascii_case(word).then_some(behind)
    };
    let mut rests = NOTHING.iter().filter_map(behind).filter(|rest| !rest.starts_with(char::is_alphanumeric));
    rests.any(|rest| {
        let rest = rest.trim_start();
        references(rest).is_empty() || rest.starts_with(|char: char| !char.is_alphanumeric())
    })
}

/// All that a text names.
fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = next_word(rest) {
        rest = if before.ends_with(|char: char| char.is_alphanumeric()) { behind } else { list(behind, &mut found) };
    }
    found
}

/// The text before and behind the next `task` or `tasks`.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let is_word = |at: usize| text.get(at..at + 4).is_some_and(|word| word.eq_ignore_ascii_case("task"));
    let at = memchr::memchr2_iter(b't', b'T', text.as_bytes()).find(|at| is_word(*at))?;
    let behind = text.get(at + 4..)?;
    Some((text.get(..at)?, behind.strip_prefix(['s', 'S']).unwrap_or(behind)))
}

/// Reads the list of numbers that a text begins with, and gives what is behind it.
fn list<'a>(text: &'a str, found: &mut Vec<Reference<'a>>) -> &'a str {
    let mut rest = text;
    let mut next = number(text);
    while let Some((one, has_half, behind)) = next {
        rest = behind;
        match range_end(behind).filter(|_| !has_half) {
            Some((other, behind)) => {
                found.push(Reference::Range(value(one), value(other)));
                rest = behind;
            }
            None => found.push(Reference::One(id(one))),
        }
        next = joint(rest).and_then(number);
    }
    rest
}

/// A number as a range has it: one that is too large is larger than every task's.
fn value(number: &str) -> u64 {
    number.parse().unwrap_or(u64::MAX)
}

/// A number with the word behind it, whether there is one, and the rest; none with a letter or a part behind a
/// point.
fn number(text: &str) -> Option<(&str, bool, &str)> {
    let inner = text.trim_start_matches(|char: char| char.is_whitespace() || "#`*_[".contains(char));
    let (number, rest) = leading(inner, |char| char.is_ascii_digit());
    let (half, rest) = half(rest);
    let is_part = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    let is_whole = !rest.starts_with(char::is_alphanumeric) && !is_part;
    let is_number = !number.is_empty() && number.len() <= crate::id::MAX_LEN && is_whole;
    let written = inner.get(..inner.len() - rest.len()).filter(|_| is_number)?;
    Some((written, half.is_some(), rest))
}

fn range_end(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches([' ', '`', '*', '_']);
    let behind = RANGE.iter().find_map(|sign| inner.strip_prefix(sign))?.trim_start();
    let behind = match next_word(behind) {
        Some(("" | "`" | "*" | "**" | "[", behind)) => behind,
        _ => behind,
    };
    match number(behind)? {
        (number, false, rest) => Some((number, rest)),
        _ => None,
    }
}

/// What is behind the signs between two members of a list, with what explains the first one in
/// parentheses.
fn joint(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches([' ', '`', '*', '_', ']']);
    if let Some(inner) = rest.strip_prefix('(') {
        let (said, behind) = inner.split_once(')')?;
        rest = if said.to_ascii_lowercase().contains("task") { rest } else { behind };
    }
    let mut is_joined = false;
    loop {
        rest = rest.trim_start();
        match JOINTS.iter().find_map(|joint| rest.strip_prefix(joint)) {
            Some(behind) => (rest, is_joined) = (behind, true),
            None => return is_joined.then_some(rest),
        }
    }
}

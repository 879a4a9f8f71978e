//! Parser of the value of `Depends on:`: references to tasks, no dependency, or unreadable text.

use crate::pattern::Pattern;

/// Words for no dependency, such as `none`; none is the beginning of a later alternative.
static NOTHING: Pattern = Pattern::new(r"^(?:{nothing})");
static WORD: Pattern = Pattern::new(r"(?i-u:tasks)|{task}");
static NUMBER: Pattern = Pattern::new(
    r"^[\s#`*_\[]*0*([0-9]+((?:\.[0-9]+)*[A-Za-z]?(?:-[A-Za-z]+)?)|([A-Z][0-9]+(?:\.[0-9]+)*))",
);
static ALL_BEFORE: Pattern = Pattern::new(
    r"(?i-u:\b(?:all|every|each|any)\b)[^.;,()]{0,20}\b(?i-u:previous|prior|above|preceding|earlier|other|tasks)\b|(?i-u:\b(?:previous|prior|preceding|earlier)\s+tasks\b)|所有(?:前|之前|任务)|前面所有",
);
static ONE_BEFORE: Pattern =
    Pattern::new(r"(?i-u:\b(?:previous|prior|preceding)\s+task\b)|上一个任务|前一个任务");
static DENIED: Pattern = Pattern::new(
    r"(?:[,;—–-]\s*)?\b(?i-u:but not|not|without|independent(?:ly)? of|(?:in )?parallel (?:with|to)|except(?: for)?|unlike|rather than|instead of)\b[^,;.()（）]*",
);
/// Id of a decision, such as `DP-001`, which the user is asked for before anything runs.
static DECISION: Pattern = Pattern::new(r"\bDP-[0-9]+");
/// End of a list of bare numbers, without a word such as `Task` before them.
static LIST_END: Pattern = Pattern::new(r"^[\s`*_\]]*(?:$|[.,;:(（—–-])");
/// Text between the ends of a range, such as `–` or `through`.
static TO: Pattern =
    Pattern::new(r"^[ `*_]*(?:\.{2,3}|[…\-–—−~]|through|to)\s*(?:(?:`|\*\*?|\[)?(?i-u:tasks?))?");
/// Separator of the members of a list, such as `,` or `and`.
static JOINT: Pattern = Pattern::new(r"^[ `*_\]]*\s*(?:(?:and|or|[,;&/+、，])\s*)+");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    One(&'a str),
    /// First and last task number, both inclusive.
    Range(u64, u64),
    AllBefore,
    OneBefore,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Nothing,
    References(Vec<Reference<'a>>),
    Unreadable,
}

/// References of both values; other values give way to them.
pub(super) fn merge_values<'a>(one: Value<'a>, other: Value<'a>) -> Value<'a> {
    match (one, other) {
        (Value::References(mut all), Value::References(more)) => {
            all.extend(more);
            Value::References(all)
        }
        (Value::References(all), _) | (_, Value::References(all)) => Value::References(all),
        (_, other) => other,
    }
}

pub(super) fn parse_references(text: &str) -> Value<'_> {
    let plain = text.trim_matches(|char: char| char.is_whitespace() || "*_`.()[]".contains(char));
    if !plain.chars().any(char::is_alphanumeric) || is_nothing(plain) {
        return Value::Nothing;
    }
    let references = references(text);
    match references.is_empty() {
        true if DECISION.is_match(text) => Value::Nothing,
        true => Value::Unreadable,
        false => Value::References(references),
    }
}

/// `true` for a denial of all dependencies, such as `None`; `false` for `None beyond Task 1`.
fn is_nothing(text: &str) -> bool {
    let behind = NOTHING
        .behind(text)
        .filter(|rest| !rest.starts_with(char::is_alphanumeric));
    behind.map(str::trim_start).is_some_and(|rest| {
        references(rest).is_empty() || rest.starts_with(|char: char| !char.is_alphanumeric())
    })
}

/// References outside of brackets, or else within: text in brackets explains the text before it.
fn references(text: &str) -> Vec<Reference<'_>> {
    let (outside, inside) = split_brackets(text);
    let found = named_in_parts(&outside);
    if found.is_empty() {
        named_in_parts(&inside)
    } else {
        found
    }
}

fn named_in_parts<'a>(parts: &[&'a str]) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        for affirmed in split_denied(part) {
            // A list may continue after a remark in brackets.
            let goes_on = (place > 0 && !found.is_empty())
                .then(|| behind_joint(affirmed))
                .flatten();
            if let Some(rest) = goes_on.filter(|rest| split_id(rest).is_some()) {
                read_reference_list(rest, &mut found);
            }
            find_named(affirmed, place == 0, &mut found);
        }
    }
    found
}

fn find_named<'a>(text: &'a str, is_first: bool, found: &mut Vec<Reference<'a>>) {
    let known = found.len();
    let mut rest = text;
    while let Some((before, behind)) = WORD.around(rest) {
        rest = if before.ends_with(char::is_alphanumeric) && before.is_ascii() {
            behind
        } else {
            read_reference_list(behind, found)
        };
    }
    if found.len() > known {
        return;
    }
    if ALL_BEFORE.is_match(text) {
        found.push(Reference::AllBefore);
    } else if ONE_BEFORE.is_match(text) {
        found.push(Reference::OneBefore);
    } else if is_first {
        let mut numbers = Vec::new();
        let rest = read_reference_list(text, &mut numbers);
        found.extend(numbers.into_iter().filter(|_| LIST_END.is_match(rest)));
    }
}

fn split_brackets(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut outside, mut inside, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(open) = rest.find(['(', '（']) {
        let Some(length) = rest.get(open..).and_then(|behind| behind.find([')', '）'])) else {
            break;
        };
        let (before, behind) = rest.split_at(open);
        outside.push(before);
        inside.extend(
            behind
                .get(..length)
                .map(|inner| inner.trim_start_matches(['(', '（'])),
        );
        rest = behind
            .get(length..)
            .unwrap_or_default()
            .trim_start_matches([')', '）']);
    }
    outside.push(rest);
    (outside, inside)
}

fn split_denied(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = DENIED.around(rest) {
        found.push(before);
        rest = behind;
    }
    found.push(rest);
    found
}

/// Reads the numbers at the start; returns the rest.
fn read_reference_list<'a>(text: &'a str, found: &mut Vec<Reference<'a>>) -> &'a str {
    let mut rest = text;
    let mut next = split_id(text);
    while let Some((one, is_more, behind)) = next {
        rest = behind;
        let end = if is_more {
            None
        } else {
            TO.behind(behind).and_then(split_id)
        };
        match end.filter(|(_, is_more, _)| !is_more) {
            Some((other, _, behind)) => {
                found.push(Reference::Range(
                    parse_task_number(one),
                    parse_task_number(other),
                ));
                rest = behind;
            }
            None => found.push(Reference::One(one)),
        }
        next = behind_joint(rest).and_then(split_id);
    }
    rest
}

fn parse_task_number(number: &str) -> u64 {
    number.parse().unwrap_or(u64::MAX)
}

/// Id at the start, `true` for an id that is more than a number (`2.1`, `3a`), and the rest.
fn split_id(text: &str) -> Option<(&str, bool, &str)> {
    let ([id, more, letter], rest) = NUMBER.read(text)?;
    let is_whole = !rest.starts_with(char::is_alphanumeric);
    let is_more = !(more.is_empty() && letter.is_empty());
    (is_whole && id.len() <= crate::id::MAX_ID_BYTES).then_some((id, is_more, rest))
}

fn behind_joint(text: &str) -> Option<&str> {
    JOINT.behind(text)
}

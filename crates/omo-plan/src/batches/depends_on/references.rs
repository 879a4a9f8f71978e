//! The text behind `Depends on:`: the tasks that it names, nothing, or neither.

use crate::pattern::Pattern;

/// Words for nothing. None of them is the beginning of one behind it.
static NOTHING: Pattern = Pattern::new(r"^(?:(?i-u:none|nothing|null|not|no|n/a|nil|na)|无)");
/// What a list of numbers stands behind.
static WORD: Pattern = Pattern::new(r"(?i-u:tasks?)");
/// A number without the zeros before it, and the word behind it.
static NUMBER: Pattern = Pattern::new(r"^[\s#`*_\[]*0*([0-9]+(-[A-Za-z]+)?)");
/// What joins the ends of a range.
static TO: Pattern = Pattern::new(r"^[ `*_]*(?:\.{2,3}|[…\-–—−~]|through|to)\s*(?:(?:`|\*\*?|\[)?(?i-u:tasks?))?");
/// What stands between the members of a list, with what explains the first one in parentheses.
static JOINT: Pattern = Pattern::new(r"^[ `*_\]]*(\([^)]*\))?\s*(?:(?:and|or|[,;&/+、，])\s*)+");

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

/// Reads what stands behind a label, or in an item below it.
pub(super) fn parse_references(text: &str) -> Value<'_> {
    let plain = text.trim_matches(|char: char| char.is_whitespace() || "*_`.()[]".contains(char));
    if !plain.chars().any(char::is_alphanumeric) || is_nothing(plain) {
        return Value::Nothing;
    }
    let references = references(text);
    if references.is_empty() { Value::Unreadable } else { Value::References(references) }
}

/// Whether a text says nothing is needed. `None beyond Task 1` does not.
fn is_nothing(text: &str) -> bool {
    let behind = NOTHING.behind(text).filter(|rest| !rest.starts_with(char::is_alphanumeric));
    behind
        .map(str::trim_start)
        .is_some_and(|rest| references(rest).is_empty() || rest.starts_with(|char: char| !char.is_alphanumeric()))
}

/// All that a text names.
fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = WORD.around(rest) {
        rest = if before.ends_with(char::is_alphanumeric) { behind } else { read_reference_list(behind, &mut found) };
    }
    found
}

/// Reads the list of numbers that a text begins with, and gives what is behind it.
fn read_reference_list<'a>(text: &'a str, found: &mut Vec<Reference<'a>>) -> &'a str {
    let mut rest = text;
    let mut next = split_number(text);
    while let Some((one, is_half, behind)) = next {
        rest = behind;
        let end = if is_half { None } else { TO.behind(behind).and_then(split_number) };
        match end.filter(|(_, is_half, _)| !is_half) {
            Some((other, _, behind)) => {
                found.push(Reference::Range(parse_task_number(one), parse_task_number(other)));
                rest = behind;
            }
            None => found.push(Reference::One(one)),
        }
        next = behind_joint(rest).and_then(split_number);
    }
    rest
}

/// A number as a range has it: one that is too large is larger than every task's.
fn parse_task_number(number: &str) -> u64 {
    number.parse().unwrap_or(u64::MAX)
}

/// A task's id, whether it is half of a pair, and the rest; none with a letter or a part behind a point.
fn split_number(text: &str) -> Option<(&str, bool, &str)> {
    let ([id, half], rest) = NUMBER.read(text)?;
    let is_part = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    let is_whole = !rest.starts_with(char::is_alphanumeric) && !is_part;
    (is_whole && id.len() <= crate::id::MAX_ID_BYTES).then_some((id, !half.is_empty(), rest))
}

fn behind_joint(text: &str) -> Option<&str> {
    let ([remark], behind) = JOINT.read(text)?;
    // What names a task itself explains nothing.
    (!remark.to_ascii_lowercase().contains("task")).then_some(behind)
}

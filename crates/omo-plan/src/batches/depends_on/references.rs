//! The text behind `Depends on:`: the tasks that it names, nothing, or neither.

use crate::pattern::Pattern;

/// Words for nothing. None of them is the beginning of one behind it.
static NOTHING: Pattern = Pattern::new(r"^(?:{nothing})");
/// What a list of numbers stands behind.
static WORD: Pattern = Pattern::new(r"(?i-u:tasks)|{task}");
/// A number without the zeros before it, with its parts, its letter and the word behind it.
static NUMBER: Pattern =
    Pattern::new(r"^[\s#`*_\[]*0*([0-9]+((?:\.[0-9]+)*[A-Za-z]?(?:-[A-Za-z]+)?)|([A-Z][0-9]+(?:\.[0-9]+)*))");
/// Words for all tasks that stand before, and for the one before.
static ALL_BEFORE: Pattern = Pattern::new(
    r"(?i-u:\b(?:all|every|each|any)\b)[^.;,()]{0,20}\b(?i-u:previous|prior|above|preceding|earlier|other|tasks)\b|(?i-u:\b(?:previous|prior|preceding|earlier)\s+tasks\b)|所有(?:前|之前|任务)|前面所有",
);
static ONE_BEFORE: Pattern = Pattern::new(r"(?i-u:\b(?:previous|prior|preceding)\s+task\b)|上一个任务|前一个任务");
/// What says of the tasks behind it that they are not needed, up to where that ends.
static DENIED: Pattern = Pattern::new(
    r"(?:[,;—–-]\s*)?\b(?i-u:but not|not|without|independent(?:ly)? of|(?:in )?parallel (?:with|to)|except(?: for)?|unlike|rather than|instead of)\b[^,;.()（）]*",
);
/// A decision of the plan, which is asked about before anything runs.
static DECISION: Pattern = Pattern::new(r"\bDP-[0-9]+");
/// What may stand behind numbers that no word introduces.
static LIST_END: Pattern = Pattern::new(r"^[\s`*_\]]*(?:$|[.,;:(（—–-])");
/// What joins the ends of a range.
static TO: Pattern = Pattern::new(r"^[ `*_]*(?:\.{2,3}|[…\-–—−~]|through|to)\s*(?:(?:`|\*\*?|\[)?(?i-u:tasks?))?");
/// What stands between the members of a list.
static JOINT: Pattern = Pattern::new(r"^[ `*_\]]*\s*(?:(?:and|or|[,;&/+、，])\s*)+");

/// One thing that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// Its id.
    One(&'a str),
    /// The numbers of its two ends.
    Range(u64, u64),
    /// All tasks that stand before.
    AllBefore,
    /// The task that stands before.
    OneBefore,
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
    match references.is_empty() {
        true if DECISION.is_match(text) => Value::Nothing,
        true => Value::Unreadable,
        false => Value::References(references),
    }
}

/// Whether a text says nothing is needed. `None beyond Task 1` does not.
fn is_nothing(text: &str) -> bool {
    let behind = NOTHING.behind(text).filter(|rest| !rest.starts_with(char::is_alphanumeric));
    behind
        .map(str::trim_start)
        .is_some_and(|rest| references(rest).is_empty() || rest.starts_with(|char: char| !char.is_alphanumeric()))
}

/// All that a text names. What stands in brackets explains what stands before them, and counts where nothing else does.
fn references(text: &str) -> Vec<Reference<'_>> {
    let (outside, inside) = split_brackets(text);
    let found = named_in_parts(&outside);
    if found.is_empty() { named_in_parts(&inside) } else { found }
}

fn named_in_parts<'a>(parts: &[&'a str]) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        for affirmed in split_denied(part) {
            // Behind a remark a list goes on.
            let goes_on = (place > 0 && !found.is_empty()).then(|| behind_joint(affirmed)).flatten();
            if let Some(rest) = goes_on.filter(|rest| split_number(rest).is_some()) {
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

/// The parts of a text that stand in no brackets, and those that do. What is a link is in none.
fn split_brackets(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut outside, mut inside, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(open) = rest.find(['(', '（']) {
        let Some(length) = rest.get(open..).and_then(|behind| behind.find([')', '）'])) else { break };
        let (before, behind) = rest.split_at(open);
        outside.push(before);
        inside.extend(behind.get(..length).map(|inner| inner.trim_start_matches(['(', '（'])));
        rest = behind.get(length..).unwrap_or_default().trim_start_matches([')', '）']);
    }
    outside.push(rest);
    (outside, inside)
}

/// The parts of a text in which nothing is denied.
fn split_denied(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = DENIED.around(rest) {
        found.push(before);
        rest = behind;
    }
    found.push(rest);
    found
}

/// Reads the list of numbers that a text begins with, and gives what is behind it.
fn read_reference_list<'a>(text: &'a str, found: &mut Vec<Reference<'a>>) -> &'a str {
    let mut rest = text;
    let mut next = split_number(text);
    while let Some((one, is_more, behind)) = next {
        rest = behind;
        let end = if is_more { None } else { TO.behind(behind).and_then(split_number) };
        match end.filter(|(_, is_more, _)| !is_more) {
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

/// A task's id, whether it is more than a number, and the rest.
fn split_number(text: &str) -> Option<(&str, bool, &str)> {
    let ([id, more, letter], rest) = NUMBER.read(text)?;
    let is_whole = !rest.starts_with(char::is_alphanumeric);
    let is_more = !(more.is_empty() && letter.is_empty());
    (is_whole && id.len() <= crate::id::MAX_ID_BYTES).then_some((id, is_more, rest))
}

fn behind_joint(text: &str) -> Option<&str> {
    JOINT.behind(text)
}

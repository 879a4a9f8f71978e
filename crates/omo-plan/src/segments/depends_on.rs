//! What a task names behind `Depends on:`, in every form in which plans write it.
//!
//! `Task 1, Task 2 and 3`, `Tasks 1-3`, `Task 2-tests (schema)`, a list below the label, or one of the
//! words for nothing. A number counts behind the word `Task` alone.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::diagnostic::Code;
use crate::document::{Document, lines};
use crate::labels::item;

use super::outline::{Outline, half, id, leading};

const LABEL: &str = "depends on";
/// How many bytes before a label are looked at: for its line's start, a list's sign and emphasis.
const LOOK_BACK: usize = 64;
/// More than so many edges are no plan: each of all tasks needing each of them.
const MAX_EDGES: usize = 100_000;
/// Words for nothing, in small letters.
const NOTHING: [&str; 9] = ["none", "n/a", "na", "no", "nothing", "nil", "null", "not", "无"];
/// What joins the ends of a range.
const RANGE: [&str; 10] = ["...", "..", "…", "-", "–", "—", "−", "~", "through", "to"];
/// What stands between the members of a list. Longer ones first.
const JOINTS: [&str; 9] = ["and", "or", ",", ";", "&", "/", "+", "、", "，"];

/// One thing that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reference {
    One(String),
    /// The numbers of its two ends.
    Range(String, String),
}

/// What stands behind a label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Nothing,
    References(Vec<Reference>),
    Unreadable,
}

/// Reads what every task of the outline depends on.
pub(super) fn read(document: &Document<'_>, outline: &mut Outline) {
    let numbers = numbers(outline);
    let mut seen: HashSet<(usize, String)> = HashSet::new();
    let (mut done, mut edges) = (0, 0_usize);
    for at in places_of_label(document.text) {
        let Some(value) = label_at(document, at).filter(|_| at >= done) else { continue };
        let Some(place) = outline.task_at(at) else { continue };
        if document.code_at(at).is_some() || document.is_in_html(at) {
            continue;
        }
        let (value, span) = value_of(document, value);
        done = span.end;
        let references = match value {
            Value::Nothing => continue,
            Value::References(references) => references,
            Value::Unreadable => {
                let named = outline.tasks.get(place).map(|task| task.id.clone());
                let shown = omo_core::words::neutral(document.slice(span.clone()), 60);
                let text = format!("`{shown}` names no task: a dependency is written as `Task 1`, nothing as `None`");
                outline.report(document, Code::UnparsedDependency, span, text, named.as_deref());
                continue;
            }
        };
        for reference in references {
            let ids = resolve(outline, &numbers, &reference);
            edges += ids.len();
            if edges > MAX_EDGES {
                let text = format!("the tasks name more than {MAX_EDGES} dependencies");
                return outline.report(document, Code::TooManyDependencies, span, text, None);
            }
            for id in ids {
                depend(document, outline, place, id, &span, &mut seen);
            }
        }
    }
}

fn depend(
    document: &Document<'_>,
    outline: &mut Outline,
    place: usize,
    id: Result<String, String>,
    span: &Range<usize>,
    seen: &mut HashSet<(usize, String)>,
) {
    let Some(own) = outline.tasks.get(place).map(|task| task.id.clone()) else { return };
    match id {
        Err(unknown) => {
            let text = format!("there is no task {unknown}");
            outline.report(document, Code::UnknownDependency, span.clone(), text, Some(&own));
        }
        Ok(id) if id == own => {
            let text = format!("task {own} depends on itself");
            outline.report(document, Code::SelfDependency, span.clone(), text, Some(&own));
        }
        Ok(id) => {
            if seen.insert((place, id.clone()))
                && let Some(task) = outline.tasks.get_mut(place)
            {
                task.depends_on.push(id);
            }
        }
    }
}

/// The numbers that tasks have, with the id that each stands for: the task itself, or the
/// implementation of a pair.
fn numbers(outline: &Outline) -> BTreeMap<(usize, String), String> {
    let mut numbers: BTreeMap<(usize, String), String> = BTreeMap::new();
    for task in &outline.tasks {
        let (number, half) = leading(&task.id, |char| char.is_ascii_digit());
        let rank = |id: &str| usize::from(id.ends_with("-impl")) + 2 * usize::from(!id.contains('-'));
        if matches!(half, "" | "-tests" | "-impl") {
            let known = numbers.entry(sortable(number)).or_insert_with(|| task.id.clone());
            if rank(&task.id) > rank(known) {
                known.clone_from(&task.id);
            }
        }
    }
    numbers
}

/// A number without zeros before it, so that two of them compare as numbers do.
fn sortable(number: &str) -> (usize, String) {
    let number = id(number, None);
    (number.len(), number)
}

/// The ids that a reference is for, or the name of what is not there.
fn resolve(
    outline: &Outline,
    numbers: &BTreeMap<(usize, String), String>,
    reference: &Reference,
) -> Vec<Result<String, String>> {
    match reference {
        Reference::One(id) if outline.places.contains_key(id) => vec![Ok(id.clone())],
        Reference::One(id) => vec![numbers.get(&sortable(id)).cloned().ok_or_else(|| id.clone())],
        Reference::Range(one, other) => {
            let (one, other) = (sortable(one), sortable(other));
            let (first, last) = if one <= other { (one, other) } else { (other, one) };
            let count = last.1.parse::<usize>().ok().zip(first.1.parse::<usize>().ok());
            let count = count.and_then(|(last, first)| (last - first).checked_add(1));
            let found: Vec<_> = numbers.range(first.clone()..=last.clone()).map(|(_, id)| Ok(id.clone())).collect();
            let is_whole = count == Some(found.len());
            let missing = (!is_whole).then(|| Err(format!("for each number from {} to {}", first.1, last.1)));
            found.into_iter().chain(missing).collect()
        }
    }
}

/// Where the words of the label stand in a text.
fn places_of_label(text: &str) -> impl Iterator<Item = usize> {
    let is_label = |at: usize| text.get(at..at + LABEL.len()).is_some_and(|word| word.eq_ignore_ascii_case(LABEL));
    memchr::memchr2_iter(b'd', b'D', text.as_bytes()).filter(move |at| is_label(*at))
}

/// The bytes behind the label whose words stand here, up to the end of its line.
fn label_at(document: &Document<'_>, at: usize) -> Option<Range<usize>> {
    let near = (at.saturating_sub(LOOK_BACK)..at).find(|start| document.text.is_char_boundary(*start)).unwrap_or(at);
    let before = document.slice(near..at);
    let line_start = before.rfind(['\n', '\r']).map(|end| near + end + 1);
    let line_start = line_start.or((near == 0).then_some(0));
    let before = document.slice(line_start.unwrap_or(near)..at);
    let lead = before.trim_end_matches(['*', '_']);
    let is_emphasized = lead.len() < before.len();
    let stands_alone = line_start.is_some() && item(lead.trim_start_matches(['>', ' ', '\t'])).1.is_empty();
    let stands_free = !lead.ends_with(|char: char| char == '`' || char.is_alphanumeric());
    if !(stands_alone || is_emphasized && stands_free) {
        return None;
    }
    let behind = document.slice(at + LABEL.len()..document.text.len());
    let value = behind.trim_start_matches(['*', '_', ' ', '\t']);
    let value = value.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']);
    lines(document.text, document.text.len() - value.len()..document.text.len()).next()
}

/// What stands behind a label, on its line or in what follows, and where.
fn value_of(document: &Document<'_>, line: Range<usize>) -> (Value, Range<usize>) {
    let text = document.slice(line.clone());
    let mut value = parse(text);
    let goes_on = text.trim_end().ends_with([',', '，', '、', '&']) || text.trim_end().ends_with(" and");
    if value != Value::Unreadable && !goes_on && !text.trim().is_empty() {
        return (value, line);
    }
    let is_bare = text.trim().is_empty();
    let (mut end, mut is_list, mut has_gap) = (line.end, false, false);
    for next in lines(document.text, line.end..document.text.len()).skip(1) {
        let row = document.slice(next.clone());
        let (sign, inner) = item(row);
        if row.trim().is_empty() {
            has_gap = true;
            continue;
        }
        let belongs = if has_gap { sign.is_some() && !goes_on } else { sign.is_some() || !is_list };
        let is_mark = row.starts_with('#') || inner.starts_with("**") || inner.starts_with("```");
        let is_mark = is_mark || places_of_label(row).next().is_some();
        if !belongs || is_mark || (sign.is_none() && inner.split_once(':').is_some()) {
            break;
        }
        // A paragraph behind an empty line, or behind words, is not about this.
        if sign.is_none() && !is_bare && !goes_on {
            break;
        }
        is_list |= sign.is_some();
        value = merged(value, parse(inner));
        end = next.end;
    }
    (value, line.start..end)
}

fn merged(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::References(mut all), Value::References(more)) => {
            all.extend(more);
            Value::References(all)
        }
        (Value::References(all), _) | (_, Value::References(all)) => Value::References(all),
        (_, other) => other,
    }
}

fn parse(text: &str) -> Value {
    let plain = text.trim_matches(|char: char| char.is_whitespace() || "*_`.()[]".contains(char));
    if !plain.chars().any(char::is_alphanumeric) || is_nothing(&plain.to_lowercase()) {
        return Value::Nothing;
    }
    let references = references(text);
    if references.is_empty() { Value::Unreadable } else { Value::References(references) }
}

/// Whether a text says nothing is needed. `None beyond Task 1` does not.
fn is_nothing(text: &str) -> bool {
    let word = NOTHING.iter().filter_map(|word| text.strip_prefix(word));
    let mut rests = word.filter(|rest| !rest.starts_with(char::is_alphanumeric));
    rests.any(|rest| {
        let rest = rest.trim_start();
        references(rest).is_empty() || rest.starts_with(|char: char| !char.is_alphanumeric())
    })
}

/// All that a text names.
fn references(text: &str) -> Vec<Reference> {
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
    let at = text.match_indices(['t', 'T']).map(|(at, _)| at).find(|at| is_word(*at))?;
    let behind = text.get(at + 4..)?;
    Some((text.get(..at)?, behind.strip_prefix(['s', 'S']).unwrap_or(behind)))
}

/// Reads the list of numbers that a text begins with, and gives what is behind it.
fn list<'a>(text: &'a str, found: &mut Vec<Reference>) -> &'a str {
    let mut rest = text;
    let mut next = number(text);
    while let Some((one, half, behind)) = next {
        rest = behind;
        match range_end(behind).filter(|_| half.is_none()) {
            Some((other, behind)) => {
                found.push(Reference::Range(one.to_owned(), other.to_owned()));
                rest = behind;
            }
            None => found.push(Reference::One(id(one, half))),
        }
        next = joint(rest).and_then(number);
    }
    rest
}

/// A number with the word behind it and the rest; none with a letter or a part behind a point.
fn number(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let inner = text.trim_start_matches(|char: char| char.is_whitespace() || "#`*_[".contains(char));
    let (number, rest) = leading(inner, |char| char.is_ascii_digit());
    let (half, rest) = half(rest);
    let is_part = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    let is_whole = !rest.starts_with(char::is_alphanumeric) && !is_part;
    (!number.is_empty() && number.len() <= crate::id::MAX_LEN && is_whole).then_some((number, half, rest))
}

fn range_end(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches([' ', '`', '*', '_']);
    let behind = RANGE.iter().find_map(|sign| inner.strip_prefix(sign))?.trim_start();
    let behind = match next_word(behind) {
        Some(("" | "`" | "*" | "**" | "[", behind)) => behind,
        _ => behind,
    };
    match number(behind)? {
        (number, None, rest) => Some((number, rest)),
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

#[cfg(test)]
mod tests;

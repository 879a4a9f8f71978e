//! Reads and writes the state of a task in JSON: its `status`, or `passes`.

use std::ops::Range;

use super::JsonDialect;
use super::tasks_file::{JsonTask, TasksFile, collect_tasks, span_of, value_text};
use crate::model::PlannedState;

pub(super) fn parse_status(word: &str) -> PlannedState {
    match word.trim().to_lowercase().as_str() {
        "done" | "completed" | "complete" | "true" => PlannedState::Done,
        "cancelled" | "canceled" | "deferred" => PlannedState::LeftOut,
        _ => PlannedState::Open,
    }
}

/// Text with a finished task; `None` for an unknown or ambiguous id.
pub(super) fn write_done(text: &str, id: &str, format: &JsonDialect) -> Option<String> {
    let entry = find_task(text, id, format)?;
    if let Some(status) = entry.fields.raw(format.state) {
        let is_done = status_of(status) == PlannedState::Done;
        return if is_done {
            Some(text.to_owned())
        } else {
            replace_bytes(text, span_of(text, status), format.done)
        };
    }
    // The new key stands first, formatted like the key behind it.
    let at = entry.span.start + 1;
    let behind = text.get(at..entry.span.end)?;
    let space = behind.get(..behind.len() - behind.trim_start().len())?;
    let comma = if entry.fields.members.is_empty() {
        ""
    } else {
        ","
    };
    replace_bytes(
        text,
        at..at,
        &format!("{space}\"{}\": {}{comma}", format.state, format.done),
    )
}

/// Text with a reopened task; `None` as for [`write_done`].
pub(super) fn write_open(text: &str, id: &str, format: &JsonDialect) -> Option<String> {
    let entry = find_task(text, id, format)?;
    match entry
        .fields
        .raw(format.state)
        .filter(|status| status_of(status) == PlannedState::Done)
    {
        Some(status) => replace_bytes(text, span_of(text, status), format.open),
        None => Some(text.to_owned()),
    }
}

/// Text without states; a `status` that stands first goes with its key, as if never written.
pub(super) fn without_statuses(text: &str, format: &JsonDialect) -> Option<String> {
    let file = TasksFile::parse(text, format).ok()?;
    let mut states: Vec<Range<usize>> = collect_tasks(text, file.chosen_tag()?)
        .iter()
        .filter_map(|entry| status_span(text, entry, format))
        .collect();
    states.sort_by_key(|span| span.start);
    let (mut open, mut done) = (String::with_capacity(text.len()), 0);
    for span in states {
        open.push_str(text.get(done..span.start)?);
        done = span.end;
    }
    open.push_str(text.get(done..)?);
    Some(open)
}

fn status_span(text: &str, entry: &JsonTask<'_>, format: &JsonDialect) -> Option<Range<usize>> {
    let value = span_of(text, entry.fields.raw(format.state)?);
    let is_first = entry
        .fields
        .members
        .first()
        .is_some_and(|(key, _)| key == format.state);
    if !is_first {
        return Some(value);
    }
    let behind = text.get(value.end..entry.span.end)?;
    let rest = behind.trim_start();
    let end = if rest.starts_with(',') {
        value.end + (behind.len() - rest.len()) + 1
    } else {
        value.end
    };
    Some(entry.span.start + 1..end)
}

fn find_task<'a>(text: &'a str, id: &str, format: &JsonDialect) -> Option<JsonTask<'a>> {
    let file = TasksFile::parse(text, format).ok()?;
    let mut named = collect_tasks(text, file.chosen_tag()?)
        .into_iter()
        .filter(|entry| entry.id == id);
    named.next().filter(|_| named.next().is_none())
}

fn status_of(raw: &str) -> PlannedState {
    parse_status(&value_text(raw).unwrap_or_default())
}

fn replace_bytes(text: &str, span: Range<usize>, by: &str) -> Option<String> {
    Some([text.get(..span.start)?, by, text.get(span.end..)?].concat())
}

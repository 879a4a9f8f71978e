//! Elements of a GSD plan, such as `<task>`. The text is no XML: it holds unescaped code, and some
//! elements are not closed.
//!
//! A task ends at its end tag or the next task, an element in it at its end tag or the next field.

use std::collections::HashMap;
use std::ops::Range;

use crate::document::line_ranges;
use crate::model::MAX_PLAN_TASKS;

const FIELDS: [&str; 8] = [
    "name",
    "files",
    "read_first",
    "behavior",
    "action",
    "verify",
    "acceptance_criteria",
    "done",
];
const MAX_TAG_BYTES: usize = 1000;
const MAX_TAGS_IN_CODE: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: &'a str,
    pub(super) span: Range<usize>,
    pub(super) inner: Range<usize>,
    pub(super) is_closed: bool,
}

impl<'a> Element<'a> {
    pub(super) fn attribute(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((before, behind)) = rest.split_once('=') {
            let name = before.split_whitespace().next_back().unwrap_or_default();
            let behind = behind.trim_start();
            let quote = behind
                .chars()
                .next()
                .filter(|sign| matches!(sign, '"' | '\''));
            let (value, more) = match quote {
                Some(quote) => behind.get(1..)?.split_once(quote)?,
                None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
            };
            if name == key {
                return Some(value);
            }
            rest = more;
        }
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskElement<'a> {
    pub(super) element: Element<'a>,
    pub(super) fields: Vec<Element<'a>>,
}

impl<'a> TaskElement<'a> {
    pub(super) fn fields_named(&self, name: &str) -> impl Iterator<Item = &Element<'a>> {
        self.fields.iter().filter(move |field| field.name == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineTag {
    TaskStart,
    TaskEnd,
    Field,
}

#[derive(Debug)]
pub(super) struct TagIndex<'a> {
    text: &'a str,
    /// Name of the task element; `feature` in a test-driven plan.
    task_name: &'static str,
    ends: HashMap<&'a str, Vec<usize>>,
    lines: Vec<(usize, LineTag)>,
    /// Indices in `lines` at which a task begins or ends.
    borders: Vec<usize>,
    fences: Vec<usize>,
}

impl<'a> TagIndex<'a> {
    pub(super) fn new(text: &'a str, from: usize) -> Self {
        let task_name = if text.contains("<task") {
            "task"
        } else {
            "feature"
        };
        let mut index = Self {
            text,
            task_name,
            ends: HashMap::new(),
            lines: Vec::new(),
            borders: Vec::new(),
            fences: Vec::new(),
        };
        let end_sign = memchr::memmem::Finder::new("</");
        for line in line_ranges(text, from..text.len()) {
            let row = text.get(line.clone()).unwrap_or_default();
            let inner = row.trim_start();
            let start = line.end - inner.len();
            if inner.starts_with("```") || inner.starts_with("~~~") {
                index.fences.push(start);
            } else if let Some(tag) = line_tag(inner, index.task_name) {
                index.lines.push((start, tag));
                index
                    .borders
                    .extend((tag != LineTag::Field).then_some(start));
            }
            for at in end_sign.find_iter(row.as_bytes()) {
                let behind = row.get(at + 2..).unwrap_or_default();
                let name = tag_name(behind);
                let Some(rest) = behind
                    .get(name.len()..)
                    .and_then(|rest| rest.strip_prefix('>'))
                else {
                    continue;
                };
                let is_code = rest.starts_with('`')
                    && row.get(..at).is_some_and(|before| before.ends_with('`'));
                if !name.is_empty() && !is_code {
                    index.ends.entry(name).or_default().push(line.start + at);
                }
            }
        }
        index
    }

    /// Tasks, at most one more than a plan may have; those in code only with `reads_code`.
    pub(super) fn tasks(&self, reads_code: bool) -> Vec<TaskElement<'a>> {
        let mut found: Vec<TaskElement<'a>> = Vec::new();
        let mut from = 0;
        for (at, tag) in &self.lines {
            if found.len() > MAX_PLAN_TASKS {
                break;
            }
            if *tag != LineTag::TaskStart || *at < from || !reads_code && self.is_in_code(from, *at)
            {
                continue;
            }
            if let Some(task) = self.read_task(*at) {
                from = task.element.span.end;
                found.push(task);
            }
        }
        found
    }

    pub(super) fn section(&self, name: &str, tasks: &[TaskElement<'_>]) -> Option<Range<usize>> {
        let tag = format!("<{name}>");
        let start = self.text.match_indices(&tag).map(|(at, _)| at).find(|at| {
            let behind = tasks.partition_point(|task| task.element.span.start <= *at);
            !behind
                .checked_sub(1)
                .and_then(|last| tasks.get(last))
                .is_some_and(|task| task.element.span.contains(at))
        })? + tag.len();
        let ends = self.ends.get(name)?;
        let end = *ends.get(ends.partition_point(|end| *end < start))?;
        Some(start..end)
    }

    fn is_in_code(&self, from: usize, at: usize) -> bool {
        let fences_at = self.fences.partition_point(|fence| *fence < at);
        let fences_before = self.fences.partition_point(|fence| *fence < from);
        fences_at.saturating_sub(fences_before) % 2 == 1
    }

    /// First place between two bytes outside of code; `None` after `MAX_TAGS_IN_CODE` inside.
    fn first_outside_code(
        &self,
        places: impl Iterator<Item = usize>,
        from: usize,
        until: usize,
    ) -> Option<usize> {
        let mut near = places.take_while(|at| *at < until).take(MAX_TAGS_IN_CODE);
        near.find(|at| !self.is_in_code(from, *at))
    }

    fn next_border(&self, from: usize, until: usize) -> Option<usize> {
        let first = self.borders.partition_point(|at| *at < from);
        self.first_outside_code(self.borders.iter().skip(first).copied(), from, until)
    }

    fn next_line(&self, from: usize) -> Option<usize> {
        let first = self.lines.partition_point(|(at, _)| *at < from);
        self.first_outside_code(
            self.lines.iter().skip(first).map(|(at, _)| *at),
            from,
            self.text.len(),
        )
    }

    fn read_task(&self, start: usize) -> Option<TaskElement<'a>> {
        let (name, attributes, inner) = self.read_tag(start)?;
        let mut fields = Vec::new();
        let mut at = inner;
        let (end, is_closed) = loop {
            let rest = self.text.get(at..).unwrap_or_default();
            let Some(next) = rest.find('<').map(|next| at + next) else {
                break (self.text.len(), false);
            };
            let behind = self.text.get(next..).unwrap_or_default();
            let ended = tag_name(behind.strip_prefix("</").unwrap_or_default());
            if ended == name {
                break (next, true);
            }
            if ended == "tasks" || is_task_start(behind, name) {
                break (next, false);
            }
            match self.read_field(next) {
                Some(field) => {
                    at = field.span.end;
                    fields.push(field);
                }
                None => at = next + 1,
            }
        };
        let close = if is_closed {
            end + name.len() + "</>".len()
        } else {
            end
        };
        let element = Element {
            name,
            attributes,
            span: start..close,
            inner: inner..end,
            is_closed,
        };
        Some(TaskElement { element, fields })
    }

    fn read_field(&self, start: usize) -> Option<Element<'a>> {
        let (name, attributes, inner) = self.read_tag(start)?;
        let ends = self.ends.get(name).map_or(&[][..], Vec::as_slice);
        let end_tag = ends.get(ends.partition_point(|end| *end < inner)).copied();
        let (end, close, is_closed) = match end_tag {
            _ if attributes.ends_with('/') => (inner, inner, true),
            Some(end) if self.next_border(inner, end).is_none() => {
                (end, end + name.len() + "</>".len(), true)
            }
            _ if FIELDS.contains(&name) => {
                let end = self.next_line(inner).unwrap_or(self.text.len());
                (end, end, false)
            }
            _ => return None,
        };
        Some(Element {
            name,
            attributes,
            span: start..close,
            inner: inner..end,
            is_closed,
        })
    }

    fn read_tag(&self, start: usize) -> Option<(&'a str, &'a str, usize)> {
        let behind = self.text.get(start + 1..)?;
        let name = tag_name(behind);
        let rest = behind.get(name.len()..).filter(|rest| {
            !name.is_empty() && rest.starts_with([' ', '\t', '\r', '\n', '>', '/'])
        })?;
        let length = rest
            .bytes()
            .take(MAX_TAG_BYTES)
            .position(|byte| matches!(byte, b'>' | b'<'))?;
        if !rest.get(length..)?.starts_with('>') {
            return None;
        }
        Some((
            name,
            rest.get(..length)?.trim(),
            start + 1 + name.len() + length + 1,
        ))
    }
}

pub(super) fn tag_name(text: &str) -> &str {
    let end = text
        .find(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '_' | '-')))
        .unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name
    } else {
        ""
    }
}

fn is_task_start(text: &str, name: &str) -> bool {
    let rest = text
        .strip_prefix('<')
        .and_then(|text| text.strip_prefix(name));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n', '>']))
}

fn line_tag(row: &str, name: &str) -> Option<LineTag> {
    if is_task_start(row, name) {
        return Some(LineTag::TaskStart);
    }
    if tag_name(row.strip_prefix("</").unwrap_or_default()).trim_end_matches('s') == name {
        return Some(LineTag::TaskEnd);
    }
    let name = tag_name(row.strip_prefix('<')?);
    FIELDS.contains(&name).then_some(LineTag::Field)
}

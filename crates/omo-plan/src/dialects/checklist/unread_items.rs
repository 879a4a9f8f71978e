//! Warns about items that look like tasks and are not read as such, each at its line.

use std::collections::HashSet;
use std::ops::Range;

use omo_core::text::sanitize;

use super::item::{ChecklistItem, DEFERRED, written_number};
use super::outline::{ChecklistOutline, plain_lines};
use super::{ChecklistDialect, TaskItems};
use crate::batches::span_diagnostic;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::MarkdownDocument;
use crate::labels::split_list_marker;
use crate::pattern::Pattern;

const MAX_FOUND: usize = 100;
const SHOWN_BYTES: usize = 60;
const LOOKED_AT_BYTES: usize = 200;

static BOX: Pattern = Pattern::new(
    r"^[ \t]*(?:[-*+•–—]|\d{1,9}[.)])?[ \t]*\[(?:[^\p{L}\p{N}\[\]]{0,2}|[xXoOvV])\](?:[^(\[:]|$)",
);
static LISTED: Pattern = Pattern::new(r"^[ \t]*(\d{1,9})[.)][ \t]");

/// Diagnostics about items outside of tasks with a box, or with an unused number.
pub(super) fn find_unread_items(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    format: &ChecklistDialect,
) -> Vec<Diagnostic> {
    let ids: HashSet<&str> = outline
        .entries
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    let headings: HashSet<Option<usize>> =
        outline.entries.iter().map(|entry| entry.heading).collect();
    let mut bodies = outline
        .entries
        .iter()
        .map(|entry| entry.body.clone())
        .peekable();
    let mut place = Below::default();
    let mut counter = TaskCounter::new(outline, format);
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in plain_lines(document) {
        while bodies.next_if(|body| body.end <= line.start).is_some() {}
        if bodies.peek().is_some_and(|body| body.contains(&line.start)) || found.len() >= MAX_FOUND
        {
            continue;
        }
        place.advance(document, line.start);
        let row = document.slice(line.clone());
        let head = (0..=row.len().min(LOOKED_AT_BYTES))
            .rev()
            .find_map(|end| row.get(..end))
            .unwrap_or_default();
        let is_box = BOX.is_match(head);
        let is_among_tasks = headings.contains(&place.heading);
        let number = is_among_tasks
            .then(|| unread_number(head, format))
            .flatten();
        let boxed = if is_box {
            ChecklistItem::read(row, line.clone()).and_then(|item| item.number)
        } else {
            None
        };
        let goes_on = counter.goes_on(head, line.start);
        let is_known = boxed.is_some_and(|number| ids.contains(number));
        if is_known
            || is_box && format.stop.is_some_and(|stop| stop.is_match(row))
            || !is_box && !goes_on && number.is_none_or(|number| ids.contains(number))
        {
            continue;
        }
        // Boxes of a part without tasks, such as those of a review, are reported once.
        if !is_among_tasks && !goes_on && std::mem::replace(&mut place.is_told, true) {
            continue;
        }
        found.push(describe(document, line, is_box, format));
    }
    found
}

/// Counter of plain numbers: an item without a box that continues them was meant as a task.
struct TaskCounter {
    counted: Vec<(usize, u64)>,
    last: u64,
}

impl TaskCounter {
    fn new(outline: &ChecklistOutline<'_>, format: &ChecklistDialect) -> Self {
        let is_counted = format.tasks != TaskItems::Lettered;
        let mut counted: Vec<_> = outline
            .entries
            .iter()
            .filter(|_| is_counted)
            .filter_map(|entry| Some((entry.item.span.start, entry.item.number?.parse().ok()?)))
            .collect();
        counted.reverse();
        Self { counted, last: 0 }
    }

    fn goes_on(&mut self, row: &str, start: usize) -> bool {
        while let Some((_, number)) = self.counted.pop_if(|(at, _)| *at <= start) {
            self.last = number;
        }
        let number = LISTED
            .read(row)
            .and_then(|([number], _)| number.parse::<u64>().ok());
        let goes_on =
            self.last > 0 && number == Some(self.last + 1) && !row.starts_with([' ', '\t']);
        self.last += u64::from(goes_on);
        goes_on
    }
}

/// Last heading above a line; `is_told` once its items were reported.
#[derive(Default)]
struct Below {
    next: usize,
    heading: Option<usize>,
    is_told: bool,
}

impl Below {
    fn advance(&mut self, document: &MarkdownDocument<'_>, byte: usize) {
        while document
            .headings
            .get(self.next)
            .is_some_and(|heading| heading.span.start <= byte)
        {
            self.heading = Some(self.next);
            self.next += 1;
            self.is_told = false;
        }
    }
}

fn unread_number<'a>(row: &'a str, format: &ChecklistDialect) -> Option<&'a str> {
    let (sign, text) = split_list_marker(row);
    sign?;
    let number = written_number(text).or_else(|| {
        (format.tasks == TaskItems::Numbered)
            .then(|| LISTED.read(row).map(|([number], _)| number))
            .flatten()
    })?;
    let is_lettered = number.starts_with(|first: char| first.is_ascii_alphabetic());
    (format.tasks != TaskItems::Lettered || is_lettered).then_some(number)
}

fn describe(
    document: &MarkdownDocument<'_>,
    line: Range<usize>,
    is_box: bool,
    format: &ChecklistDialect,
) -> Diagnostic {
    let row = document.slice(line.clone());
    let shown = sanitize(&row.trim().replace('`', "'"), SHOWN_BYTES);
    let item = ChecklistItem::read(row, line.clone());
    if item
        .as_ref()
        .is_some_and(|item| DEFERRED.is_match(&item.title))
    {
        let text = format!("`{shown}` is postponed: a run does not do it");
        return span_diagnostic(document, Code::ItemDeferred, line, text, None);
    }
    let why = match item {
        _ if !is_box => "has no checkbox",
        Some(_) => "has no number that tasks have",
        None => "has no checkbox that can be read",
    };
    let text = format!("`{shown}` {why}: it is not a task, and is not done");
    let help = Some(format!("a task is `{}`", format.form));
    Diagnostic {
        help,
        ..span_diagnostic(document, Code::ItemNotRead, line, text, None)
    }
}

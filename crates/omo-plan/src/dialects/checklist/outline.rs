//! Outline of a checklist: its items with ids, texts, parents and checkboxes.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::item::{ChecklistItem, DEFERRED, columns};
use super::{ChecklistDialect, TaskItems};
use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::split_list_marker;
use crate::pattern::Pattern;

pub(super) static NUMBERS_NOTE: Pattern = Pattern::new(
    r"^[\s*+-]*[_*]+[^_*:：]{2,40}[:：][\s*_]*\d+(?:\.\d+)*(?:[,、，;\s]+\d+(?:\.\d+)*)*[_*]+\s*$",
);
/// Remark about an item's source, with nothing to do.
static REFERENCE: Pattern = Pattern::new(
    r"^[_*]+(?i-u:requirements?|validates|status|estimate|effort|priority|phase|depends(?: on)?)[:：* ]",
);

pub(super) static TASK_HEADING: Pattern =
    Pattern::new(r"^[^\p{L}\p{N}]*(?:(?i-u:task)\s+\d|T-?\d+\b)");

/// Item of a checklist with its place in the outline.
#[derive(Debug)]
pub(super) struct ChecklistEntry<'a> {
    pub item: ChecklistItem<'a>,
    pub id: String,
    pub repeats: Option<usize>,
    pub body: Range<usize>,
    pub details: Range<usize>,
    pub section: Option<String>,
    /// Index in `MarkdownDocument::headings`.
    pub heading: Option<usize>,
    pub parent: Option<usize>,
    pub is_group: bool,
    /// `true` where a person is asked before anything behind the item begins.
    pub stops: bool,
    /// Boxes that are ticked with the item, and their state.
    parts: Vec<(Range<usize>, bool)>,
}

impl ChecklistEntry<'_> {
    fn marks(&self, is_done: bool) -> impl Iterator<Item = Range<usize>> {
        let own = std::iter::once((&self.item.mark, self.item.is_done));
        let all = own.chain(self.parts.iter().map(|(mark, is_done)| (mark, *is_done)));
        all.filter(move |(_, found)| *found == is_done)
            .map(|(mark, _)| mark.clone())
    }
}

#[derive(Debug)]
pub(super) struct ChecklistOutline<'a> {
    pub entries: Vec<ChecklistEntry<'a>>,
}

impl<'a> ChecklistOutline<'a> {
    pub(super) fn read(document: &MarkdownDocument<'a>, format: &ChecklistDialect) -> Self {
        let found = read_entries(document, format);
        let mut outline = Self { entries: found };
        outline.name_entries();
        outline.find_parents();
        outline.find_groups(document);
        outline.name_sections(document);
        outline
    }

    pub(super) fn tasks(&self) -> impl Iterator<Item = &ChecklistEntry<'a>> {
        self.entries.iter().filter(|entry| !entry.is_group)
    }

    /// Boxes to tick for a finished task; `None` for an unknown or ambiguous id.
    pub(super) fn marks_to_tick(&self, id: &str) -> Option<Vec<Range<usize>>> {
        let place = self.task_place(id)?;
        let mut done: HashSet<usize> = HashSet::from([place]);
        let mut marks: Vec<Range<usize>> = Vec::new();
        let mut at = Some(place);
        while let Some(entry) = at.and_then(|place| self.entries.get(place)) {
            marks.extend(entry.marks(false));
            let parent = self.group_of(entry);
            let is_complete = parent.is_some_and(|parent| {
                let parts = self
                    .entries
                    .iter()
                    .enumerate()
                    .filter(|(_, entry)| entry.parent == Some(parent));
                parts
                    .into_iter()
                    .all(|(place, entry)| entry.item.is_done || done.contains(&place))
            });
            at = parent.filter(|parent| is_complete && done.insert(*parent));
        }
        // From the end, so that earlier places stay valid.
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.start));
        Some(marks)
    }

    /// Boxes of a reopened task and of its groups; `None` for an unknown or ambiguous id.
    pub(super) fn marks_to_open(&self, id: &str) -> Option<Vec<Range<usize>>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        let mut known: HashSet<usize> = HashSet::new();
        let mut at = Some(self.task_place(id)?);
        while let Some(entry) = at
            .filter(|place| known.insert(*place))
            .and_then(|place| self.entries.get(place))
        {
            marks.extend(entry.marks(true));
            at = self.group_of(entry);
        }
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.start));
        Some(marks)
    }

    fn task_place(&self, id: &str) -> Option<usize> {
        let mut places = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| !entry.is_group && entry.id == id)
            .map(|(place, _)| place);
        places.next().filter(|_| places.next().is_none())
    }

    fn group_of(&self, entry: &ChecklistEntry<'a>) -> Option<usize> {
        entry.parent.filter(|parent| {
            self.entries
                .get(*parent)
                .is_some_and(|entry| entry.is_group)
        })
    }

    fn name_entries(&mut self) {
        let written: HashSet<&str> = self
            .entries
            .iter()
            .filter_map(|entry| entry.item.number)
            .collect();
        let mut first: HashMap<&str, usize> = HashMap::new();
        let mut known: HashSet<String> = HashSet::new();
        for (place, entry) in self.entries.iter_mut().enumerate() {
            let number = (place + 1).to_string();
            let id = match entry.item.number {
                Some(number) => {
                    let before = *first.entry(number).or_insert(place);
                    entry.repeats = (before != place).then_some(before);
                    number.to_owned()
                }
                None if written.contains(number.as_str()) => format!("item-{number}"),
                None => number,
            };
            let own = (2..).map(|count| format!("{id}-{count}"));
            entry.id = std::iter::once(id.clone())
                .filter(|_| entry.repeats.is_none())
                .chain(own)
                .find(|id| {
                    !known.contains(id)
                        && (entry.repeats.is_none() || !written.contains(id.as_str()))
                })
                .unwrap_or(id);
            known.insert(entry.id.clone());
        }
    }

    fn find_parents(&mut self) {
        // Possible parents of the next item, the outermost first.
        let mut open: Vec<usize> = Vec::new();
        let mut numbered: HashMap<&str, usize> = HashMap::new();
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(self.entries.len());
        for (place, entry) in self.entries.iter().enumerate() {
            let indentation = entry.item.indentation;
            while open
                .last()
                .and_then(|last| self.entries.get(*last))
                .is_some_and(|last| {
                    last.item.indentation >= indentation || last.heading != entry.heading
                })
            {
                open.pop();
            }
            // `T007.1` stands beside T007, `1.1` is a part of 1.
            let of_parts = entry
                .item
                .number
                .filter(|number| number.starts_with(|first: char| first.is_ascii_digit()));
            let by_number =
                of_parts.and_then(|number| numbered.get(number.rsplit_once('.')?.0).copied());
            parents.push(by_number.or_else(|| open.last().copied()));
            open.push(place);
            numbered.extend(entry.item.number.map(|number| (number, place)));
        }
        // Parts of an optional item are optional, too.
        let mut optional: Vec<bool> = Vec::with_capacity(parents.len());
        for (entry, parent) in self.entries.iter_mut().zip(parents) {
            entry.parent = parent;
            entry.item.is_optional |= parent
                .and_then(|place| optional.get(place).copied())
                .unwrap_or(false);
            optional.push(entry.item.is_optional);
        }
    }

    fn find_groups(&mut self, document: &MarkdownDocument<'_>) {
        let parents: HashSet<usize> = self
            .entries
            .iter()
            .filter_map(|entry| entry.parent)
            .collect();
        for (place, entry) in self.entries.iter_mut().enumerate() {
            entry.is_group = parents.contains(&place) && !has_text(document, entry.details.clone());
        }
    }

    fn name_sections(&mut self, document: &MarkdownDocument<'_>) {
        let titles: Vec<String> = self
            .entries
            .iter()
            .map(|entry| entry.item.title.clone())
            .collect();
        for entry in &mut self.entries {
            let heading = entry
                .heading
                .and_then(|place| document.headings.get(place))
                .map(|found| found.text.to_owned());
            let parent = entry.parent.and_then(|place| titles.get(place)).cloned();
            entry.section = parent.or(heading);
        }
    }
}

fn has_text(document: &MarkdownDocument<'_>, details: Range<usize>) -> bool {
    line_ranges(document.text, details).any(|line| {
        let (_, text) = split_list_marker(document.slice(line));
        !text.trim().is_empty() && !REFERENCE.is_match(text) && !NUMBERS_NOTE.is_match(text)
    })
}

pub(super) fn plain_lines(document: &MarkdownDocument<'_>) -> impl Iterator<Item = Range<usize>> {
    line_ranges(document.text, document.body_start..document.text.len())
        .filter(|line| !is_fenced(document, line) && !document.is_in_html(line.start))
}

fn is_fenced(document: &MarkdownDocument<'_>, line: &Range<usize>) -> bool {
    // The fence of a list's item begins behind its indentation.
    document
        .code_at(line.end.saturating_sub(1).max(line.start))
        .is_some_and(|code| code.info.is_some())
}

fn read_entries<'a>(
    document: &MarkdownDocument<'a>,
    format: &ChecklistDialect,
) -> Vec<ChecklistEntry<'a>> {
    let mut found: Vec<ChecklistEntry<'a>> = Vec::new();
    let mut headings = document.headings.iter().enumerate().peekable();
    let mut heading = None;
    // Level of the heading of the tasks.
    let mut section = format.section.is_none().then_some(0);
    // Lines belong to the last item while they stand below it.
    let mut is_open = false;
    let mut is_paragraph = false;
    let mut numbers: HashSet<&str> = HashSet::new();
    for line in line_ranges(document.text, document.body_start..document.text.len()) {
        let row = document.slice(line.clone());
        if let Some((place, title)) = headings.next_if(|(_, found)| found.span.start < line.end) {
            heading = Some(place);
            is_open = false;
            let opens = format.section.is_some_and(|of| of.is_match(row));
            section = if opens {
                Some(title.level)
            } else {
                section.filter(|level| *level < title.level)
            };
            continue;
        }
        let is_plain = !is_fenced(document, &line) && !document.is_in_html(line.start);
        let item = if is_plain {
            ChecklistItem::read(row, line.clone())
        } else {
            None
        };
        // A box below the heading of a task is a criterion.
        let item = item.filter(|item| {
            let heading = heading.and_then(|place: usize| document.headings.get(place));
            item.number.is_some()
                || heading.is_none_or(|heading| !TASK_HEADING.is_match(heading.text))
        });
        let above = found
            .last_mut()
            .filter(|above| section.is_some() && above.heading == heading);
        let is_below = item
            .as_ref()
            .zip(above.as_deref())
            .is_some_and(|(item, above)| is_below(item, above, format, is_open));
        match (item, above) {
            (Some(item), Some(above))
                if !is_below && format.stop.is_some_and(|stop| stop.is_match(&item.title)) =>
            {
                above.stops = !item.is_done;
                is_open = false;
                continue;
            }
            (Some(mut item), _)
                if section.is_some() && !is_below && is_task(&item, &numbers, format) =>
            {
                if let Some((title, _)) = format.tail.and_then(|tail| tail.around(&item.title)) {
                    item.title.truncate(title.len());
                }
                numbers.extend(item.number);
                let details = line.end..line.end;
                let entry = ChecklistEntry {
                    item,
                    id: String::new(),
                    repeats: None,
                    body: line,
                    details,
                    section: None,
                    heading,
                    parent: None,
                    is_group: false,
                    stops: false,
                    parts: Vec::new(),
                };
                found.push(entry);
                is_open = true;
                is_paragraph = true;
                continue;
            }
            (Some(item), Some(above)) if is_below && is_open && format.ticks_parts => {
                above.parts.push((item.mark, item.is_done));
            }
            _ => {}
        }
        if row.trim().is_empty() {
            is_paragraph = false;
            continue;
        }
        let Some(last) = found.last_mut().filter(|_| is_open) else {
            continue;
        };
        let indent = row
            .get(..row.len() - row.trim_start().len())
            .unwrap_or_default();
        let is_inside = columns(indent) > last.item.indentation;
        let is_text = !row
            .trim_start()
            .starts_with(['-', '*', '+', '#', '>', '|', '`', '_', '=']);
        if is_inside || !is_plain || (is_paragraph && is_text) {
            last.body.end = line.end;
            last.details.end = line.end;
            is_paragraph = true;
        } else {
            is_open = false;
        }
    }
    found
}

fn is_below(
    item: &ChecklistItem<'_>,
    above: &ChecklistEntry<'_>,
    format: &ChecklistDialect,
    is_open: bool,
) -> bool {
    above.item.indentation < item.indentation
        && match format.tasks {
            TaskItems::Outer | TaskItems::NumberedOuter => true,
            TaskItems::NumberedOrOuter => {
                is_open && item.number.is_none() && above.item.number.is_some()
            }
            TaskItems::Lettered | TaskItems::Numbered => false,
        }
}

/// `true` for a task; an item that only refers to one (`T007: see there`) is none.
fn is_task(item: &ChecklistItem<'_>, numbers: &HashSet<&str>, format: &ChecklistDialect) -> bool {
    match (format.tasks, item.number) {
        (TaskItems::Lettered, Some(number)) => {
            number.starts_with(|first: char| first.is_ascii_alphabetic())
                && !(item.is_labelled && numbers.contains(number))
        }
        (TaskItems::Lettered | TaskItems::Numbered | TaskItems::NumberedOuter, number) => {
            number.is_some()
        }
        (TaskItems::NumberedOrOuter | TaskItems::Outer, number) => {
            number.is_some() || !DEFERRED.is_match(&item.title)
        }
    }
}

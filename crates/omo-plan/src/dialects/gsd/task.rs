//! Reads a `<task>` of a GSD plan: id, title, files and checks.

use std::collections::HashSet;

use super::elements::{Element, TaskElement};
use super::verification::{VerifyText, dedent, read_items, read_verify, unescape, unwrap_elements};
use crate::document::MarkdownDocument;
use crate::fields::named_files::{path_problem, read_files};
use crate::id::is_id;
use crate::labels::split_list_marker;
use crate::model::{FileAction, FileUse, Task};
use crate::pattern::Pattern;

const STOP_TITLES: [&str; 6] = [
    "what-built",
    "decision",
    "description",
    "action",
    "how-to-verify",
    "instructions",
];

fn is_checkpoint(task: &TaskElement<'_>) -> bool {
    task.element
        .attribute("type")
        .is_some_and(|kind| kind.trim_start().starts_with("checkpoint"))
}

/// `true` for a checkpoint without a name, at which a person is asked.
pub(super) fn is_stop(task: &TaskElement<'_>) -> bool {
    is_checkpoint(task) && task.fields_named("name").next().is_none()
}

/// Numbered title: `Task 3: Its title`, `Task 2.1 — …`, `3. …`.
static NUMBERED: Pattern = Pattern::new(
    r"^[*_ ]*(?:(?i-u:task|checkpoint|step)\s+#?([A-Za-z]?[0-9][A-Za-z0-9._-]*)|([0-9]+(?:\.[0-9]+)*)[.)])\s*(?:[:.)—–-]+|\s|$)[*_ ]*",
);

/// Task, and its commands that never end. `place` numbers a task without a number; `ids` are taken.
pub(super) fn read_task(
    document: &MarkdownDocument<'_>,
    element: &TaskElement<'_>,
    place: usize,
    ids: &mut HashSet<String>,
) -> (Task, Vec<String>) {
    let named = ["name", "title"]
        .iter()
        .find_map(|key| element.fields_named(key).next());
    let name = named
        .map(|field| one_line(text_of(document, field)))
        .or_else(|| {
            ["name", "title"]
                .iter()
                .find_map(|key| element.element.attribute(key))
                .map(one_line)
        })
        .filter(|name| !name.is_empty())
        .or_else(|| {
            BOLD_NAME
                .read(text_of(document, &element.element))
                .map(|([name], _)| one_line(name))
        });
    let ([written, listed], title) = name
        .as_deref()
        .and_then(|name| NUMBERED.read(name))
        .unwrap_or(([""; 2], name.as_deref().unwrap_or_default()));
    let number = [written, listed].concat();
    let number = number.trim_end_matches(['.', '-', '_']);
    let written = Some(number)
        .filter(|id| !id.is_empty())
        .or_else(|| element.element.attribute("id"));
    let written = written.or_else(|| {
        element
            .fields_named("id")
            .next()
            .map(|field| text_of(document, field).trim())
    });
    let written = written.filter(|id| is_id(id.trim()));
    let id = match written {
        Some(id) => id.trim().to_owned(),
        None => free_id(place, ids),
    };
    ids.insert(id.clone());
    let title = if title.is_empty() {
        let fallback = STOP_TITLES
            .iter()
            .find_map(|key| element.fields_named(key).next())
            .map(|field| first_line(text_of(document, field)));
        name.clone().or(fallback).unwrap_or_default()
    } else {
        title.to_owned()
    };
    let span = element.element.span.clone();
    let lines = [
        document.line_number(span.start),
        document.line_number(span.end.saturating_sub(1)),
    ];
    let mut task = Task::new(id, title).with_body(document.slice(span), lines);
    let mut servers = Vec::new();
    for field in &element.fields {
        let text = text_of(document, field);
        match field.name {
            "files" => task.files.extend(read_changed_files(text)),
            "verify" => {
                let VerifyText {
                    checks,
                    criteria,
                    unused,
                } = read_verify(text);
                task.checks.extend(checks);
                task.criteria.extend(criteria);
                servers.extend(unused);
            }
            "acceptance_criteria" | "done" | "how-to-verify" => {
                task.criteria
                    .extend(read_items(&dedent(&unescape(&unwrap_elements(text)))));
            }
            _ => {}
        }
    }
    for field in ["read_first", "files_to_read"]
        .iter()
        .flat_map(|key| element.fields_named(key))
    {
        add_read_files(text_of(document, field), &mut task.files);
    }
    if element.fields_named("verify").next().is_none() {
        let criteria = element
            .fields_named("acceptance_criteria")
            .map(|field| read_verify(text_of(document, field)).checks);
        task.checks.extend(criteria.flatten());
    }
    task.stop_after = is_checkpoint(element);
    (task, servers)
}

fn text_of<'a>(document: &MarkdownDocument<'a>, field: &Element<'_>) -> &'a str {
    document.slice(field.inner.clone())
}

static BOLD_NAME: Pattern = Pattern::new(r"^\s*\*\*([^*\n]{1,200})\*\*");

fn free_id(place: usize, ids: &HashSet<String>) -> String {
    let plain = place.to_string();
    let numbered = (2_usize..).map(|count| format!("{place}-{count}"));
    std::iter::once(plain)
        .chain(numbered)
        .find(|id| !ids.contains(id))
        .unwrap_or_default()
}

fn one_line(text: &str) -> String {
    unescape(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn first_line(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    one_line(split_list_marker(line).1)
}

/// Name of a file without a dot or a slash, such as `Makefile`.
static BARE_FILE: Pattern = Pattern::new(r"^(?:[A-Z][A-Za-z]{3,}file|[A-Z]{4,})$");

static SPACED_FILE: Pattern = Pattern::new(
    r"^[A-Za-z0-9_.-]+(?: [A-Z0-9][A-Za-z0-9_.-]*)+/(?:[\w.+-]+(?: [\w.+-]+)*/)*[\w.+-]+\.[A-Za-z0-9]{1,8}$",
);

/// Files of `<files>`, on lines or between commas.
fn read_changed_files(text: &str) -> Vec<FileUse> {
    let text = unescape(&unwrap_elements(text));
    let rows: Vec<&str> = text
        .lines()
        .flat_map(split_mixed)
        .map(|row| row.trim().trim_start_matches('@'))
        .collect();
    let bare = rows
        .iter()
        .filter(|row| !row.contains('`'))
        .flat_map(|row| split_list_marker(row).1.split(','));
    let bare = bare.map(str::trim).filter(|part| BARE_FILE.is_match(part));
    let joined = rows.join("\n");
    let spaced = rows
        .iter()
        .flat_map(|row| row.split(','))
        .map(|part| split_list_marker(part).1.trim());
    let spaced = spaced
        .filter(|part| SPACED_FILE.is_match(part))
        .map(|path| FileUse::new(path, FileAction::Modify));
    let named = read_files(&MarkdownDocument::read(&joined), 0..joined.len());
    let named = named.into_iter().map(|(file, _)| file);
    let mut found: Vec<FileUse> = spaced
        .chain(named)
        .chain(bare.map(|path| FileUse::new(path, FileAction::Modify)))
        .collect();
    let mut seen = HashSet::new();
    found.retain(|file| seen.insert(file.path.clone()));
    found
}

/// Parts of a row with names in code behind others; else the row.
fn split_mixed(row: &str) -> Vec<&str> {
    let is_mixed = row
        .split('`')
        .next()
        .is_some_and(|before| before != row && before.contains(','));
    if is_mixed {
        row.split(", ").collect()
    } else {
        vec![row]
    }
}

static REMARK: Pattern = Pattern::new(r"\s(?:—|–|--?)\s|\s\(|:\s|;");

fn add_read_files(text: &str, files: &mut Vec<FileUse>) {
    let text = unescape(&unwrap_elements(text));
    let mut seen: HashSet<String> = files.iter().map(|file| file.path.clone()).collect();
    for row in text.lines() {
        let (_, inner) = split_list_marker(row);
        let names = REMARK.around(inner).map_or(inner, |(names, _)| names);
        for name in names
            .split(',')
            .map(|name| name.trim().trim_matches('`').trim_start_matches('@'))
        {
            let is_path = name.contains(['/', '.'])
                && !name.contains(char::is_whitespace)
                && !name.contains("://");
            if is_path && path_problem(name).is_none() && seen.insert(name.to_owned()) {
                files.push(FileUse {
                    is_optional: true,
                    ..FileUse::new(name, FileAction::Modify)
                });
            }
        }
    }
}

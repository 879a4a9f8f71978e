//! Files and commands that the prose of a task names.
//!
//! A path is known by its form, and counts as changed unless the words before say that it is only read. A command
//! counts where the sentence says to run it or to verify with it.

mod commands;
mod file_names;
mod paths;

use std::collections::HashSet;
use std::ops::Range;

use omo_core::check::task_check::TaskCheck;

use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::split_list_marker;
use crate::model::{FileAction, FileUse};
use crate::pattern::Pattern;
pub(crate) use commands::{JUDGES, NEGATES};

/// Number of a list item, such as `2.1` or `#1`.
static NUMBER: Pattern = Pattern::new(r"^#?\d{1,3}(?:\.\d{1,3})*[.):]?[ \t]+");
const MAX_FINDINGS: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct ProseFields {
    /// Named files; those that are only mentioned are optional.
    pub files: Vec<FileUse>,
    pub checks: Vec<TaskCheck>,
}

pub(crate) fn read_prose(
    document: &MarkdownDocument<'_>,
    title: &str,
    details: &[Range<usize>],
) -> ProseFields {
    let mut rows = Vec::new();
    // A code span may go on in the next line, which is then joined.
    let mut open = title.to_owned();
    for line in details
        .iter()
        .flat_map(|part| line_ranges(document.text, part.clone()))
    {
        if document
            .code_at(line.end.saturating_sub(1).max(line.start))
            .is_some_and(|code| code.info.is_some())
        {
            continue;
        }
        let (sign, row) = split_list_marker(document.slice(line));
        let row = NUMBER.behind(row).filter(|_| sign.is_some()).unwrap_or(row);
        if sign.is_none() && open.matches('`').count() % 2 == 1 {
            open = format!("{} {}", open.trim_end(), row.trim());
        } else {
            rows.push(std::mem::replace(&mut open, row.to_owned()));
        }
    }
    rows.push(open);
    let mut found = ProseFields::default();
    let mut seen: HashSet<String> = HashSet::new();
    for row in &rows {
        for file in paths::read_paths(row) {
            add_file(&mut found.files, file);
        }
        for command in commands::read_commands(row) {
            if found.checks.len() < MAX_FINDINGS && seen.insert(command.clone()) {
                found.checks.push(TaskCheck::new(&command));
            }
        }
    }
    mark_short_names(&mut found.files);
    found
}

pub(crate) fn read_row_checks(row: &str) -> Vec<TaskCheck> {
    commands::read_commands(row)
        .iter()
        .take(MAX_FINDINGS)
        .map(|command| TaskCheck::new(command))
        .collect()
}

/// Adds a file. One with several mentions counts as changed where one of them says so.
fn add_file(files: &mut Vec<FileUse>, file: FileUse) {
    let Some(known) = files.iter_mut().find(|known| known.path == file.path) else {
        if files.len() < MAX_FINDINGS {
            files.push(file);
        }
        return;
    };
    if known.is_optional && !file.is_optional {
        known.action = file.action;
    }
    known.is_optional &= file.is_optional;
}

fn mark_short_names(files: &mut [FileUse]) {
    let names: HashSet<String> = files
        .iter()
        .filter_map(|file| Some(file.path.rsplit_once('/')?.1.to_owned()))
        .collect();
    for file in files.iter_mut().filter(|file| names.contains(&file.path)) {
        file.is_optional = true;
    }
}

/// Words before a byte, the nearest first, in lower case and without punctuation.
fn words_before(text: &str, byte: usize) -> impl Iterator<Item = String> {
    let before = text.get(..byte).unwrap_or_default();
    let words = before
        .rsplit(|char: char| char.is_whitespace() || char == '(')
        .filter(|word| !word.is_empty());
    words.map(|word| {
        word.trim_matches(|char: char| !char.is_alphanumeric())
            .to_lowercase()
    })
}

/// Kind of work, by the first word of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskVerb {
    Create,
    Change,
    Delete,
    Inspect,
    /// A condition that may hold already.
    Ensure,
    Run,
    Unknown,
}

fn read_verb(row: &str) -> TaskVerb {
    let first = row
        .split(|char: char| char.is_whitespace() || char == ':')
        .find(|word| !word.is_empty());
    let word = first
        .unwrap_or_default()
        .trim_matches(|char: char| !char.is_alphanumeric())
        .to_ascii_lowercase();
    match word.as_str() {
        "create" | "add" | "scaffold" | "write" | "generate" | "new" | "introduce" => {
            TaskVerb::Create
        }
        "delete" | "remove" | "drop" => TaskVerb::Delete,
        "review" | "read" | "verify" | "validate" | "check" | "confirm" | "inspect" | "audit"
        | "analyze" | "analyse" | "research" | "investigate" | "study" | "cross-reference"
        | "manually" | "manual" => TaskVerb::Inspect,
        "ensure" => TaskVerb::Ensure,
        "run" | "execute" | "rerun" | "re-run" => TaskVerb::Run,
        "implement" | "update" | "modify" | "extend" | "change" | "edit" | "refactor"
        | "register" | "integrate" | "configure" | "wire" | "export" | "define" | "document"
        | "move" | "rename" | "replace" | "fix" | "set" | "setup" | "include" | "support"
        | "build" | "make" | "import" | "use" | "copy" | "handle" | "install" => TaskVerb::Change,
        _ => TaskVerb::Unknown,
    }
}

fn file_action(verb: TaskVerb, path: &str) -> FileAction {
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_test = [".test.", ".spec.", "_test.", "_spec."]
        .iter()
        .any(|part| name.contains(part))
        || name.starts_with("test_")
        || path
            .split('/')
            .rev()
            .skip(1)
            .any(|folder| matches!(folder, "test" | "tests" | "__tests__" | "spec"));
    match verb {
        TaskVerb::Delete => FileAction::Delete,
        _ if is_test => FileAction::Test,
        TaskVerb::Create => FileAction::Create,
        _ => FileAction::Modify,
    }
}

#[cfg(test)]
mod tests;

//! Files, checks and state of a task with a heading, by its labels, steps and sentences.

use std::collections::HashSet;
use std::ops::Range;

use omo_core::check::task_check::TaskCheck;

use super::commands::{StepCommands, read_commands};
use super::steps::TaskSteps;
use crate::document::MarkdownDocument;
use crate::fields::named_files::{FileMention, read_files};
use crate::fields::prose::read_prose;
use crate::fields::stated_checks::StatedCheck;
use crate::labels::{list_part, normalize_key, read_labels};
use crate::model::FileUse;
use crate::pattern::Pattern;
use crate::words::Word;

/// Fields of a task, read from the text below its heading.
#[derive(Debug)]
pub(in crate::dialects) struct HeadingFields {
    pub files: Vec<FileUse>,
    pub checks: Vec<StatedCheck>,
    pub red_check: Option<TaskCheck>,
    pub unused: Vec<String>,
    /// State by the task's status or its boxes; `None` without either.
    pub is_done: Option<bool>,
}

impl HeadingFields {
    pub(in crate::dialects) fn read(
        document: &MarkdownDocument<'_>,
        part: Range<usize>,
        title: &str,
    ) -> Self {
        let steps = TaskSteps::read(document, part.clone());
        let StepCommands {
            checks,
            red_check,
            unused,
        } = read_commands(document, &steps);
        let mut found = Self {
            files: task_files(document, &steps),
            checks,
            red_check: red_check.map(|check| check.check),
            unused,
            is_done: stated_end(document, part.clone())
                .or((!steps.boxes.is_empty()).then(|| steps.is_done())),
        };
        let has_checks = !found.checks.is_empty() || found.red_check.is_some();
        // Without labels, files are named in sentences.
        if found.files.is_empty() {
            let prose = read_prose(document, title, std::slice::from_ref(&part));
            found.files = prose.files;
            if !has_checks {
                found.checks = prose
                    .checks
                    .into_iter()
                    .map(|check| StatedCheck::new(&check.command, part.clone()))
                    .collect();
            }
        }
        found
    }
}

static DONE: Pattern =
    Pattern::new(r"^[*_`\s]*(?:\[[xX]\]|[✅☑✔]|(?i-u:done|completed?|finished)\b|已完成|完成)");
static OPEN: Pattern = Pattern::new(r"^[*_`\s]*\[ \]");

/// `true` for a `**Status:**` that says done; `None` where it names no state.
fn stated_end(document: &MarkdownDocument<'_>, part: Range<usize>) -> Option<bool> {
    let labels = read_labels(document, part, &["status"]);
    let status = labels.iter().find(|label| label.key == "status")?;
    let status_text = document.slice(status.first_line.clone());
    if DONE.is_match(status_text) {
        Some(true)
    } else {
        OPEN.is_match(status_text).then_some(false)
    }
}

const ACTION_LABELS: [&str; 5] = ["create", "modify", "test", "tests", "delete"];

fn task_files(document: &MarkdownDocument<'_>, steps: &TaskSteps) -> Vec<FileUse> {
    let known: Vec<&str> = Word::Files.words().collect();
    let labels = read_labels(document, steps.preamble.clone(), &known);
    let lists = labels
        .iter()
        .filter(|label| names_files(&label.key))
        .map(|label| label.value.clone());
    // A heading may stand in place of the label.
    let headings = document
        .headings_in(&steps.preamble)
        .iter()
        .filter(|heading| names_files(&normalize_key(heading.text.trim_end_matches([':', '：']))));
    let lists: Vec<_> = lists
        .chain(headings.map(|heading| heading.span.end..steps.preamble.end))
        .collect();
    let mut found: Vec<FileMention> = lists
        .iter()
        .flat_map(|value| read_files(document, list_part(document, value.clone())))
        .collect();
    if lists.is_empty() {
        // Without a list, each file may have a label of its own.
        let labels = read_labels(document, steps.preamble.clone(), &ACTION_LABELS);
        let own = labels
            .iter()
            .filter(|label| ACTION_LABELS.contains(&label.key.as_str()));
        found.extend(own.flat_map(|label| {
            let value = list_part(document, label.value.clone());
            read_files(document, label.span.start..value.end)
        }));
    }
    let mut known: HashSet<String> = HashSet::new();
    found
        .into_iter()
        .map(|(file, _)| file)
        .filter(|file| known.insert(file.path.clone()))
        .collect()
}

fn names_files(key: &str) -> bool {
    Word::Files.is(key) || key.starts_with("files ")
}

pub(in crate::dialects) fn unique_checks(checks: Vec<StatedCheck>) -> Vec<TaskCheck> {
    let checks = checks.into_iter().map(|stated| stated.check);
    let mut known: HashSet<String> = HashSet::new();
    checks
        .filter(|check| known.insert(format!("{}\0{:?}", check.command, check.expect)))
        .collect()
}

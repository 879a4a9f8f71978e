//! Reads tasks of Backlog.md, one a file, with id, title, status and dependencies in front matter.

use std::ops::Range;

use omo_core::text::{list_some, sanitize};

use super::gsd::read_list;
use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput, PlanPlace};
use crate::batches::task_diagnostic;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{FrontMatterField, MarkdownDocument, line_ranges};
use crate::fields::prose::read_prose;
use crate::labels::{CHECKBOX, split_list_marker};
use crate::model::{Dialect, Plan, PlannedState, Task};
use crate::pattern::Pattern;

static RECORD: Pattern = Pattern::new(r"(?i-u:\b(?:notes|summary|references|comments|log)\b)");
const MARKERS: [&str; 2] = ["<!-- AC:BEGIN -->", "<!-- SECTION:"];
const MAX_TITLE: usize = 200;
const MAX_CRITERION: usize = 400;

/// Dialect of Backlog.md.
#[derive(Debug)]
pub struct BacklogDialect;

impl PlanDialect for BacklogDialect {
    fn name(&self) -> &'static str {
        "backlog"
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        const {
            &[
                PlanPlace::in_folder("backlog/tasks", "*.md"),
                PlanPlace::in_folder(".backlog/tasks", "*.md"),
            ]
        }
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        let is_at_place = Dialect::of_place(input.path()) == Some(Dialect::Backlog);
        let is_marked = MARKERS.iter().any(|marker| input.text().contains(marker));
        !input.is_json() && (is_at_place || is_marked) && has_matter(input.document())
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        let text = "the front matter of the file has no `id`, no `title` or no `status`";
        let is_own = Dialect::of_place(input.path()) == Some(Dialect::Backlog)
            && !has_matter(input.document());
        is_own.then(|| task_diagnostic(None, Code::UnrecognizedFormat, text.to_owned()))
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        let Some(id) = document.front_matter_field("id").map(|id| id.value) else {
            return;
        };
        let title = sanitize(&read_title(document), MAX_TITLE);
        let body = document.body_start..document.text.trim_end().len().max(document.body_start);
        let lines = [1, document.line_number(body.end.saturating_sub(1))];
        let parts = own_parts(document);
        let prose = read_prose(document, &title, &parts);
        let boxes = line_ranges(document.text, body.clone()).map(|line| document.slice(line));
        let criteria = boxes
            .filter(|row| CHECKBOX.is_match(row))
            .map(|row| sanitize(split_list_marker(row).1, MAX_CRITERION));
        let task = Task {
            state: PlannedState::checked_off(status(document).is_some_and(is_done)),
            priority: document
                .front_matter_field("priority")
                .map(|field| field.value.to_owned()),
            files: prose.files,
            checks: prose.checks,
            criteria: criteria.collect(),
            ..Task::new(id, &title).with_body(document.slice(body), lines)
        };
        plan.title = title;
        plan.requires_plans = read_list(document, "dependencies").unwrap_or_default();
        if !plan.requires_plans.is_empty() && task.state == PlannedState::Open {
            let names = list_some(plan.requires_plans.iter().map(String::as_str), 8);
            let text = sanitize(
                &format!("what it depends on is in other files, and has to be done: {names}"),
                400,
            );
            plan.diagnostics
                .push(task_diagnostic(None, Code::RequiredPlanMissing, text));
        }
        plan.tasks.push(task);
        report_task_problems(plan, std::slice::from_ref(&(0..0)), |byte| {
            document.line_number(byte)
        });
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        let document = MarkdownDocument::read(text);
        let (task, word, is_wanted) = match change {
            PlanChange::Done { task } => (task, "Done", true),
            PlanChange::Open { task } => (task, "To Do", false),
            PlanChange::Choice { .. } => return None,
        };
        document
            .front_matter_field("id")
            .filter(|id| id.value == *task)?;
        let status = status(&document)?;
        if is_done(status) == is_wanted {
            return Some(text.to_owned());
        }
        with_status(text, status, word)
    }

    fn without_state(&self, text: &str) -> Option<String> {
        let document = MarkdownDocument::read(text);
        status(&document).map_or_else(
            || Some(text.to_owned()),
            |status| with_status(text, status, ""),
        )
    }
}

fn has_matter(document: &MarkdownDocument<'_>) -> bool {
    ["id", "title", "status"]
        .iter()
        .all(|key| document.front_matter_field(key).is_some())
}

fn status<'d, 'a>(document: &'d MarkdownDocument<'a>) -> Option<&'d FrontMatterField<'a>> {
    document.front_matter_field("status")
}

fn is_done(status: &FrontMatterField<'_>) -> bool {
    let word = word_of(status)
        .trim_matches(|char: char| !char.is_alphabetic())
        .to_lowercase();
    matches!(word.as_str(), "done" | "complete" | "completed" | "closed")
}

fn word_of<'a>(status: &FrontMatterField<'a>) -> &'a str {
    status
        .value
        .split(" #")
        .next()
        .unwrap_or_default()
        .trim_end()
        .trim_matches(['"', '\''])
}

fn with_status(text: &str, status: &FrontMatterField<'_>, word: &str) -> Option<String> {
    let (row, before) = (text.get(status.span.clone())?, word_of(status));
    let at = if before.is_empty() {
        row.find(':')? + 1
    } else {
        row.rfind(before)?
    };
    let (start, space) = (
        status.span.start + at,
        if before.is_empty() { " " } else { "" },
    );
    Some(
        [
            text.get(..start)?,
            space,
            word,
            text.get(start + before.len()..)?,
        ]
        .concat(),
    )
}

/// Title, even one folded over the lines below its key.
fn read_title(document: &MarkdownDocument<'_>) -> String {
    let Some(field) = document.front_matter_field("title") else {
        return String::new();
    };
    if !field.value.starts_with(['>', '|']) {
        return field.value.replace("''", "'");
    }
    let rows = line_ranges(document.text, field.span.end..document.body_start)
        .map(|line| document.slice(line));
    let folded = rows
        .skip_while(|row| row.is_empty())
        .take_while(|row| row.starts_with(' '))
        .map(str::trim);
    folded.collect::<Vec<_>>().join(" ")
}

fn own_parts(document: &MarkdownDocument<'_>) -> Vec<Range<usize>> {
    let (mut kept, mut start) = (Vec::new(), document.body_start);
    for (heading, section) in document.headings.iter().zip(document.section_ranges()) {
        if RECORD.is_match(heading.text) && section.start >= start {
            kept.push(start..section.start);
            start = section.end;
        }
    }
    kept.push(start..document.text.len());
    kept
}

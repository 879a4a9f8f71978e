//! Plans that are lists of checkboxes: those of Spec Kit, OpenSpec and Kiro, nested and numbered each in its way.
//!
//! A numbered item is a task. One with items of its own and no text is a group: what is done is done by its items.
//! An item without a number is a task only where OpenSpec has it; elsewhere it is a part of the item above it.

mod dependencies;
mod item;
mod outline;
mod recognition;
mod waves;

use super::checkboxes::with_open_boxes;
use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::MarkdownDocument;
use crate::fields::prose::read_prose;
use crate::model::{Plan, Task};
use outline::{ChecklistEntry, ChecklistOutline};

/// Spec Kit: `- [ ] T001 [P] [US1] …` in phases.
pub static SPEC_KIT: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::SpecKit };
/// OpenSpec: `- [ ] 1.1 …` below `## 1. …`.
pub static OPEN_SPEC: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::OpenSpec };
/// Kiro: `- [ ] 1. …` with `- [ ] 1.1 …` below it.
pub static KIRO: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::Kiro };

/// Whose checkboxes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChecklistFormat {
    SpecKit,
    OpenSpec,
    Kiro,
}

/// A list of checkboxes.
#[derive(Debug)]
pub struct ChecklistDialect {
    format: ChecklistFormat,
}

impl PlanDialect for ChecklistDialect {
    fn name(&self) -> &'static str {
        match self.format {
            ChecklistFormat::SpecKit => "spec-kit",
            ChecklistFormat::OpenSpec => "openspec",
            ChecklistFormat::Kiro => "kiro",
        }
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        recognition::find_format(input) == Some(self.format)
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        let outline = ChecklistOutline::read(document, self.format);
        let stated = dependencies::read_stated(document, &outline, self.format);
        let derived = dependencies::derive(document, &outline, &stated);
        let tasks = outline.tasks().zip(stated).zip(derived);
        plan.tasks = tasks.map(|((entry, stated), deps)| read_task(document, entry, stated, deps)).collect();
        let heads: Vec<_> = outline.tasks().map(|entry| entry.item.span.clone()).collect();
        report_file_problems(document, plan);
        report_task_problems(plan, &heads, |byte| document.line_number(byte));
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        let document = MarkdownDocument::read(text);
        let outline = ChecklistOutline::read(&document, self.format);
        let (marks, mark) = match change {
            PlanChange::Done { task } => (outline.marks_to_tick(task)?, "x"),
            PlanChange::Open { task } => (outline.marks_to_open(task)?, " "),
            PlanChange::Choice { .. } => return None,
        };
        let mut changed = text.to_owned();
        for place in marks {
            changed.replace_range(place, mark);
        }
        Some(changed)
    }

    fn without_state(&self, text: &str) -> Option<String> {
        Some(with_open_boxes(text))
    }
}

fn read_task(
    document: &MarkdownDocument<'_>,
    entry: &ChecklistEntry<'_>,
    stated: Option<Vec<String>>,
    deps: Vec<String>,
) -> Task {
    let lines = [document.line_number(entry.body.start), document.line_number(entry.body.end.saturating_sub(1))];
    let prose = read_prose(document, &entry.item.title, entry.details.clone());
    Task {
        stated_deps: stated,
        deps,
        section: entry.section.clone(),
        is_done: entry.item.is_done,
        is_optional: entry.item.is_optional,
        files: prose.files,
        checks: prose.checks,
        ..Task::new(entry.id.clone(), entry.item.title.clone()).with_body(document.slice(entry.body.clone()), lines)
    }
}

/// Adds what is wrong with the file as a whole.
fn report_file_problems(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let mut report = |code: Code, span: std::ops::Range<usize>, text: &str| {
        let line = document.line_number(span.start);
        let text = text.to_owned();
        plan.diagnostics.push(Diagnostic { code, severity: code.severity(), span, line, task: None, text, help: None });
    };
    if let Some(code) = document.unclosed_fence() {
        report(Code::UnclosedFence, code.span.clone(), "this code fence is not closed: everything after it is code");
    }
    if plan.tasks.is_empty() {
        report(Code::NoTasks, 0..0, "the file has no task: an item such as `- [ ] 1.1 its title`");
    }
}

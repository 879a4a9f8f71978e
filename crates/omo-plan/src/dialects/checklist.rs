//! Reads plans that are lists of checkboxes: Kiro, Spec Kit, OpenSpec, and others with a file here.
//!
//! An item without text and with tasks below is a group; any other item that is no task
//! ([`TaskItems`]) is part of the one above.

mod agent_os;
mod bmad;
mod conductor;
mod dependencies;
mod item;
mod outline;
mod recognition;
mod sisyphus;
mod unread_items;
mod waves;

use std::collections::HashMap;
use std::ops::Range;

use super::checkboxes::with_open_boxes;
use super::goal::{GoalFile, GoalPart};
use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput, PlanPlace, near_miss};
use crate::batches::span_diagnostic;
use crate::diagnostic::Code;
use crate::document::{MarkdownDocument, line_ranges};
use crate::fields::prose::{read_prose, read_row_checks};
use crate::fields::unused_commands::unused_commands;
use crate::fields::verification_section::read_verification_section;
use crate::labels::read_labels;
use crate::model::{Checkpoint, Dialect, MAX_PLAN_TASKS, Plan, PlannedState, RefusedCheck, Task};
use crate::pattern::Pattern;
pub use agent_os::AGENT_OS;
pub use bmad::BMAD;
pub use conductor::CONDUCTOR;
use dependencies::{MAX_DEPENDENCIES, StatedNeeds};
use item::ChecklistItem;
use outline::{ChecklistEntry, ChecklistOutline};
pub use sisyphus::{BOULDER_FILE, SISYPHUS, active_plan_name};
use unread_items::find_unread_items;

static CHECKPOINT: Pattern = Pattern::new(r"^[\s>*_#]*(?i-u:checkpoint)\b");

/// Items of a format that are tasks, by their numbers and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskItems {
    /// Items with a number that begins with a letter, such as `T001`.
    Lettered,
    /// Items with a number.
    Numbered,
    /// Items with a number, or outside of numbered items.
    NumberedOrOuter,
    /// Items with a number, and outside of other numbered items.
    NumberedOuter,
    Outer,
}

pub struct ChecklistDialect {
    dialect: Dialect,
    name: &'static str,
    places: &'static [PlanPlace],
    goal_files: &'static [GoalFile],
    tasks: TaskItems,
    form: &'static str,
    sign: Option<&'static Pattern>,
    /// Pattern of headings above tasks; `None` for any heading.
    section: Option<&'static Pattern>,
    stop: Option<&'static Pattern>,
    /// Pattern of the end of a title that is left out.
    tail: Option<&'static Pattern>,
    /// Labels in lower case whose text names neither changed files nor checks.
    context: &'static [&'static str],
    /// `true` where a task that names dependencies has no others.
    states_all_needs: bool,
    /// `true` where boxes below a task are ticked with it.
    ticks_parts: bool,
    /// Step that adds data from elsewhere in the file.
    finish: fn(&MarkdownDocument<'_>, &mut Plan),
}

const NUMBERED: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::Kiro,
    name: "",
    places: &[],
    goal_files: &[],
    tasks: TaskItems::Numbered,
    form: "- [ ] 1. its title",
    sign: None,
    section: None,
    stop: None,
    tail: None,
    context: &[],
    states_all_needs: false,
    ticks_parts: false,
    finish: |_, _| {},
};

static SIGNED: [&ChecklistDialect; 4] = [&SISYPHUS, &CONDUCTOR, &BMAD, &AGENT_OS];

const fn first(path: &'static str) -> GoalFile {
    GoalFile {
        path,
        part: GoalPart::FirstParagraph,
    }
}

/// Spec Kit: `- [ ] T001 [P] [US1] …` in phases.
pub static SPEC_KIT: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::SpecKit,
    name: "spec-kit",
    places: &[
        PlanPlace::below("specs", "tasks.md"),
        PlanPlace::below(".specify", "tasks.md"),
    ],
    goal_files: &[first("spec.md")],
    tasks: TaskItems::Lettered,
    form: "- [ ] T001 its title",
    ..NUMBERED
};
/// OpenSpec: `- [ ] 1.1 …` below `## 1. …`.
pub static OPEN_SPEC: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::OpenSpec,
    name: "openspec",
    places: &[PlanPlace::below("openspec/changes", "tasks.md")],
    goal_files: &[
        GoalFile {
            path: "proposal.md",
            part: GoalPart::Sections(&["why", "what changes"]),
        },
        GoalFile {
            path: "specs/*/spec.md",
            part: GoalPart::Requirements,
        },
    ],
    tasks: TaskItems::NumberedOrOuter,
    form: "- [ ] 1.1 its title",
    ..NUMBERED
};
/// Kiro: `- [ ] 1. …` with `- [ ] 1.1 …` below it.
pub static KIRO: ChecklistDialect = ChecklistDialect {
    name: "kiro",
    places: &[PlanPlace::below(".kiro/specs", "tasks.md")],
    goal_files: &[first("requirements.md"), first("design.md")],
    ..NUMBERED
};

pub(super) fn is_surely_kiro(input: &PlanInput<'_>) -> bool {
    recognition::is_surely_kiro(input)
}

impl PlanDialect for ChecklistDialect {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        self.places
    }

    fn goal_files(&self) -> &'static [GoalFile] {
        self.goal_files
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        input.checklist_format(|| recognition::find_format(input)) == Some(self.dialect)
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        let outline = ChecklistOutline::read(document, self);
        // Of a plan with more than `MAX_PLAN_TASKS` only the tasks are read.
        let is_too_large = outline.tasks().nth(MAX_PLAN_TASKS).is_some();
        let StatedNeeds {
            ids: stated,
            too_many_at,
        } = if is_too_large {
            StatedNeeds {
                ids: vec![None; MAX_PLAN_TASKS + 1],
                too_many_at: None,
            }
        } else {
            dependencies::read_stated(document, &outline, self)
        };
        let derived = if is_too_large {
            vec![Vec::new(); MAX_PLAN_TASKS + 1]
        } else {
            dependencies::derive(document, &outline, &stated, self)
        };
        let tasks = outline
            .tasks()
            .zip(stated)
            .zip(derived)
            .take(MAX_PLAN_TASKS + 1);
        let sections = sections_by_number(document);
        plan.tasks = tasks
            .map(|((entry, stated), deps)| {
                let number = entry.item.number.filter(|_| entry.repeats.is_none());
                let section = number.and_then(|number| sections.get(number)).cloned();
                self.read_task(document, entry, section, stated, deps)
            })
            .collect();
        let heads: Vec<_> = outline
            .tasks()
            .map(|entry| entry.item.span.clone())
            .collect();
        read_checkpoints(document, &outline, plan);
        read_verification_section(document, plan);
        if let Some(head) = too_many_at.and_then(|place| heads.get(place)) {
            let text = format!("the tasks name more than {MAX_DEPENDENCIES} dependencies");
            plan.diagnostics.push(span_diagnostic(
                document,
                Code::TooManyDependencies,
                head.clone(),
                text,
                None,
            ));
        }
        if let Some(name) = self
            .folder_title(input.path())
            .filter(|_| FILE_TITLES.contains(&plan.title.to_lowercase().as_str()))
        {
            plan.title = name.to_owned();
        }
        (self.finish)(document, plan);
        report_file_problems(document, plan);
        report_repeated_numbers(document, &outline, plan);
        if !plan.tasks.is_empty() {
            plan.diagnostics
                .extend(find_unread_items(document, &outline, self));
        }
        report_task_problems(plan, &heads, |byte| document.line_number(byte));
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        let document = MarkdownDocument::read(text);
        let outline = ChecklistOutline::read(&document, self);
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

pub(crate) const FILE_TITLES: [&str; 1] = ["tasks"];

impl ChecklistDialect {
    fn folder_title<'p>(&self, path: &'p str) -> Option<&'p str> {
        let is_of_change =
            self.dialect == Dialect::OpenSpec && Dialect::of_place(path) == Some(Dialect::OpenSpec);
        let mut parts = path.rsplit(['/', '\\']).skip(1);
        parts
            .next()
            .filter(|name| is_of_change && !name.is_empty() && *name != "changes")
    }

    fn read_task(
        &self,
        document: &MarkdownDocument<'_>,
        entry: &ChecklistEntry<'_>,
        section: Option<Range<usize>>,
        stated: Option<Vec<String>>,
        deps: Vec<String>,
    ) -> Task {
        let lines = [
            document.line_number(entry.body.start),
            document.line_number(entry.body.end.saturating_sub(1)),
        ];
        let is_bare = document.slice(entry.details.clone()).trim().is_empty();
        let section = section.filter(|section| is_bare && !section.contains(&entry.body.start));
        let own = self.own_words(document, section.clone().unwrap_or(entry.details.clone()));
        let prose = read_prose(document, &entry.item.title, &own);
        let mut body = document.slice(entry.body.clone()).to_owned();
        if let Some(section) = section {
            body = format!(
                "{}\n\n{}",
                body.trim_end(),
                document.slice(section).trim_end()
            );
        }
        Task {
            stated_deps: stated,
            deps,
            section: entry.section.clone(),
            state: PlannedState::checked_off(entry.item.is_done),
            is_optional: entry.item.is_optional,
            stop_after: entry.stops,
            files: prose.files,
            checks: prose.checks,
            ..Task::new(entry.id.clone(), entry.item.title.clone()).with_body(body, lines)
        }
    }

    fn own_words(
        &self,
        document: &MarkdownDocument<'_>,
        details: Range<usize>,
    ) -> Vec<Range<usize>> {
        let labels = if self.context.is_empty() {
            Vec::new()
        } else {
            read_labels(document, details.clone(), &[])
        };
        let context = labels
            .iter()
            .filter(|label| self.context.iter().any(|name| label.key.starts_with(name)));
        let (mut kept, mut start) = (Vec::new(), details.start);
        for label in context {
            kept.push(start..label.span.start);
            start = label.value.end;
        }
        kept.push(start..details.end);
        kept
    }
}

/// Sections by a number with letters, such as `## Story FIX-001: …`, to which an item with that number refers.
fn sections_by_number<'a>(document: &MarkdownDocument<'a>) -> HashMap<&'a str, Range<usize>> {
    let mut sections = HashMap::new();
    for (heading, section) in document.headings.iter().zip(document.section_ranges()) {
        let mut numbers = heading
            .text
            .split(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '.')))
            .filter(|word| {
                word.starts_with(|first: char| first.is_ascii_uppercase())
                    && word.ends_with(|last: char| last.is_ascii_digit())
            });
        if let (Some(number), None) = (numbers.next(), numbers.next()) {
            sections.insert(number, section);
        }
    }
    sections
}

fn read_checkpoints(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    plan: &mut Plan,
) {
    let mut tasks = outline.tasks().peekable();
    let mut last: Option<&ChecklistEntry<'_>> = None;
    for line in outline::plain_lines(document) {
        while let Some(entry) = tasks.next_if(|entry| entry.body.start <= line.start) {
            last = Some(entry);
        }
        let Some(entry) = last.filter(|entry| line.start >= entry.body.end) else {
            continue;
        };
        let row = document.slice(line);
        if CHECKPOINT.is_match(row) {
            let checks = read_row_checks(row);
            plan.checkpoints
                .extend(checks.into_iter().map(|check| Checkpoint {
                    task: entry.id.clone(),
                    check,
                }));
            plan.refused_checks
                .extend(
                    unused_commands(row)
                        .into_iter()
                        .map(|(command, concern)| RefusedCheck {
                            task: Some(entry.id.clone()),
                            command,
                            concern,
                        }),
                );
        }
    }
}

fn report_repeated_numbers(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    plan: &mut Plan,
) {
    let mut found = Vec::new();
    for (place, entry) in outline.tasks().enumerate() {
        let Some(first) = entry.repeats.and_then(|place| outline.entries.get(place)) else {
            continue;
        };
        let line = document.line_number(first.item.span.start);
        let number = &first.id;
        let is_named = plan
            .tasks
            .iter()
            .skip(place)
            .any(|task| task.stated_deps.iter().flatten().any(|id| id == number));
        // A dependency before the second task can only mean the first.
        let code = if is_named {
            Code::DuplicateId
        } else {
            Code::RepeatedId
        };
        let text = format!(
            "task {number} stands on line {line} already: this one is {}",
            entry.id
        );
        found.push(span_diagnostic(
            document,
            code,
            entry.item.span.clone(),
            text,
            None,
        ));
    }
    plan.diagnostics.append(&mut found);
}

fn report_file_problems(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    // A fence that opens where it should close, and hides no item, does no harm.
    let unclosed = document.unclosed_fence().filter(|code| {
        line_ranges(document.text, code.inner.clone())
            .any(|line| ChecklistItem::read(document.slice(line.clone()), line).is_some())
    });
    if let Some(code) = unclosed {
        plan.diagnostics.push(span_diagnostic(
            document,
            Code::UnclosedFence,
            code.span.clone(),
            "this code fence is not closed: everything after it is code".to_owned(),
            None,
        ));
    }
    if plan.tasks.is_empty() {
        let first = near_miss::first_box(document).unwrap_or(0..0);
        plan.diagnostics.push(span_diagnostic(
            document,
            Code::NoTasks,
            first,
            "the file has no task: an item with a number, such as `- [ ] 1.1 its title`".to_owned(),
            None,
        ));
    }
}

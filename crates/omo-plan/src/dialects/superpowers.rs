//! Plans of `### Task N:` whose steps are checkboxes, as superpowers writes them.
//!
//! A task has `**Files:**`, and steps `- [ ] **Step 1: …**`. The checks are the commands that its steps say to run;
//! one that is run to see it fail, before the work is done, is the red check. The boxes of the steps are its state.

mod commands;
mod recognition;
mod state;
mod steps;

use std::collections::HashSet;
use std::ops::Range;

use omo_core::check::task_check::TaskCheck;

use super::checkboxes::with_open_boxes;
use super::checklist::is_surely_kiro;
use super::outlined_task::{read_goal, report_check_doubts, stated_dependencies, without_tail};
use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput, PlanPlace};
use crate::batches::{HeadingForm, TaskHeading, TaskOutline, read_outline, span_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::MarkdownDocument;
use crate::fields::named_files::{NamedFile, read_files};
use crate::fields::prose::read_prose;
use crate::fields::unused_commands::refused_check;
use crate::fields::verification_section::read_verification_section;
use crate::labels::{list_part, normalize_key, read_labels};
use crate::model::{Dialect, FileUse, MAX_PLAN_TASKS, OnTaskFail, Parallelism, Plan, PlannedState, RefusedCheck, Task};
use crate::words::Word;
use commands::{StepCommands, read_commands};
use state::StepMark;
use steps::TaskSteps;

/// Plans of `### Task N:` whose steps are checkboxes, as superpowers writes them.
#[derive(Debug)]
pub struct SuperpowersDialect;

impl PlanDialect for SuperpowersDialect {
    fn name(&self) -> &'static str {
        "superpowers"
    }

    fn states_dependencies(&self, plan: &Plan) -> bool {
        plan.tasks.iter().any(|task| task.stated_deps.as_ref().is_some_and(|stated| !stated.is_empty()))
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        const { &[PlanPlace::in_folder("docs/superpowers/plans", "*.md")] }
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        let is_at_place = Dialect::of_place(input.path()) == Some(Dialect::Superpowers);
        recognition::is_superpowers(input.document(), is_at_place) && !is_surely_kiro(input)
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        let outline = read_outline(document, HeadingForm::Loose);
        plan.policy.on_task_fail = OnTaskFail::Continue;
        plan.policy.parallel = Parallelism::None;
        plan.goal = read_goal(document, &outline);
        // What the plan has twice, or in a circle, is told below for all dialects alike.
        let told = |found: &&Diagnostic| found.code != Code::DuplicateId && found.code != Code::SelfDependency;
        plan.diagnostics.extend(outline.diagnostics.iter().filter(told).cloned());
        let sections = enclosing_sections(document, &outline);
        let mut before: Option<String> = None;
        for (task, section) in outline.tasks.iter().zip(sections).take(MAX_PLAN_TASKS + 1) {
            let mut read = read_task(document, &outline, task, &mut plan.diagnostics, &mut plan.refused_checks);
            // The next task builds on the one before, where the plan says nothing else.
            let deps = read.stated_deps.clone().unwrap_or_else(|| before.iter().cloned().collect());
            read.deps = deps;
            read.section = section;
            before = Some(read.id.clone());
            plan.tasks.push(read);
        }
        read_verification_section(document, plan);
        let heads: Vec<Range<usize>> = outline.tasks.iter().map(|task| task.heading.clone()).collect();
        report_task_problems(plan, &heads, |byte| document.line_number(byte));
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        match change {
            PlanChange::Done { task } => state::mark_steps(text, task, StepMark::Ticked),
            PlanChange::Open { task } => state::mark_steps(text, task, StepMark::Open),
            PlanChange::Choice { .. } => None,
        }
    }

    fn without_state(&self, text: &str) -> Option<String> {
        Some(with_open_boxes(text))
    }
}

fn read_task(
    document: &MarkdownDocument<'_>,
    outline: &TaskOutline<'_>,
    task: &TaskHeading<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    refused: &mut Vec<RefusedCheck>,
) -> Task {
    let mut report = |code: Code, span: Range<usize>, text: String| {
        diagnostics.push(span_diagnostic(document, code, span, text, Some(task.id)));
    };
    let section = without_tail(document, task.section.clone());
    let steps = TaskSteps::read(document, task.heading.end..section.end);
    let StepCommands { checks, red_check, unused } = read_commands(document, &steps);
    refused.extend(unused.iter().map(|command| refused_check(Some(task.id), command)));
    report_check_doubts(&checks, &mut report);
    let has_checks = checks.len() + usize::from(red_check.is_some()) > 0;
    let (mut files, mut checks) =
        (task_files(document, &steps), unique_checks(checks.into_iter().map(|check| check.check)));
    // A task without steps and files says in sentences what it is about.
    if steps.steps.is_empty() && files.is_empty() {
        let prose = read_prose(document, "", steps.preamble.clone());
        files = prose.files;
        checks = if has_checks { checks } else { prose.checks };
    }
    if checks.is_empty() && red_check.is_none() {
        let text = format!("task {} has no command to run: nothing can prove it", task.id);
        report(Code::MissingVerify, task.heading.clone(), text);
    }
    let lines = [task.line, document.line_number(section.end.saturating_sub(1).max(section.start))];
    let heading = document.slice(task.heading.clone());
    Task {
        stated_deps: stated_dependencies(outline, task),
        state: PlannedState::checked_off(steps.is_done() || steps.boxes.is_empty() && state::is_marked_done(heading)),
        is_optional: recognition::is_called_optional(heading),
        files,
        checks,
        red_check: red_check.map(|check| check.check),
        stop_after: task.is_marked,
        ..Task::new(task.id, task.title.clone()).with_body(document.slice(section), lines)
    }
}

/// Labels that say themselves what is done to the files behind them.
const ACTION_LABELS: [&str; 5] = ["create", "modify", "test", "tests", "delete"];

/// The files that a task names before its steps.
fn task_files(document: &MarkdownDocument<'_>, steps: &TaskSteps) -> Vec<FileUse> {
    let known: Vec<&str> = Word::Files.words().collect();
    let labels = read_labels(document, steps.preamble.clone(), &known);
    let is_name = |key: &str| Word::Files.is(key) || key.starts_with("files ");
    let lists = labels.iter().filter(|label| is_name(&label.key)).map(|label| label.value.clone());
    // A heading may stand for the label.
    let headings = document
        .headings_in(&steps.preamble)
        .iter()
        .filter(|heading| is_name(&normalize_key(heading.text.trim_end_matches([':', '：']))));
    let lists: Vec<_> = lists.chain(headings.map(|heading| heading.span.end..steps.preamble.end)).collect();
    let mut found: Vec<NamedFile> =
        lists.iter().flat_map(|value| read_files(document, list_part(document, value.clone()))).collect();
    if lists.is_empty() {
        // Where no label lists them, each may have a label of its own.
        let labels = read_labels(document, steps.preamble.clone(), &ACTION_LABELS);
        let own = labels.iter().filter(|label| ACTION_LABELS.contains(&label.key.as_str()));
        found.extend(own.flat_map(|label| {
            let value = list_part(document, label.value.clone());
            read_files(document, label.span.start..value.end)
        }));
    }
    let mut known: HashSet<String> = HashSet::new();
    found.into_iter().map(|(file, _)| file).filter(|file| known.insert(file.path.clone())).collect()
}

/// Each check once: a task often runs the same tests more than once.
fn unique_checks(checks: impl Iterator<Item = TaskCheck>) -> Vec<TaskCheck> {
    let mut known: HashSet<String> = HashSet::new();
    checks.filter(|check| known.insert(format!("{}\0{:?}", check.command, check.expect))).collect()
}

/// For each task the heading of a phase or chapter that it stands below.
fn enclosing_sections(document: &MarkdownDocument<'_>, outline: &TaskOutline<'_>) -> Vec<Option<String>> {
    let mut found = Vec::with_capacity(outline.tasks.len());
    let mut headings = document.headings.iter().peekable();
    let mut chapter: Option<&str> = None;
    for task in &outline.tasks {
        while let Some(heading) = headings.next_if(|heading| heading.span.start < task.heading.start) {
            if heading.level <= 2 {
                chapter = Some(heading.text).filter(|_| heading.level == 2 && !outline.is_task_heading(heading));
            }
        }
        let is_below = headings.peek().is_some_and(|heading| heading.level > 2);
        found.push(chapter.filter(|_| is_below).map(str::to_owned));
    }
    found
}

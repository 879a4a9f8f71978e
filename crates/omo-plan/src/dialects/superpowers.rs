//! Reads plans of superpowers: `### Task N:` with `**Files:**` and steps `- [ ] **Step 1: …**`,
//! whose boxes are their state.
//!
//! Commands of steps are the checks; one that is to fail before the work is the red check.

mod recognition;
mod state;

use std::ops::Range;

use super::checkboxes::with_open_boxes;
use super::checklist::is_surely_kiro;
use super::outlined_task::{
    HeadingFields, read_goal, report_check_doubts, stated_dependencies, unique_checks, without_tail,
};
use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput, PlanPlace};
use crate::batches::{TaskHeading, TaskOutline, find_form, read_outline, span_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::MarkdownDocument;
use crate::fields::unused_commands::refused_check;
use crate::fields::verification_section::read_verification_section;
use crate::model::{
    Dialect, MAX_PLAN_TASKS, OnTaskFail, Parallelism, Plan, PlannedState, RefusedCheck, Task,
};
use state::StepMark;

#[derive(Debug)]
pub struct SuperpowersDialect;

impl PlanDialect for SuperpowersDialect {
    fn name(&self) -> &'static str {
        "superpowers"
    }

    fn states_dependencies(&self, plan: &Plan) -> bool {
        plan.tasks.iter().any(|task| {
            task.stated_deps
                .as_ref()
                .is_some_and(|stated| !stated.is_empty())
        })
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
        let outline = read_outline(document, find_form(document));
        plan.policy.on_task_fail = OnTaskFail::Continue;
        plan.policy.parallel = Parallelism::None;
        plan.goal = read_goal(document, &outline);
        // Duplicate ids and circles are reported below, for all dialects alike.
        let reported = outline
            .diagnostics
            .iter()
            .filter(|found| found.code != Code::DuplicateId && found.code != Code::SelfDependency);
        plan.diagnostics.extend(reported.cloned());
        let sections = enclosing_sections(document, &outline);
        let mut before: Option<String> = None;
        for (task, section) in outline.tasks.iter().zip(sections).take(MAX_PLAN_TASKS + 1) {
            let mut read = read_task(
                document,
                &outline,
                task,
                &mut plan.diagnostics,
                &mut plan.refused_checks,
            );
            // Without stated needs a task builds on the one before.
            let deps = read
                .stated_deps
                .clone()
                .unwrap_or_else(|| before.iter().cloned().collect());
            read.deps = deps;
            read.section = section;
            before = Some(read.id.clone());
            plan.tasks.push(read);
        }
        read_verification_section(document, plan);
        let heads: Vec<Range<usize>> = outline
            .tasks
            .iter()
            .map(|task| task.heading.clone())
            .collect();
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
    let fields = HeadingFields::read(document, task.heading.end..section.end, &task.title);
    refused.extend(
        fields
            .unused
            .iter()
            .map(|command| refused_check(Some(task.id), command)),
    );
    report_check_doubts(&fields.checks, &mut report);
    let (files, checks, red_check) = (fields.files, unique_checks(fields.checks), fields.red_check);
    if checks.is_empty() && red_check.is_none() {
        let text = format!(
            "task {} has no command to run: nothing can prove it",
            task.id
        );
        report(Code::MissingVerify, task.heading.clone(), text);
    }
    let lines = [
        task.line,
        document.line_number(section.end.saturating_sub(1).max(section.start)),
    ];
    let heading = document.slice(task.heading.clone());
    Task {
        stated_deps: stated_dependencies(outline, task),
        state: PlannedState::checked_off(
            fields
                .is_done
                .unwrap_or_else(|| state::is_marked_done(heading)),
        ),
        is_optional: recognition::is_called_optional(heading),
        files,
        checks,
        red_check,
        stop_after: task.is_marked,
        ..Task::new(task.id, task.title.clone()).with_body(document.slice(section), lines)
    }
}

fn enclosing_sections(
    document: &MarkdownDocument<'_>,
    outline: &TaskOutline<'_>,
) -> Vec<Option<String>> {
    let mut found = Vec::with_capacity(outline.tasks.len());
    let mut headings = document.headings.iter().peekable();
    let mut chapter: Option<&str> = None;
    for task in &outline.tasks {
        while let Some(heading) =
            headings.next_if(|heading| heading.span.start < task.heading.start)
        {
            if heading.level <= 2 {
                chapter = Some(heading.text)
                    .filter(|_| heading.level == 2 && !outline.is_task_heading(heading));
            }
        }
        let is_below = headings.peek().is_some_and(|heading| heading.level > 2);
        found.push(chapter.filter(|_| is_below).map(str::to_owned));
    }
    found
}

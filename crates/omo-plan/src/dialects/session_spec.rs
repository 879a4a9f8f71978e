//! Reads the spec of one session of an ultraplan, with conditions for its entry and its exit.

use omo_core::check::task_check::{TaskCheck, has_pipe};
use omo_core::text::sanitize;

use super::ultraplan::commands::read_commands;
use super::ultraplan::{is_nothing, order_tasks, read_closing_checks, read_goal, run_policy};
use super::{BatchOptions, PlanDialect, PlanInput, PlanKind};
use crate::diagnostic::Code;
use crate::dialects::ultraplan::consistency;
use crate::dialects::ultraplan::scope_fence::{PathComparer, ScopeFence, read_scope_fence};
use crate::dialects::ultraplan::section_outline::{PlanFindings, SectionOutline};
use crate::dialects::ultraplan::step::read_steps;
use crate::labels::{LabeledField, read_labels};
use crate::model::{GroupIsolation, Parallelism, Plan, Precondition, TaskGroup};

const SESSION_GROUP: &str = "session";
/// Command for a clean tree; `git status` ends with status 0 either way.
const CLEAN_CHECK: &str = "test -z \"$(git status --porcelain)\"";

/// Dialect of a session's spec.
#[derive(Debug)]
pub struct SessionSpecDialect;

impl PlanDialect for SessionSpecDialect {
    fn name(&self) -> &'static str {
        "session-spec"
    }

    fn kind(&self) -> PlanKind {
        PlanKind::Steps
    }

    fn final_checks_title(&self) -> &'static str {
        "Exit condition"
    }

    fn file_type(&self) -> &'static str {
        "session-spec"
    }

    fn is_one_session(&self) -> bool {
        true
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        let outline = SectionOutline::new(input.document());
        entry_label(&outline).is_some()
            && outline.section_named("scope fence").is_some()
            && outline.section_named("exit condition").is_some()
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        read(&SectionOutline::new(input.document()), plan);
    }
}

fn read(outline: &SectionOutline<'_>, plan: &mut Plan) {
    let mut findings = PlanFindings::new(outline.document);
    let steps = read_steps(outline, &mut findings);
    if steps.is_empty() {
        let text = "the session has no step".to_owned();
        let start = outline.document.body_start;
        findings.add(
            Code::NoTasks,
            start..start,
            None,
            text,
            "a step is written `### Step 1: Title`",
        );
    }
    consistency::report_numbering(&steps, None, &mut findings);
    let fence = outline
        .section_named("scope fence")
        .map(|section| read_scope_fence(outline, section.content()))
        .unwrap_or_default();
    fence.report_findings(&mut findings);
    consistency::report_fence(
        "the session",
        &fence,
        steps.iter(),
        &mut PathComparer::with_budget(),
        &mut findings,
    );
    plan.goal = read_goal(outline);
    plan.preconditions = entry_condition(outline, &mut findings)
        .into_iter()
        .collect();
    plan.groups = vec![session_group(
        &plan.title,
        steps.iter().map(|step| step.task.id.clone()).collect(),
        &fence,
    )];
    plan.tasks = order_tasks(
        steps.into_iter().map(|step| step.task).collect(),
        &plan.groups,
    );
    plan.final_checks = read_closing_checks(outline, "exit condition", &mut findings);
    plan.policy = run_policy(Parallelism::None);
    plan.diagnostics.extend(findings.into_diagnostics());
}

fn session_group(title: &str, tasks: Vec<String>, fence: &ScopeFence) -> TaskGroup {
    TaskGroup {
        id: SESSION_GROUP.to_owned(),
        title: title.to_owned(),
        tasks,
        wave: 0,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: fence.touch_paths(),
        never_touch: fence.never_paths(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

fn entry_label<'d>(outline: &SectionOutline<'d>) -> Option<LabeledField<'d>> {
    let section = outline.section_named("dependencies")?;
    let found = read_labels(outline.document, section.content(), &["entry condition"]);
    found
        .into_iter()
        .find(|label| label.key == "entry condition")
}

fn entry_condition(
    outline: &SectionOutline<'_>,
    findings: &mut PlanFindings<'_>,
) -> Option<Precondition> {
    let label = entry_label(outline)?;
    let text = outline.document.slice(label.value.clone());
    if is_nothing(text) {
        return None;
    }
    // Only code is run: the rest of the sentence is for a person.
    let found = read_commands(outline.document, label.value.clone());
    let mut checks: Vec<TaskCheck> = found
        .into_iter()
        .filter(|command| !command.is_prose)
        .map(|command| command.check)
        .collect();
    checks.retain(|check| text.contains(['`', '~']) && !check.command.starts_with("git status"));
    for check in checks.iter().filter(|check| has_pipe(&check.command)) {
        let shown = format!("`{}` pipes its output on", sanitize(&check.command, 80));
        findings.add(
            Code::PipeInVerify,
            label.span.start..label.value.end,
            None,
            shown,
            "",
        );
    }
    let lower = text.to_lowercase();
    let is_about_status = lower.contains("git status") || lower.contains("working tree");
    if is_about_status && (lower.contains("clean") || lower.contains("empty")) {
        checks.push(TaskCheck::new(CLEAN_CHECK));
    }
    Some(Precondition::EntryCondition {
        text: text.to_owned(),
        checks,
    })
}

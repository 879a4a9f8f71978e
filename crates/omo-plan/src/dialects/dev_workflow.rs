//! Dialect `dev-workflow`: tasks with dependencies and contracts, done in batches.

mod decisions;
mod task;

use std::collections::HashMap;

use super::checklist::is_surely_kiro;
use super::outlined_task::read_goal;
use super::{BatchOptions, PlanChange, PlanDialect, PlanInput};
use crate::batches::{
    HeadingForm, PlanBatches, TaskOutline, batch_outline, has_tasks, read_outline, span_diagnostic,
};
use crate::diagnostic::Code;
use crate::document::MarkdownDocument;
use crate::labels::{normalize_key, read_labels};
use crate::model::{GroupIsolation, OnTaskFail, Parallelism, Plan, Precondition, Task, TaskGroup};
use crate::pattern::Pattern;
use decisions::write_choice;

/// Dialect of the dev-workflow plugin.
#[derive(Debug)]
pub struct DevWorkflowDialect;

impl PlanDialect for DevWorkflowDialect {
    fn name(&self) -> &'static str {
        "dev-workflow"
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        has_tasks(input.document(), HeadingForm::Exact) && !is_surely_kiro(input)
    }

    fn read_plan(&self, input: &PlanInput<'_>, options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        read_dev_workflow(
            document,
            &read_outline(document, HeadingForm::Exact),
            options,
            plan,
        );
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        match change {
            PlanChange::Choice { decision, option } => Some(write_choice(text, decision, option)),
            PlanChange::Done { .. } | PlanChange::Open { .. } => None,
        }
    }
}

fn read_dev_workflow(
    document: &MarkdownDocument<'_>,
    outline: &TaskOutline<'_>,
    options: BatchOptions,
    plan: &mut Plan,
) {
    let segments = batch_outline(outline, options.k, options.batch_size);
    plan.policy.on_task_fail = OnTaskFail::Continue;
    plan.policy.parallel = Parallelism::None;
    plan.policy.requires_contracts = requires_contracts(document);
    plan.goal = read_goal(document, outline);
    plan.groups = groups_of_batches(&segments);
    plan.diagnostics
        .extend(segments.diagnostics.iter().cloned());
    let mut tasks = Vec::with_capacity(outline.tasks.len());
    for task in &outline.tasks {
        tasks.push(task::read_task(
            document,
            outline,
            task,
            plan.policy.requires_contracts,
            &mut plan.diagnostics,
        ));
    }
    plan.tasks = sort_by_batches(tasks, &segments);
    if !plan.policy.requires_contracts {
        let end = document
            .headings
            .first()
            .map_or(0..0, |heading| heading.span.clone());
        let text = "the plan has no `contract_version`: its tasks are run without a Task Contract"
            .to_owned();
        plan.diagnostics.push(span_diagnostic(
            document,
            Code::NoContractVersion,
            end,
            text,
            None,
        ));
    }
    read_preconditions(document, plan);
    report_files_by_case(document, outline, plan);
}

/// Contract version from 1 on.
static VERSION: Pattern = Pattern::new(r"^[vV]*0*[1-9]");
/// First word of a verdict: neither `unapproved` nor `Approved: no`.
static APPROVED: Pattern = Pattern::new(r"^[\W_]*(?i-u:approved)(?:[^\w:]|_|$)");

fn requires_contracts(document: &MarkdownDocument<'_>) -> bool {
    document
        .front_matter_field("contract_version")
        .is_some_and(|field| VERSION.is_match(field.value))
}

fn groups_of_batches(segments: &PlanBatches<'_>) -> Vec<TaskGroup> {
    let groups = segments.batches.iter().enumerate();
    groups
        .map(|(stage, tasks)| TaskGroup {
            id: format!("batch-{}", stage + 1),
            title: format!("Batch {}", stage + 1),
            tasks: tasks.iter().map(|id| (*id).to_owned()).collect(),
            wave: stage,
            deps: Vec::new(),
            names_all_deps: false,
            may_touch: Vec::new(),
            never_touch: Vec::new(),
            isolation: GroupIsolation::Shared,
            hard_stop: segments.hard_stops.binary_search(&stage).is_ok(),
        })
        .collect()
}

fn sort_by_batches(mut tasks: Vec<Task>, segments: &PlanBatches<'_>) -> Vec<Task> {
    let order = segments.batches.iter().flatten().enumerate();
    let places: HashMap<&str, usize> = order.map(|(place, id)| (*id, place)).collect();
    tasks.sort_by_key(|task| places.get(task.id.as_str()).copied());
    tasks
}

fn read_preconditions(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let verdict = last_verdict(document);
    // A plan of a simpler kind without a verdict needs none.
    if plan.policy.requires_contracts || verdict.is_some() {
        read_verification(
            document,
            verdict.is_some_and(|verdict| APPROVED.is_match(verdict)),
            plan,
        );
    }
    for (decision, heading) in decisions::read_decisions(document) {
        if decision.chosen.is_none() {
            let text = format!("{} is not decided: it has no `**Chosen:**`", decision.id);
            plan.diagnostics.push(span_diagnostic(
                document,
                Code::UnresolvedDecision,
                heading,
                text,
                None,
            ));
        }
        plan.preconditions.push(Precondition::Decision(decision));
    }
}

fn read_verification(document: &MarkdownDocument<'_>, approved: bool, plan: &mut Plan) {
    plan.preconditions
        .push(Precondition::Verification { approved });
    if !approved {
        let end = document.text.trim_end().len();
        let text = "the plan has no section `## Verification` with `Verdict: Approved`".to_owned();
        plan.diagnostics.push(span_diagnostic(
            document,
            Code::NotVerified,
            end..end,
            text,
            None,
        ));
    }
}

fn last_verdict<'a>(document: &MarkdownDocument<'a>) -> Option<&'a str> {
    let sections = document.headings.iter().zip(document.section_ranges());
    let own = sections
        .filter(|(heading, _)| heading.level == 2 && normalize_key(heading.text) == "verification");
    let verdicts = own.flat_map(|(_, section)| read_labels(document, section, &["verdict"]));
    let last = verdicts.filter(|label| label.key == "verdict").last();
    last.map(|verdict| document.slice(verdict.first_line))
}

fn report_files_by_case(
    document: &MarkdownDocument<'_>,
    outline: &TaskOutline<'_>,
    plan: &mut Plan,
) {
    let mut known: HashMap<String, String> = HashMap::new();
    for unit in &plan.tasks {
        for file in &unit.files {
            let first = known
                .entry(file.path.to_lowercase())
                .or_insert_with(|| file.path.clone());
            if *first != file.path {
                let shown = [&file.path, &*first].map(|path| omo_core::text::sanitize(path, 80));
                let text = format!("`{}` and `{}` differ only by case", shown[0], shown[1]);
                let place = outline
                    .positions
                    .get(unit.id.as_str())
                    .and_then(|place| outline.tasks.get(*place));
                let span = place.map_or(0..0, |task| task.heading.clone());
                let found = span_diagnostic(
                    document,
                    Code::FilesDifferOnlyByCase,
                    span,
                    text,
                    Some(&unit.id),
                );
                plan.diagnostics.push(found);
            }
        }
    }
}

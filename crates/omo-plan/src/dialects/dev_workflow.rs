//! Plans of the dialect `dev-workflow`: tasks with dependencies and contracts, done in batches.

mod decisions;
mod task;

use std::collections::HashMap;

use crate::diagnostic::Code;
use crate::document::MarkdownDocument;
use crate::labels::{key, labels};
use crate::model::{GroupIsolation, OnTaskFail, Parallelism, Plan, Precondition, Task, TaskGroup};
use crate::pattern::Pattern;
use crate::segments::{PlanBatches, TaskOutline, diagnostic, has_tasks, of_outline};

use super::{BatchOptions, PlanChange, PlanDialect, PlanInput};

use decisions::choose;

/// Plans of tasks `### Task N:`.
#[derive(Debug)]
pub struct DevWorkflowDialect;

impl PlanDialect for DevWorkflowDialect {
    fn name(&self) -> &'static str {
        "dev-workflow"
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        has_tasks(input.document())
    }

    fn read(&self, input: &PlanInput<'_>, options: BatchOptions, plan: &mut Plan) {
        let document = input.document();
        read(document, &TaskOutline::read(document), options, plan);
    }

    fn write_back(&self, text: &str, change: &PlanChange<'_>) -> Option<String> {
        match change {
            PlanChange::Choice { decision, option } => Some(choose(text, decision, option)),
        }
    }
}

fn read(document: &MarkdownDocument<'_>, outline: &TaskOutline<'_>, options: BatchOptions, plan: &mut Plan) {
    let segments = of_outline(outline, options.k, options.batch_size);
    plan.policy.on_unit_fail = OnTaskFail::Continue;
    plan.policy.parallel = Parallelism::None;
    plan.policy.wants_contracts = wants_contracts(document);
    plan.goal = goal(document, outline);
    plan.groups = groups(&segments);
    plan.diagnostics.extend(segments.diagnostics.iter().cloned());
    let mut units = Vec::with_capacity(outline.tasks.len());
    for task in &outline.tasks {
        units.push(task::read(document, outline, task, plan.policy.wants_contracts, &mut plan.diagnostics));
    }
    plan.units = in_order(units, &segments);
    if !plan.policy.wants_contracts {
        let end = document.headings.first().map_or(0..0, |heading| heading.span.clone());
        let text = "the plan has no `contract_version`: its tasks are run without a Task Contract".to_owned();
        plan.diagnostics.push(diagnostic(document, Code::NoContractVersion, end, text, None));
    }
    preconditions(document, plan);
    files_by_case(document, outline, plan);
}

/// A version from 1 on.
static VERSION: Pattern = Pattern::new(r"^[vV]*0*[1-9]");
/// The word of a verdict, with marks before it: neither `unapproved` nor `Approved: no`.
static APPROVED: Pattern = Pattern::new(r"^[\W_]*(?i-u:approved)(?:[^\w:]|_|$)");

/// Whether the front matter has a version of contracts from 1 on.
fn wants_contracts(document: &MarkdownDocument<'_>) -> bool {
    document.front_value("contract_version").is_some_and(|field| VERSION.is_match(field.value))
}

fn goal(document: &MarkdownDocument<'_>, outline: &TaskOutline<'_>) -> String {
    let end = outline.tasks.first().map_or(document.text.len(), |task| task.section.start);
    let found = labels(document, document.body..end, &["goal"]);
    let goal = found.iter().find(|label| label.key == "goal");
    goal.map_or(String::new(), |goal| document.slice(goal.rest.clone()).to_owned())
}

/// A batch is a group, and all that follows a batch waits for it.
fn groups(segments: &PlanBatches<'_>) -> Vec<TaskGroup> {
    let group = |(stage, units): (usize, &Vec<&str>)| TaskGroup {
        id: format!("batch-{}", stage + 1),
        title: format!("Batch {}", stage + 1),
        units: units.iter().map(|id| (*id).to_owned()).collect(),
        stage,
        deps: Vec::new(),
        touch: Vec::new(),
        never: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: segments.hard_stops.binary_search(&stage).is_ok(),
    };
    segments.batches.iter().enumerate().map(group).collect()
}

/// The units in the order in which they are run, where there is one.
fn in_order(mut units: Vec<Task>, segments: &PlanBatches<'_>) -> Vec<Task> {
    let order = segments.batches.iter().flatten().enumerate();
    let places: HashMap<&str, usize> = order.map(|(place, id)| (*id, place)).collect();
    units.sort_by_key(|unit| places.get(unit.id.as_str()).copied());
    units
}

fn preconditions(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let approved = is_approved(document);
    plan.preconditions.push(Precondition::Verification { approved });
    if !approved {
        let end = document.text.trim_end().len();
        let text = "the plan has no section `## Verification` with `Verdict: Approved`".to_owned();
        plan.diagnostics.push(diagnostic(document, Code::NotVerified, end..end, text, None));
    }
    for (decision, heading) in decisions::read(document) {
        if decision.chosen.is_none() {
            let text = format!("{} is not decided: it has no `**Chosen:**`", decision.id);
            plan.diagnostics.push(diagnostic(document, Code::UnresolvedDecision, heading, text, None));
        }
        plan.preconditions.push(Precondition::Decision(decision));
    }
}

/// Whether the last verdict of the plan's verification is that it is approved.
pub(super) fn is_approved(document: &MarkdownDocument<'_>) -> bool {
    let sections = document.headings.iter().zip(document.sections());
    let own = sections.filter(|(heading, _)| heading.level == 2 && key(heading.text) == "verification");
    let verdicts = own.flat_map(|(_, section)| labels(document, section, &["verdict"]));
    let last = verdicts.filter(|label| label.key == "verdict").last();
    last.is_some_and(|verdict| APPROVED.is_match(document.slice(verdict.rest)))
}

/// Tells files that are one file where the case of letters does not count.
fn files_by_case(document: &MarkdownDocument<'_>, outline: &TaskOutline<'_>, plan: &mut Plan) {
    let mut known: HashMap<String, String> = HashMap::new();
    for unit in &plan.units {
        for file in &unit.files {
            let first = known.entry(file.path.to_lowercase()).or_insert_with(|| file.path.clone());
            if *first != file.path {
                let shown = [&file.path, &*first].map(|path| omo_core::text::sanitize(path, 80));
                let text = format!("`{}` and `{}` differ only by case", shown[0], shown[1]);
                let place = outline.places.get(unit.id.as_str()).and_then(|place| outline.tasks.get(*place));
                let span = place.map_or(0..0, |task| task.heading.clone());
                let found = diagnostic(document, Code::FilesDifferOnlyByCase, span, text, Some(&unit.id));
                plan.diagnostics.push(found);
            }
        }
    }
}

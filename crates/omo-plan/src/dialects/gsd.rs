//! Dialect GSD: `<task>` elements below `<tasks>`, in order, in a file of `.planning`, which keeps no state.
//!
//! A named checkpoint is a task with a stop behind it; one without a name is a stop, unless the file has nothing else.

mod elements;
pub mod folder;
mod front_matter;
mod task;
mod verification;

use std::collections::HashSet;
use std::ops::Range;

use omo_core::check::task_check::TaskCheck;
use omo_core::shell::programs::{Role, has_role};
use omo_core::text::sanitize;

use super::task_problems::report_task_problems;
use super::{BatchOptions, PlanDialect, PlanInput, PlanPlace};
use crate::batches::span_diagnostic;
use crate::diagnostic::{Code, Diagnostic};
use crate::document::MarkdownDocument;
use crate::fields::prose::read_row_checks;
use crate::fields::unused_commands::{refused_check, unused_commands};
use crate::model::{Plan, Precondition, RefusedCheck, Task};
use elements::{TagIndex, TaskElement};
pub(super) use front_matter::read_list;
use verification::VerifyText;

const KEYS: [&str; 6] = [
    "phase",
    "plan",
    "wave",
    "depends_on",
    "files_modified",
    "must_haves",
];
/// Label for the text of an unnamed checkpoint.
const CHECKPOINT: &str = "Checkpoint";

/// Dialect of GSD.
#[derive(Debug)]
pub struct GsdDialect;

impl PlanDialect for GsdDialect {
    fn name(&self) -> &'static str {
        "gsd"
    }

    fn unproved_continues(&self) -> bool {
        true
    }

    fn places(&self) -> &'static [PlanPlace] {
        const {
            &[
                PlanPlace::below(".planning", "*-PLAN.md"),
                PlanPlace::below(".planning", "PLAN.md"),
            ]
        }
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        ["<task", "<feature>"]
            .iter()
            .any(|tag| input.text().contains(tag))
            && !read_elements(input.document()).1.is_empty()
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        let document = input.document();
        let is_meant = ["phase", "plan"]
            .iter()
            .all(|key| document.front_matter_field(key).is_some());
        let start = document.text.find("<tasks>").unwrap_or(document.body_start);
        let help = "a task is `<task type=\"auto\">` with `<name>`, `<files>`, `<action>`, `<verify>` and `<done>`";
        is_meant.then(|| Diagnostic {
            help: Some(help.to_owned()),
            ..span_diagnostic(
                document,
                Code::NoTasks,
                start..start,
                "the plan has no element `<task>`".to_owned(),
                None,
            )
        })
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        read_gsd(input.document(), plan);
    }
}

fn read_elements<'a>(document: &MarkdownDocument<'a>) -> (TagIndex<'a>, Vec<TaskElement<'a>>) {
    let index = TagIndex::new(document.text, document.body_start);
    let has_key = KEYS
        .iter()
        .any(|key| document.front_matter_field(key).is_some());
    let mut tasks = index.tasks(false);
    if tasks.is_empty() && has_key {
        // A nested fence that is closed too early hides tasks.
        tasks = index.tasks(true);
    }
    let is_plan =
        has_key || document.text.contains("<tasks>") || document.text.contains("<objective>");
    let has_task = tasks.iter().flat_map(|task| &task.fields).any(|field| {
        matches!(
            field.name,
            "name"
                | "action"
                | "acceptance_criteria"
                | "verify"
                | "done"
                | "what-built"
                | "how-to-verify"
                | "decision"
                | "instructions"
        )
    });
    (
        index,
        if is_plan && has_task {
            tasks
        } else {
            Vec::new()
        },
    )
}

pub(super) struct PlanOrder {
    pub wave: Option<u32>,
    /// `true` for stated dependencies, also for none.
    pub states_needs: bool,
}

pub(super) fn read_plan_order(text: &str) -> PlanOrder {
    let document = MarkdownDocument::read(text);
    PlanOrder {
        wave: document
            .front_matter_field("wave")
            .and_then(|field| field.value.trim().parse().ok()),
        states_needs: document.front_matter_field("depends_on").is_some(),
    }
}

fn read_gsd(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let (index, elements) = read_elements(document);
    plan.requires_plans = read_list(document, "depends_on").unwrap_or_default();
    if let Some(title) = read_title(document) {
        plan.title = title;
    }
    if let Some(objective) = index.section("objective", &elements) {
        let text = verification::dedent(document.slice(objective));
        let first = text.split("\n\n").next().unwrap_or_default();
        plan.goal = first.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(section) = index.section("verification", &elements) {
        let VerifyText {
            checks,
            criteria,
            unused,
        } = verification::read_rows(&verification::dedent(document.slice(section)));
        plan.final_checks = checks
            .into_iter()
            .filter(|check| {
                check.command.contains(' ') || has_role(&check.command, Role::TestRunner)
            })
            .collect();
        plan.refused_checks
            .extend(unused.iter().map(|command| refused_check(None, command)));
        // A sentence names its command anywhere.
        for row in criteria {
            let new: Vec<TaskCheck> = read_row_checks(&row)
                .into_iter()
                .filter(|check| !plan.final_checks.contains(check))
                .collect();
            plan.final_checks.extend(new);
            plan.refused_checks
                .extend(
                    unused_commands(&row)
                        .into_iter()
                        .map(|(command, concern)| RefusedCheck {
                            task: None,
                            command,
                            concern,
                        }),
                );
        }
    }
    let mut heads: Vec<Range<usize>> = Vec::new();
    let mut ids: HashSet<String> = HashSet::new();
    let has_only_stops = elements.iter().all(task::is_stop);
    for (place, element) in elements.iter().enumerate() {
        let head = element.element.span.start..element.element.span.start;
        report_unclosed(document, element, plan);
        if !has_only_stops && task::is_stop(element) {
            add_stop(document, element, plan);
            continue;
        }
        let (mut task, unused) = task::read_task(document, element, place + 1, &mut ids);
        plan.refused_checks.extend(
            unused
                .iter()
                .map(|command| refused_check(Some(&task.id), command)),
        );
        task.deps = plan
            .tasks
            .last()
            .map(|before| before.id.clone())
            .into_iter()
            .collect();
        plan.tasks.push(task);
        heads.push(head);
    }
    report_task_problems(plan, &heads, |byte| document.line_number(byte));
}

/// Title such as `Phase 02-sync, plan 13`, from the front matter.
fn read_title(document: &MarkdownDocument<'_>) -> Option<String> {
    let phase = sanitize(document.front_matter_field("phase")?.value, 100);
    let plan = sanitize(document.front_matter_field("plan")?.value, 100);
    Some(format!("Phase {phase}, plan {plan}"))
}

fn add_stop(document: &MarkdownDocument<'_>, element: &TaskElement<'_>, plan: &mut Plan) {
    let text = verification::dedent(document.slice(element.element.inner.clone()));
    match plan.tasks.last_mut() {
        Some(Task {
            stop_after, extra, ..
        }) => {
            *stop_after = true;
            let all = extra.entry(CHECKPOINT.to_owned()).or_default();
            if !all.is_empty() {
                all.push_str("\n\n");
            }
            all.push_str(&text);
        }
        None => plan.preconditions.push(Precondition::EntryCondition {
            text,
            checks: Vec::new(),
        }),
    }
}

fn report_unclosed(document: &MarkdownDocument<'_>, task: &TaskElement<'_>, plan: &mut Plan) {
    let all = std::iter::once(&task.element).chain(&task.fields);
    for element in all.filter(|element| !element.is_closed) {
        let text = format!(
            "`<{}>` has no end tag of its own: it is read up to the next element",
            element.name
        );
        let span = element.span.start..element.span.start;
        plan.diagnostics.push(span_diagnostic(
            document,
            Code::UnclosedElement,
            span,
            text,
            None,
        ));
    }
}

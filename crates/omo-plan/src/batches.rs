//! Batches of a plan's tasks, with the stops between them at which a person is asked.
//!
//! A needed task comes first, else the file's order counts; tests and their implementation are one
//! unit. A stop follows the first batch, and each with a hub (a task that many need) or a marked
//! task.

mod depends_on;
mod document_form;
mod heading_form;
mod task_order;
mod task_outline;

use serde::{Serialize, Serializer};

use crate::diagnostic::{Code, Diagnostic, has_errors};
use crate::document::MarkdownDocument;
use crate::model::{MAX_PLAN_BYTES, MAX_PLAN_TASKS};
use task_order::Unit;

pub(crate) use document_form::find_form;
pub use heading_form::HeadingForm;
pub use task_outline::{TaskHeading, TaskOutline};
pub(crate) use task_outline::{has_tasks, span_diagnostic, task_diagnostic};

pub const DEFAULT_HUB_DEPENDENTS: usize = 3;
pub const DEFAULT_BATCH_SIZE: usize = 5;

/// Batches of a plan, printed as they are; ids are the plan's own text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanBatches<'a> {
    /// Maximum tasks of a batch; `0` counts as `1`, where a pair has a batch to itself.
    pub batch_size: usize,
    pub total: usize,
    /// Task ids in the order of a run; empty for a plan with a duplicate id or a cycle.
    pub batches: Vec<Vec<&'a str>>,
    /// Direct dependents of each task, in the order of the file.
    #[serde(serialize_with = "as_map")]
    pub dependents: Vec<(&'a str, usize)>,
    /// Indices of batches with a stop behind them.
    pub hard_stops: Vec<usize>,
    pub tasks: Vec<TaskDependencies<'a>>,
    /// Number of direct dependents that makes a task a hub.
    pub k: usize,
    /// Problems; no batch is run with a [`Severity::Error`](crate::diagnostic::Severity::Error).
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskDependencies<'a> {
    pub id: &'a str,
    /// Needed tasks, each once, in the order of their mention.
    pub depends_on: Vec<&'a str>,
}

impl PlanBatches<'_> {
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

fn as_map<S: Serializer>(pairs: &[(&str, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(id, count)| (id, count)))
}

pub(crate) fn read_outline<'a>(
    document: &MarkdownDocument<'a>,
    form: HeadingForm,
) -> TaskOutline<'a> {
    let mut outline = TaskOutline::read_tasks(document, form);
    depends_on::read_dependencies(document, &mut outline);
    outline
}

/// Batches of the plan in `bytes`; none for an unreadable file, with a diagnostic.
pub fn compute_batches(bytes: &[u8], k: usize, batch_size: usize) -> PlanBatches<'_> {
    match decode_plan_text(bytes) {
        Ok(text) => {
            let outline = read_outline(&MarkdownDocument::read(text), HeadingForm::Exact);
            batch_outline(&outline, k, batch_size)
        }
        Err(diagnostic) => empty_batches(k, batch_size, vec![diagnostic]),
    }
}

pub(crate) fn decode_plan_text(bytes: &[u8]) -> Result<&str, Diagnostic> {
    if bytes.len() as u64 > MAX_PLAN_BYTES {
        let text = format!(
            "the plan has {} bytes, and may have {MAX_PLAN_BYTES}",
            bytes.len()
        );
        return Err(undecodable(bytes, Code::TooLarge, 0, text));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let text = format!("byte {} is not UTF-8", error.valid_up_to());
        undecodable(bytes, Code::NotUtf8, error.valid_up_to(), text)
    })
}

fn undecodable(bytes: &[u8], code: Code, at: usize, text: String) -> Diagnostic {
    let line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    Diagnostic {
        code,
        severity: code.severity(),
        span: at..at,
        line,
        task: None,
        text,
        help: None,
    }
}

pub(crate) fn batch_outline<'a>(
    outline: &TaskOutline<'a>,
    k: usize,
    batch_size: usize,
) -> PlanBatches<'a> {
    let tasks = &outline.tasks;
    let mut found = empty_batches(k, batch_size, outline.diagnostics.clone());
    found.total = tasks.len();
    if tasks.len() > MAX_PLAN_TASKS {
        let text = format!(
            "the plan has {} tasks, and a run can have {MAX_PLAN_TASKS}",
            tasks.len()
        );
        found.diagnostics.push(task_outline::task_diagnostic(
            tasks.get(MAX_PLAN_TASKS),
            Code::TooManyTasks,
            text,
        ));
    }
    let has_double = found
        .diagnostics
        .iter()
        .any(|found| found.code == Code::DuplicateId);
    if let Some(units) = if has_double {
        None
    } else {
        task_order::order_tasks(outline, &mut found.diagnostics)
    } {
        fill_batches(&mut found, tasks, &units);
    }
    found
        .diagnostics
        .sort_by_key(|found| (found.span.start, found.code));
    found
}

fn empty_batches<'a>(k: usize, batch_size: usize, diagnostics: Vec<Diagnostic>) -> PlanBatches<'a> {
    PlanBatches {
        batch_size,
        total: 0,
        batches: Vec::new(),
        dependents: Vec::new(),
        hard_stops: Vec::new(),
        tasks: Vec::new(),
        k,
        diagnostics,
    }
}

fn fill_batches<'a>(found: &mut PlanBatches<'a>, tasks: &[TaskHeading<'a>], units: &[Unit]) {
    let mut dependents = vec![0_usize; tasks.len()];
    for place in tasks.iter().flat_map(|task| &task.depends_on) {
        if let Some(count) = dependents.get_mut(*place) {
            *count += 1;
        }
    }
    let mut places = Vec::with_capacity(found.batch_size.min(tasks.len()));
    let mut units = units.iter().copied().peekable();
    while let Some(first) = units.next() {
        places.clear();
        places.extend(first.positions());
        // A unit that does not fit begins the next batch.
        while let Some(unit) = units.next_if(|unit| places.len() + unit.len() <= found.batch_size) {
            places.extend(unit.positions());
        }
        let is_stop = found.batches.is_empty()
            || places.iter().any(|place| {
                tasks.get(*place).is_some_and(|task| task.is_marked)
                    || dependents
                        .get(*place)
                        .is_some_and(|count| *count >= found.k)
            });
        if is_stop {
            found.hard_stops.push(found.batches.len());
        }
        found.batches.push(
            places
                .iter()
                .filter_map(|place| tasks.get(*place))
                .map(|task| task.id)
                .collect(),
        );
    }
    found.tasks = tasks
        .iter()
        .map(|task| TaskDependencies {
            id: task.id,
            depends_on: task
                .depends_on
                .iter()
                .filter_map(|place| tasks.get(*place).map(|task| task.id))
                .collect(),
        })
        .collect();
    found.dependents = tasks.iter().map(|task| task.id).zip(dependents).collect();
}

/// Batches with open tasks up to the first hard stop; `None` where every task has ended.
pub fn next_batches<'a>(
    batches: &'a [Vec<String>],
    hard_stops: &[usize],
    is_ended: impl Fn(&str) -> bool,
) -> Option<Vec<Vec<&'a str>>> {
    let mut segment = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        let left: Vec<&str> = batch
            .iter()
            .map(String::as_str)
            .filter(|id| !is_ended(id))
            .collect();
        if left.is_empty() {
            continue;
        }
        segment.push(left);
        if hard_stops.contains(&index) {
            break;
        }
    }
    (!segment.is_empty()).then_some(segment)
}

//! JSON arguments for the client's `Workflow` tool: the next tasks of a run, short enough for a
//! model to type out.

use omo_core::plan_models::SESSION_MODEL;
use omo_engine::next_batches::next_batches;
use omo_engine::report::dev_workflow::CHECKPOINT_PATH;
use omo_engine::state::{RunState, TaskStanding};
use omo_engine::worker_model::choose_model;
use serde::Serialize;

/// Maximum bytes of the arguments, unless the first task alone is longer.
const MAX_BYTES: usize = 1_200;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct WorkflowArguments {
    run: String,
    plan_file: String,
    project_root: String,
    checkpoint_file: &'static str,
    tasks: Vec<WorkflowTask>,
    batches: Vec<Vec<String>>,
    failed_or_blocked: Vec<String>,
    model: String,
}

#[derive(Clone, Debug, Serialize)]
struct WorkflowTask {
    id: String,
    depends_on: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct WorkflowBatch {
    pub arguments: WorkflowArguments,
}

impl WorkflowBatch {
    pub(crate) fn task_ids(&self) -> Vec<&str> {
        self.arguments
            .batches
            .iter()
            .flatten()
            .map(String::as_str)
            .collect()
    }

    /// Whole batches up to the next stop while the arguments are short, else a part of the first one.
    pub(crate) fn from_state(run: &str, state: &RunState) -> Self {
        let ready_batches = next_batches(state);
        let mut out = Self {
            arguments: workflow_arguments(run, state, &[]),
        };
        for batch in &ready_batches {
            let mut batches = out.arguments.batches.clone();
            batches.push(batch.iter().map(|id| (*id).to_owned()).collect());
            let longer = workflow_arguments(run, state, &batches);
            if is_short(&longer) {
                out.arguments = longer;
            } else if out.arguments.batches.is_empty() {
                return Self {
                    arguments: cut_batch(run, state, batch),
                };
            } else {
                break;
            }
        }
        out
    }
}

fn cut_batch(run: &str, state: &RunState, batch: &[&str]) -> WorkflowArguments {
    let most = (2..=batch.len())
        .take_while(|count| is_short(&first_tasks(run, state, batch, *count)))
        .last();
    first_tasks(run, state, batch, most.unwrap_or(1))
}

fn first_tasks(run: &str, state: &RunState, batch: &[&str], count: usize) -> WorkflowArguments {
    let ids: Vec<String> = batch
        .iter()
        .take(count)
        .map(|id| (*id).to_owned())
        .collect();
    workflow_arguments(run, state, &[ids])
}

fn is_short(arguments: &WorkflowArguments) -> bool {
    serde_json::to_string(arguments).is_ok_and(|text| text.len() <= MAX_BYTES)
}

fn workflow_arguments(run: &str, state: &RunState, batches: &[Vec<String>]) -> WorkflowArguments {
    let first = state.plan.tasks.iter().find(|task| !task.is_verification());
    let model = first
        .and_then(|task| choose_model(&state.plan, task, 1))
        .unwrap_or(SESSION_MODEL)
        .to_owned();
    let planned = batches
        .iter()
        .flatten()
        .filter_map(|id| state.plan.task(id));
    let tasks: Vec<WorkflowTask> = planned
        .map(|task| WorkflowTask {
            id: task.id.clone(),
            depends_on: task.deps.clone(),
        })
        .collect();
    let mut failed_or_blocked: Vec<String> = tasks
        .iter()
        .flat_map(|task| &task.depends_on)
        .filter(|id| {
            state
                .standing(id)
                .is_some_and(|standing| has_failed(state, id, &standing))
        })
        .cloned()
        .collect();
    failed_or_blocked.sort();
    failed_or_blocked.dedup();
    WorkflowArguments {
        run: run.to_owned(),
        plan_file: state.plan.source.path.clone(),
        project_root: state.root.clone(),
        checkpoint_file: CHECKPOINT_PATH,
        tasks,
        batches: batches.to_vec(),
        failed_or_blocked,
        model,
    }
}

fn has_failed(state: &RunState, id: &str, standing: &TaskStanding) -> bool {
    standing.is_ended() && !state.unblocks_dependents(id)
}

//! `.claude/execute-plan-checkpoint.json`: the ended tasks, each with its status.

use std::num::NonZeroU32;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::report::dev_workflow::{EndedTask, ended_tasks, run_status};
use crate::state::RunState;

#[derive(Debug, Serialize)]
struct Checkpoint<'a> {
    plan_file: &'a str,
    total: usize,
    batch_size: u32,
    #[serde(rename = "k")]
    hub_dependents: u32,
    hard_stops: Vec<usize>,
    #[serde(serialize_with = "by_id")]
    completed: Vec<EndedTask>,
    status: &'static str,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    status: &'static str,
    files_written: &'a [String],
    evidence: &'a str,
}

fn by_id<S: Serializer>(completed: &[EndedTask], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(completed.len()))?;
    for task in completed {
        let (status, files_written, evidence) =
            (task.status.word(), &*task.files_written, &*task.evidence);
        map.serialize_entry(
            &task.id,
            &Entry {
                status,
                files_written,
                evidence,
            },
        )?;
    }
    map.end()
}

pub fn render(state: &RunState) -> String {
    let (plan, policy) = (&state.plan, &state.plan.policy);
    let stops = plan
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.hard_stop)
        .map(|(place, _)| place);
    let checkpoint = Checkpoint {
        plan_file: &plan.source.path,
        total: plan.tasks.len(),
        batch_size: policy.batch_size,
        hub_dependents: policy.hub_dependents,
        hard_stops: stops.collect(),
        completed: ended_tasks(state),
        status: run_status(state, "in_progress"),
    };
    let mut text = serde_json::to_string_pretty(&checkpoint).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Debug, Deserialize)]
pub struct ForeignCheckpoint {
    #[serde(default)]
    pub plan_file: String,
    /// Number of direct dependents that makes a task a hub.
    #[serde(default = "default_k")]
    pub k: NonZeroU32,
    #[serde(default = "default_batch_size")]
    pub batch_size: NonZeroU32,
}

impl ForeignCheckpoint {
    /// Values with which a run is opened; a text that is no JSON object, or a value out of range, is an error.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        // The struct would also accept a list, as its fields in order.
        let object: serde_json::Map<_, _> = serde_json::from_str(text)?;
        serde_json::from_value(object.into())
    }
}

const fn default_k() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

const fn default_batch_size() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(4)
}

//! Runs of task sessions: the files that such a session has, made from the ledger, and what people and
//! workers read.

pub mod files;
pub mod render;
pub mod report;

use std::path::Path;

use omo_plan::model::Dialect;
use omo_plan::run::state::RunState;

/// Whether a run is one of a task session.
pub fn is_task_list(state: &RunState) -> bool {
    state.plan.dialect == Dialect::TasksJson
}

/// The session that a run is of, which is the name of its folder.
pub fn task_list_id(state: &RunState) -> &str {
    let name = Path::new(&state.plan.source.path).file_name().and_then(|name| name.to_str());
    name.unwrap_or(&state.plan.source.path)
}

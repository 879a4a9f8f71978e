//! What people and workers read of a task session's run.

use omo_plan::model::Unit;
use omo_plan::run::state::RunState;

/// Before the first wave.
pub fn start_screen(state: &RunState) -> String {
    format!("## Starting Execution\n\n**Goal:** {}", state.plan.goal)
}

/// Which time the tasks are gone over.
pub fn iteration_line(state: &RunState) -> String {
    format!("## Iteration {}/{}", state.iteration, state.plan.policy.max_iterations)
}

/// What is gone over again.
pub fn retry_lines(state: &RunState) -> String {
    format!("## Verification Failed - Retrying ({}/{})", state.iteration, state.plan.policy.max_iterations)
}

/// Between the waves.
pub fn progress(state: &RunState) -> String {
    format!("## Progress Update\n\n{:?}", state.counts())
}

/// At the end.
pub fn finished(state: &RunState) -> String {
    format!("## Execution over\n\n{:?}", state.phase)
}

/// As [`finished`], short enough for a block.
pub fn finished_block(state: &RunState) -> String {
    finished(state)
}

/// What a worker has to know.
pub fn brief(_state: &RunState, unit: &Unit) -> String {
    unit.body.clone()
}

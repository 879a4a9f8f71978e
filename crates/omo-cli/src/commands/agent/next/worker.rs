//! What comes next for a parallel worker, which has no user.

use omo_engine::parallel_schedule::next_task_of;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::verbs;
use omo_plan::model::TaskGroup;
use omo_state::env::WorkerIdentity;

use crate::blocks::work_inline;
use crate::error::CommandError;
use crate::output::print_block;

/// Prints it.
pub(crate) fn next_for_worker(own: &WorkerIdentity, state: &RunState) -> Result<(), CommandError> {
    let group = state.plan.groups.iter().find(|group| group.id == own.worker);
    print_block(
        &group.map_or_else(|| finished_block("this run has no such worker"), |group| worker_block(own, group, state)),
    )
}

fn worker_block(own: &WorkerIdentity, group: &TaskGroup, state: &RunState) -> String {
    if state.phase != RunPhase::Executing || state.is_stopped {
        return finished_block("the run was ended");
    }
    if let Some((id, _)) = verbs::running_task_in(state, group) {
        let word = state.plan.dialect.unit_word();
        return format!(
            "DO\n  {word} {id} is yours, and not finished: `omo agent brief {id}` shows it once more. End it with the \
             `omo agent done` line that you were given.\n  If you have lost its ticket:\n  run: omo agent fail --lost {id}"
        );
    }
    match next_task_of(state, group) {
        Some(task) => work_inline(&own.run, task, state),
        None => finished_block("nothing is left for you to do here"),
    }
}

fn finished_block(why: &str) -> String {
    format!("FINISHED\n  {why}. End your turn now.")
}

//! The next step of a parallel worker, printed as a block; the worker has no user to ask.

use omo_engine::Run;
use omo_engine::parallel_schedule::next_task_of;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::verbs;
use omo_state::env::WorkerIdentity;

use crate::blocks::work_inline;
use crate::commands::agent::start::{FollowingTasks, begin_task};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output::print_block;

pub(super) fn next_for_worker(
    context: &CommandContext,
    identity: &WorkerIdentity,
    run: &Run,
    state: &RunState,
) -> Result<(), CommandError> {
    let Some(group) = state
        .plan
        .groups
        .iter()
        .find(|group| group.id == identity.worker)
    else {
        return print_block(&finished_block("this run has no such worker"));
    };
    if state.phase != RunPhase::Executing || state.is_stopped {
        return print_block(&finished_block("the run was ended"));
    }
    if let Some((id, _)) = verbs::running_task_in(state, group) {
        let word = state.plan.dialect.unit_word();
        return print_block(&format!(
            "DO\n  {word} {id} is yours, and not finished: `omo agent brief {id}` shows it once more. End it with the \
             `omo agent done` line that you were given.\n  If you have lost its ticket:\n  run: omo agent fail --lost {id}"
        ));
    }
    match next_task_of(state, group) {
        Some(task) if context.env.worker.is_some() => print_block(&format!(
            "TASK\n{}",
            begin_task(context, run, state, &task.id, FollowingTasks::Any)?
        )),
        Some(task) => print_block(&work_inline(&identity.run, task, state)),
        None => print_block(&finished_block("nothing is left for you to do here")),
    }
}

fn finished_block(why: &str) -> String {
    format!("FINISHED\n  {why}. End your turn now.")
}

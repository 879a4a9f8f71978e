//! Choice of the next task for a worker that has just ended one. No new prompt is needed then, but
//! the worker's context grows.

use omo_plan::model::Task;

use crate::execution_mode::ExecutionMode;
use crate::schedule::{self, NextAction};
use crate::state::{RunState, TaskStanding, TaskStatus};
use crate::worker_model::choose_model;

/// Maximum tasks of one worker of the session: a batch of the usual size.
pub const TASKS_PER_WORKER: u32 = 5;

/// The task that the worker of `ended` goes on with: the only one that can begin, for the same kind
/// and model. `None` after a failure: another worker has no refused work in its context.
pub fn next_task_of_worker<'a>(
    state: &'a RunState,
    ended: &str,
    dispatched: &[String],
) -> Option<&'a Task> {
    let is_by_agents = matches!(state.mode, ExecutionMode::Batches | ExecutionMode::Waves);
    let has_succeeded = matches!(
        state.standing(ended),
        Some(TaskStanding::Is(TaskStatus::Passed | TaskStatus::Claimed))
    );
    if !is_by_agents || !has_succeeded {
        return None;
    }
    let attempts = |id: &str| state.tasks.get(id).map_or(0, |known| known.attempts);
    let ended = state.plan.task(ended)?;
    let model = choose_model(&state.plan, ended, attempts(&ended.id));
    let NextAction::Start(ready) = schedule::next_action(state) else {
        return None;
    };
    let mut free = ready
        .into_iter()
        .filter(|task| !dispatched.contains(&task.id));
    // Of several the session starts one worker each, at the same time.
    let (Some(task), None) = (free.next(), free.next()) else {
        return None;
    };
    (!task.is_verification() && choose_model(&state.plan, task, attempts(&task.id) + 1) == model)
        .then_some(task)
}

//! Pure rules about the commits of a session's passed steps.

use omo_plan::model::TaskGroup;

use crate::standing::is_work_done;
use crate::state::{RunState, TaskStatus};

/// Commit of the step that passed last, which may be a redone earlier one; `base` before any has passed.
pub(crate) fn last_passed_commit<'s>(
    state: &'s RunState,
    group: &TaskGroup,
    base: &'s str,
) -> &'s str {
    // Of steps with equal times the last one counts.
    group
        .tasks
        .iter()
        .filter_map(|id| {
            let task_state = state
                .tasks
                .get(id)
                .filter(|task| is_done(state, task.status))?;
            Some((
                task_state.updated_at,
                task_state.last_end.as_ref()?.commit.as_deref()?,
            ))
        })
        .max_by_key(|(at, _)| *at)
        .map_or(base, |(_, commit)| commit)
}

pub(crate) fn is_done(state: &RunState, status: TaskStatus) -> bool {
    is_work_done(&state.plan.policy, status)
}

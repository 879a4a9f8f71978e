//! Messages of the commits of tasks.

use omo_core::text::sanitize;
use omo_plan::model::Task;

use crate::report::ultraplan;
use crate::state::RunState;

/// The message in the plan, or one by omo for parallel workers; `None` for a task without commit.
pub(crate) fn commit_message(state: &RunState, task: &Task) -> Option<String> {
    let planned = task.commit.as_ref().map(|commit| commit.message.clone());
    planned.or_else(|| {
        state.parallel.is_some().then(|| {
            let (title, word) = (sanitize(&task.title, 120), state.plan.dialect.unit_word());
            format!(
                "omo: {word} {} of {}: {title}",
                task.id,
                ultraplan::file_name(&state.plan.source.path)
            )
        })
    })
}

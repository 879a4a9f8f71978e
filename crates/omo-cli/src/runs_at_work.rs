//! Plan runs that go on without their session, as workers are at work on them.

use omo_core::messages::plan::run_answer::AtWork;
use omo_core::text::{format_age, sanitize};
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{ListedRun, RunStore};
use omo_state::env;

use crate::error::CommandError;

pub(crate) fn runs_at_work(
    runs: &RunStore,
    matches_run: impl Fn(&RunState) -> bool,
) -> Result<Vec<(String, AtWork)>, CommandError> {
    let mut found = Vec::new();
    for ListedRun { id, state } in runs.list()? {
        let Some(state) = state
            .ok()
            .filter(|state| matches_run(state) && state.phase == RunPhase::Executing)
        else {
            continue;
        };
        let clients = state
            .parallel
            .iter()
            .flat_map(|parallel| parallel.groups.values());
        let attempts = state.running_attempts();
        let tasks: Vec<String> = attempts
            .map(|(id, running)| {
                let title = state.plan.task(id).map_or("", |task| &task.title);
                format!(
                    "{id} ({}, for {})",
                    sanitize(title, 60),
                    format_age(Some(running.since), env::now())
                )
            })
            .collect();
        if runs.get(&id)?.is_supervised()? {
            found.push((
                id,
                AtWork::Parallel(
                    clients
                        .filter(|group| group.status == GroupStatus::Running)
                        .count(),
                ),
            ));
        } else if state.parallel.is_none() && !tasks.is_empty() {
            found.push((id, AtWork::Tasks(tasks)));
        }
    }
    Ok(found)
}

//! [`RunView`] of a plan run, built from its ledger, its files and its processes.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::event::RunEvent;
use omo_engine::state::RunState;
use omo_engine::view::{FoundFacts, RunFacts, run_view};
use omo_engine::work::{find_edit, is_alive, read_checkout};
use omo_git::integrate::has_unsettled_landing;
use omo_git::repository::GitRepository;
use omo_state::env::ProcessEnv;
use omo_view::run_view::RunView;
use omo_view::text::ReaderContext;

use crate::error::CommandError;
use crate::local_time::LocalClock;
use crate::output::stdout_columns;

pub(crate) fn plan_run_view(
    env: &ProcessEnv,
    run: &Run,
    state: &RunState,
    events: &[RunEvent],
    differences: BTreeMap<String, String>,
    clock: &dyn Fn(Timestamp) -> String,
) -> RunView {
    let found = FoundFacts {
        differences,
        checkout: read_checkout(state),
        ended_workers: ended_workers(run, state),
        // A failed look-up hides nothing of the run.
        torn_writes: run.count_torn_writes().unwrap_or_default(),
        edit: edit_words(state),
        is_landing_cut: is_landing_cut(run, state),
        ..FoundFacts::default()
    };
    run_view(&RunFacts {
        run: run.id(),
        state,
        events,
        now: env.now,
        clock,
        found,
    })
}

pub(crate) fn plan_run_text(
    env: &ProcessEnv,
    run: &Run,
    state: &RunState,
    render: impl FnOnce(&RunView, ReaderContext<'_>) -> String,
) -> Result<String, CommandError> {
    let clock = LocalClock::from_process(env.now);
    let view = plan_run_view(env, run, state, &run.events()?, BTreeMap::new(), &|at| {
        clock.describe(at)
    });
    Ok(render(
        &view,
        ReaderContext {
            now: env.now,
            clock: &|at| clock.describe(at),
            columns: stdout_columns(),
        },
    ))
}

/// Processes still at work on ended tasks, by task.
pub(crate) fn ended_workers(run: &Run, state: &RunState) -> BTreeMap<String, &'static str> {
    let ended = state.running_attempts().filter_map(|(id, running)| {
        let group = state.plan.group_of(id).map(|(_, group)| group);
        let by_client = state
            .parallel
            .as_ref()
            .zip(group)
            .is_some_and(|(parallel, group)| parallel.groups.contains_key(&group.id));
        let words = if by_client {
            let is_gone = run
                .is_supervised()
                .is_ok_and(|is_supervised| !is_supervised);
            is_gone.then_some("its supervisor has ended")
        } else {
            let is_gone = running.by.process.as_ref().and_then(is_alive) == Some(false);
            is_gone.then_some("its client has ended")
        };
        Some((id.to_owned(), words?))
    });
    ended.collect()
}

fn edit_words(state: &RunState) -> Option<String> {
    match find_edit(Path::new(&state.root), state) {
        Ok(edit) => edit.map(|edit| {
            format!("The plan was edited since: {edit}. `omo run resume` takes that in.")
        }),
        Err(error) => Some(format!(
            "The plan cannot be compared with what was read: {error}"
        )),
    }
}

fn is_landing_cut(run: &Run, state: &RunState) -> bool {
    state.parallel.is_some()
        && run
            .is_supervised()
            .is_ok_and(|is_supervised| !is_supervised)
        && GitRepository::find(Path::new(&state.root))
            .is_some_and(|found| has_unsettled_landing(&found))
}

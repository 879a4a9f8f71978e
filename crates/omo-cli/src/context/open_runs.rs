//! Open runs: found by their id, listed, and refused where one is open already.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::work::moved_run;
use omo_engine::{Run, RunStore, RunStoreError};
use omo_state::env::ProcessEnv;

use crate::blocks::parts;
use crate::error::CommandError;
use crate::id_prefix::{IdMatch, ambiguous_id, match_id};

pub(super) fn no_open_run() -> CommandError {
    CommandError::not_found(
        "no plan run is open here",
        "`omo run start FILE` opens one; in Claude Code /omo:execute FILE",
    )
}

pub(super) fn unreadable_run(id: &str, error: RunStoreError) -> CommandError {
    let id = sanitize(id, 60);
    if matches!(
        error,
        RunStoreError::Line { .. } | RunStoreError::Ledger { .. }
    ) {
        let message = format!(
            "the log of the run {id} was changed, and nothing that it says can be shown: {error}"
        );
        let hint = "`omo run start FILE` opens a new run of the plan; what is in your files stays";
        return CommandError::io(message, hint);
    }
    CommandError::from(error)
}

pub(super) fn find_named_run(runs: &RunStore, typed: &str) -> Result<Run, CommandError> {
    match runs.get(typed) {
        Err(RunStoreError::NotFound(_)) => {}
        found => return Ok(found?),
    }
    let run_ids = runs.ids()?;
    match match_id(typed, run_ids.iter().map(String::as_str)) {
        IdMatch::One(id) => Ok(runs.get(id)?),
        IdMatch::None => Err(RunStoreError::NotFound(typed.to_owned()).into()),
        IdMatch::Several(ids) => Err(ambiguous_id(typed, "runs", "--run", &ids)),
    }
}

pub(crate) fn another_run_is_open(id: &str, state: &RunState) -> CommandError {
    let message = format!(
        "the run {id} of {} is open here, and one worktree has one run",
        parts::run_subject(state)
    );
    CommandError::busy(
        message,
        format!("let it finish, or end it: `omo run cancel --run {id}`"),
    )
}

/// Open runs of a work tree, newest first.
pub(crate) fn open_runs(
    root: &Path,
    env: &ProcessEnv,
) -> Result<Vec<(Run, RunState)>, CommandError> {
    let Some(runs) = RunStore::find(root, env.state_home.as_deref())? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for listed in runs.list()? {
        if let Some(state) = listed
            .state
            .ok()
            .filter(|state| Path::new(&state.root) == root && state.phase == RunPhase::Executing)
        {
            found.push((runs.get(&listed.id)?, state));
        }
    }
    Ok(found)
}

/// Sessions of two runs in one repository would move the same branch, and remove each other's work trees.
pub(crate) fn require_only_parallel_run(
    runs: &RunStore,
    own: Option<&str>,
) -> Result<(), CommandError> {
    for listed in runs.list()? {
        let Ok(state) = listed.state else { continue };
        if state.parallel.is_some()
            && state.phase == RunPhase::Executing
            && own != Some(listed.id.as_str())
        {
            let message = format!(
                "the run {} of {} has parallel workers in this repository, and one repository has one such run",
                listed.id,
                parts::run_subject(&state)
            );
            let hint = format!(
                "let it finish, or end it in {}: `omo run cancel --run {}`; or use --fg",
                state.root, listed.id
            );
            return Err(CommandError::busy(message, hint));
        }
    }
    Ok(())
}

pub(super) fn way_out_of_gone(id: &str) -> String {
    format!("it goes on where that was moved to, and `omo run cancel --run {id}` ends it")
}

pub(super) fn open_elsewhere(runs: &[(String, RunState)]) -> CommandError {
    let lines: Vec<String> = runs
        .iter()
        .map(|(id, state)| {
            let moved_words = if moved_run::is_gone(state) {
                format!(", which is gone: {}", way_out_of_gone(id))
            } else {
                String::new()
            };
            format!(
                "  --run {id}   {} in {}{moved_words}",
                parts::run_subject(state),
                sanitize(&state.root, 300)
            )
        })
        .collect();
    let hint = format!(
        "it is open in another worktree of the repository; name it:\n{}",
        lines.join("\n")
    );
    CommandError::not_found("no plan run is open here", hint)
}

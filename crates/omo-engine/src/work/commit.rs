//! Committing what a step has changed, where its plan says so or its work would be lost.

use std::time::Duration;

use omo_core::text::sanitize;
use omo_git::commit::{CommitEnd, CommitRequest, commit_paths};
use omo_plan::model::Task;

use super::{CommandWatcher, Engine, EngineError};
use crate::report::ultraplan;
use crate::state::RunState;
use crate::verbs::CommitOutcome;
use crate::work::attempt::WorkResult;

/// How long git and the hooks of its user may take.
const LIMIT: Duration = Duration::from_secs(600);

impl Engine<'_> {
    /// Commits exactly what a step has changed of what it names; `None` where there is nothing to commit.
    pub(super) fn commit_task(
        &self,
        state: &RunState,
        task: &Task,
        worked: &WorkResult,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Option<CommitOutcome>, EngineError> {
        let Some(message) = commit_message(state, task) else { return Ok(None) };
        if !worked.is_known {
            let why = "what it has changed cannot be told".to_owned();
            return Ok(Some(CommitOutcome::Refused { why }));
        }
        let own = worked.files.iter().filter(|file| !worked.out_of_scope.contains(file));
        let paths: Vec<&str> = own.map(String::as_str).collect();
        let trailers = [("Omo-Run", self.run.id()), ("Omo-Task", task.id.as_str())];
        let (worktree, state_home) = (&self.work_tree, self.state_home);
        let order =
            CommitRequest { worktree, state_home, paths: &paths, message: &message, trailers: &trailers, limit: LIMIT };
        let _alone = if state.mode.shares_tree() { Some(self.run.lock_commit(LIMIT)?) } else { None };
        let mut is_cut = false;
        let end = commit_paths(&order, self.environment, || {
            is_cut |= !watcher.should_continue();
            !is_cut
        });
        Ok(Some(match end {
            CommitEnd::Made { sha } | CommitEnd::AlreadyCommitted { sha } => CommitOutcome::Made { id: sha },
            CommitEnd::NoChange => CommitOutcome::Nothing,
            CommitEnd::Failed { .. } if is_cut => return Err(EngineError::Cancelled),
            CommitEnd::RefusedByHook { hook, output } => {
                CommitOutcome::Refused { why: refusal_text(&format!("hook {hook}"), &output) }
            }
            CommitEnd::Failed { why, output } => CommitOutcome::Refused { why: refusal_text(&why, &output) },
        }))
    }
}

/// What a step is committed with: as its plan says, or, where its work lies in a work tree that goes, with a
/// message of ours.
pub(crate) fn commit_message(state: &RunState, task: &Task) -> Option<String> {
    let ours = || {
        let (title, word) = (sanitize(&task.title, 120), state.plan.dialect.unit_word());
        format!("omo: {word} {} of {}: {title}", task.id, ultraplan::file_name(&state.plan.source.path))
    };
    let planned = task.commit.as_ref().map(|commit| commit.message.clone());
    planned.or_else(|| state.parallel.is_some().then(ours))
}

fn refusal_text(why: &str, output: &str) -> String {
    if output.trim().is_empty() { why.to_owned() } else { format!("{why}: {}", sanitize(output, 300)) }
}

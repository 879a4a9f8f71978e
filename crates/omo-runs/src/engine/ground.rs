//! The work tree of a step: kept before the first work on it, and put back where its plan says so.
//!
//! What is taken back is what differed when the last attempt was judged. That moment is kept too: what is changed
//! afterwards stays, and what is taken back could still be had.

use std::path::Path;
use std::time::Duration;

use omo_exec::changes;
use omo_exec::restore::{self, RestoreError, RestoreResult, RestoreScope, SnapshotContext, SnapshotId};
use omo_plan::model::Task;
use omo_plan::run::event::EventKind;
use omo_plan::run::state::{RunState, TaskState, WorktreeBaseline};
use omo_plan::run::verbs::{VerbRefusal, VerbRefusalKind};
use omo_store::git_worktree::GitWorktree;

use super::start::written;
use super::{Engine, EngineError};
use crate::dev_workflow::{CHECKPOINT, REPORT};
use crate::ultra;

/// How long a worker that wants to begin waits for another process that takes back what was before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Paths from the project's top that omo itself writes for a run.
pub(super) fn own_files(state: &RunState) -> Vec<String> {
    if ultra::is_one(state) {
        return vec![ultra::progress_path(state)];
    }
    [CHECKPOINT, REPORT].map(str::to_owned).into()
}

impl Engine<'_> {
    /// The work tree as it is before the first of the attempts at a unit that count.
    pub(super) fn ground(&self, state: &RunState, unit: &Task) -> Result<WorktreeBaseline, EngineError> {
        if let Some(known) = state.units.get(&unit.id).and_then(|known| known.ground.clone()) {
            return Ok(known);
        }
        let tree = changes::snapshot(self.tree, self.state_home, self.run.id()).as_ref().and_then(written);
        // Where there is no work tree nothing can be taken back, and nothing is where that is not asked for.
        let is_kept = ultra::is_one(state)
            && !state.mode.shares_tree()
            && (GitWorktree::find(self.tree).is_some() || unit.on_failure.takes_back());
        let kept = if is_kept { Some(self.kept(state)?) } else { None };
        Ok(WorktreeBaseline { tree, kept })
    }

    /// Keeps the work tree as it is.
    pub(super) fn kept(&self, state: &RunState) -> Result<String, EngineError> {
        let kept = self.in_place(state, restore::keep)?;
        serde_json::to_string(&kept).map_err(|error| EngineError::Runs(error.into()))
    }

    fn in_place<T>(
        &self,
        state: &RunState,
        act: impl FnOnce(&SnapshotContext<'_>) -> Result<T, RestoreError>,
    ) -> Result<T, EngineError> {
        let own = own_files(state);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let (root, state_home, run_id) = (self.tree, self.state_home, self.run.id());
        Ok(act(&SnapshotContext { root, state_home, run_id, own: &own })?)
    }

    /// Refuses where a unit is worked on in another work tree than this one: what is changed and checked here
    /// would say nothing about it.
    pub(super) fn in_its_tree(&self, state: &RunState, unit: &str) -> Result<(), EngineError> {
        if self.is_tree_of(state, unit) {
            return Ok(());
        }
        let message = format!("{} {unit} is worked on in the work tree of its session", state.plan.dialect.unit_word());
        let hint = "only the client that omo has started there works on it; `omo agent next` says how far it is";
        Err(EngineError::Refused(VerbRefusal { kind: VerbRefusalKind::Precondition, message, hint: hint.to_owned() }))
    }

    /// Whether a unit is worked on in this work tree.
    fn is_tree_of(&self, state: &RunState, unit: &str) -> bool {
        let Some(apart) = &state.apart else { return self.tree == self.root };
        let group = state.plan.group_of(unit).and_then(|(_, group)| apart.groups.get(&group.id));
        group.and_then(|group| group.worktree.as_ref()).is_some_and(|tree| Path::new(tree) == self.tree)
    }

    /// Takes back what attempts in this work tree have left and should not have: a kill may have come between.
    /// Where another process is at it this waits for that one.
    pub fn put_back(&self, state: RunState) -> Result<RunState, EngineError> {
        self.put_back_within(state, PATIENCE)
    }

    fn put_back_within(&self, state: RunState, patience: Duration) -> Result<RunState, EngineError> {
        let is_due = |(id, unit): &(&String, &TaskState)| unit.is_to_restore && self.is_tree_of(&state, id);
        let due: Vec<String> = state.units.iter().filter(is_due).map(|(id, _)| id.clone()).collect();
        let mut state = state;
        for id in due {
            // A process that judges the unit takes it back as well, and holds this lock.
            let _guard = self.run.lock_check(&id, patience)?.ok_or_else(|| being_put_back(&id))?;
            state = self.put_one_back(&id)?.1;
        }
        Ok(state)
    }

    /// As [`Engine::put_back`], for callers that only look: what cannot be taken back now causes a warning, and is
    /// taken back before anything else is begun.
    pub(super) fn mended(&self, state: RunState) -> Result<RunState, EngineError> {
        // Nearly always nothing is due. A plan may have a thousand units, and copying where they all stand takes time.
        if !state.units.values().any(|unit| unit.is_to_restore) {
            return Ok(state);
        }
        match self.put_back_within(state.clone(), Duration::ZERO) {
            // The process that holds the lock takes it back.
            Err(EngineError::Refused(_)) => Ok(state),
            Err(EngineError::Restore(error)) => {
                (self.warn)(&format!("what a step has left could not be taken back yet: {error}"));
                Ok(state)
            }
            mended => mended,
        }
    }

    /// Takes back what the attempts at one unit have left. The caller has the lock of its checks: no other process
    /// takes it back meanwhile, or begins with anything that follows it.
    pub(super) fn put_one_back(&self, id: &str) -> Result<(Option<EventKind>, RunState), EngineError> {
        let state = self.run.state()?;
        let Some(known) = state.units.get(id).filter(|known| known.is_to_restore) else { return Ok((None, state)) };
        let before = known.ground.as_ref().and_then(|ground| ground.kept.as_deref()).and_then(read);
        let after = known.end.as_ref().and_then(|end| end.kept.as_deref()).and_then(read);
        let after = after.map_or_else(|| self.in_place(&state, restore::keep), Ok);
        let restored = after.and_then(|after| {
            let before = before.ok_or_else(|| EngineError::Restore(RestoreError::Gone("what was kept".to_owned())))?;
            self.in_place(&state, |place| restore::restore(place, &before, RestoreScope::Until(&after)))
        });
        let left = match restored {
            Ok(restored) => left(restored),
            // It will be no different the next time.
            Err(EngineError::Restore(error @ (RestoreError::Gone(_) | RestoreError::NoWorkTree(_)))) => {
                vec![format!("nothing was put back: {error}")]
            }
            Err(error) => return Err(error),
        };
        let event = EventKind::UnitRestored { unit: id.to_owned(), left };
        let ((), state) = self.transact(|_| Ok((vec![event.clone()], ())))?;
        Ok((Some(event), state))
    }
}

/// What is not as it was before, each with why.
fn left(restored: RestoreResult) -> Vec<String> {
    let RestoreResult { others, uncovered, failed, head_moved, .. } = restored;
    let others = others.into_iter().map(|path| format!("{path}: it was changed again since"));
    let ignored = "git ignores it, or it belongs to a repository within the work tree";
    let uncovered = uncovered.into_iter().map(|path| format!("{path}: {ignored}"));
    let failed = failed.into_iter().map(|(path, why)| format!("{path}: {why}"));
    let commit = head_moved.then(|| "the commit that was made meanwhile is still checked out".to_owned());
    others.chain(uncovered).chain(failed).chain(commit).collect()
}

fn read(kept: &str) -> Option<SnapshotId> {
    serde_json::from_str(kept).ok()
}

fn being_put_back(id: &str) -> EngineError {
    EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Contention,
        message: format!("what step {id} has left is being taken back by another process"),
        hint: "run it again in a moment".to_owned(),
    })
}

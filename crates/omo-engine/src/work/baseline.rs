//! Snapshot of the work tree before a step, and its restore after a failed attempt where the plan says so. Later
//! changes stay, and in a shared tree all but the task's paths (`own_files`); a ref in `refs/omo/keep` saves the rest.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use omo_git::commit_preview::{differing_files, head_commit};
use omo_git::restore::{OwnProjectPaths, RestoreError, RestoreResult, RestoreScope, SnapshotId};
use omo_git::snapshots::Snapshots;
use omo_plan::model::Task;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use super::own_files::OwnFiles;
use super::start::tree_to_text;
use super::{Engine, EngineError};
use crate::event::EventKind;
use crate::program_files::ultraexecute_progress;
use crate::report::dev_workflow::{CHECKPOINT_PATH, REPORT_PATH};
use crate::state::{RunState, TaskState, WorktreeBaseline};

/// Maximum time that a worker waits for another process to restore the work tree.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn files_written_by_omo(state: &RunState) -> Vec<String> {
    if state.is_ultraplan() {
        return vec![ultraexecute_progress::progress_path(state)];
    }
    [CHECKPOINT_PATH, REPORT_PATH].map(str::to_owned).into()
}

impl Engine<'_> {
    pub(super) fn baseline(
        &self,
        state: &RunState,
        task: &Task,
    ) -> Result<WorktreeBaseline, EngineError> {
        if let Some(known) = state
            .tasks
            .get(&task.id)
            .and_then(|task| task.baseline.clone())
        {
            return Ok(known);
        }
        let tree = self.snapshots().take_tree().as_ref().and_then(tree_to_text);
        // Without git nothing can be restored: that is an error only where the plan asks for a restore.
        let is_kept = state.is_ultraplan()
            && !state.mode.shares_tree()
            && (self.work_tree.has_git() || task.on_failure.reverts_changes());
        let kept = if is_kept {
            Some(self.keep_work_tree(state)?)
        } else {
            None
        };
        let head = if is_kept {
            head_commit(&self.work_tree)
        } else {
            None
        };
        Ok(WorktreeBaseline {
            tree,
            snapshot: kept,
            head,
            since: None,
        })
    }

    pub(super) fn keep_work_tree(&self, state: &RunState) -> Result<String, EngineError> {
        let kept = self.with_snapshots(state, |snapshots| snapshots.take_bytes())?;
        serde_json::to_string(&kept).map_err(|error| EngineError::RunStore(error.into()))
    }

    pub(super) fn snapshots(&self) -> Snapshots<'_> {
        Snapshots {
            worktree: &self.work_tree,
            state_home: self.state_home,
            run_id: self.run.id(),
            own: &[],
        }
    }

    /// Result of `act` on snapshots that leave out the files that omo itself writes.
    pub(super) fn with_snapshots<T>(
        &self,
        state: &RunState,
        act: impl FnOnce(Snapshots<'_>) -> Result<T, RestoreError>,
    ) -> Result<T, EngineError> {
        let omo_files = files_written_by_omo(state);
        let omo_files: Vec<&str> = omo_files.iter().map(String::as_str).collect();
        Ok(act(Snapshots {
            own: &omo_files,
            ..self.snapshots()
        })?)
    }

    /// Refuses a task of another work tree: changes and checks here would say nothing about it.
    pub(super) fn require_own_tree(&self, state: &RunState, task: &str) -> Result<(), EngineError> {
        if self.is_tree_of(state, task) {
            return Ok(());
        }
        let message = format!(
            "{} {task} is worked on in the worktree of its session",
            state.plan.dialect.unit_word()
        );
        let hint = "only the client that omo has started there works on it; `omo agent next` says how far it is";
        Err(EngineError::Refused(VerbRefusal {
            kind: VerbRefusalKind::Precondition,
            message,
            hint: hint.to_owned(),
        }))
    }

    fn is_tree_of(&self, state: &RunState, task: &str) -> bool {
        let Some(parallel) = &state.parallel else {
            return self.work_tree.root() == self.root;
        };
        let group = state
            .plan
            .group_of(task)
            .and_then(|(_, group)| parallel.groups.get(&group.id));
        group
            .and_then(|group| group.worktree.as_ref())
            .is_some_and(|tree| Path::new(tree) == self.work_tree.root())
    }

    /// Restores after attempts whose process was killed before it did; waits for another process that does so.
    pub(crate) fn restore_due_tasks(&self, state: RunState) -> Result<RunState, EngineError> {
        self.restore_due_tasks_within(state, RESTORE_TIMEOUT)
    }

    fn restore_due_tasks_within(
        &self,
        state: RunState,
        patience: Duration,
    ) -> Result<RunState, EngineError> {
        let due: Vec<String> = state
            .tasks
            .iter()
            .filter(|(id, task)| task.is_to_restore && self.is_tree_of(&state, id))
            .map(|(id, _)| id.clone())
            .collect();
        let mut state = state;
        for id in due {
            // A process that judges the task holds this lock, and does the restore itself.
            let _guard = self
                .run
                .lock_check(&id, patience)?
                .ok_or_else(|| restored_elsewhere(&id))?;
            state = self.restore_task(&id)?.1;
        }
        Ok(state)
    }

    /// [`Engine::restore_due_tasks`] for callers that only read: a failure is a warning, retried before the next start.
    pub(super) fn restored_if_possible(&self, state: RunState) -> Result<RunState, EngineError> {
        // Nearly always nothing is due, and a copy of the state of a thousand tasks takes time.
        if !state.tasks.values().any(|task| task.is_to_restore) {
            return Ok(state);
        }
        match self.restore_due_tasks_within(state.clone(), Duration::ZERO) {
            // The process that holds the lock does the restore.
            Err(EngineError::Refused(_)) => Ok(state),
            Err(EngineError::Restore(error)) => {
                (self.warn)(&format!(
                    "what a step has left could not be taken back yet: {error}"
                ));
                Ok(state)
            }
            mended => mended,
        }
    }

    /// Restores a task whose check lock the caller holds: no other process restores it or begins the next task.
    pub(super) fn restore_task(
        &self,
        id: &str,
    ) -> Result<(Option<EventKind>, RunState), EngineError> {
        let state = self.run.state()?;
        let Some(task_state) = state.tasks.get(id).filter(|task| task.is_to_restore) else {
            return Ok((None, state));
        };
        let before = task_state
            .baseline
            .as_ref()
            .and_then(|ground| ground.snapshot.as_deref())
            .and_then(parse_kept);
        let after = task_state
            .last_end
            .as_ref()
            .and_then(|end| end.snapshot.as_deref())
            .and_then(parse_kept);
        let after = after.map_or_else(
            || self.with_snapshots(&state, |snapshots| snapshots.take_bytes()),
            Ok,
        );
        let taken_back = after.and_then(|after| {
            let before = before.ok_or_else(|| {
                EngineError::Restore(RestoreError::SnapshotGone("what was kept".to_owned()))
            })?;
            self.take_back(&state, id, task_state, &before, &after)
        });
        let event = match taken_back {
            Ok(event) => event,
            // The next try would fail alike.
            Err(EngineError::Restore(
                error @ (RestoreError::SnapshotGone(_) | RestoreError::NoWorkTree(_)),
            )) => EventKind::TaskRestored {
                task: id.to_owned(),
                not_restored: vec![error.to_string()],
                left_alone: Vec::new(),
                kept: None,
            },
            Err(error) => return Err(error),
        };
        let ((), state) = self.transact(|_| Ok((vec![event.clone()], ())))?;
        Ok((Some(event), state))
    }

    /// Saves and then reverts all changes in a worker's own work tree, in a shared one those at the task's paths.
    fn take_back(
        &self,
        state: &RunState,
        id: &str,
        task_state: &TaskState,
        before: &SnapshotId,
        after: &SnapshotId,
    ) -> Result<EventKind, EngineError> {
        let task = state.plan.task(id);
        let since = task_state.baseline.as_ref().and_then(|ground| ground.since);
        let own_files = task.map(|task| OwnFiles::new(state, task, since));
        let committed = self.committed_meanwhile(task_state);
        let is_own = |path: &str| {
            own_files
                .as_ref()
                .is_some_and(|own_files| own_files.covers(path))
                && !committed.contains(path)
        };
        let own_files = (self.work_tree.root() == self.root).then_some(OwnProjectPaths(&is_own));
        let name = self
            .kept_name(state, id, &format!("-attempt-{}", task_state.attempts))
            .ok_or_else(|| {
                RestoreError::Unnamed(format!("attempt {} at {id}", task_state.attempts))
            })?;
        let kept = self.with_snapshots(state, |snapshots| {
            snapshots.keep_difference(before, after, own_files, &name)
        })?;
        let scope = own_files.map_or(RestoreScope::Until(after), |own_files| {
            RestoreScope::OwnUntil(after, own_files)
        });
        let restored = self.with_snapshots(state, |snapshots| snapshots.restore(before, scope))?;
        Ok(EventKind::TaskRestored {
            task: id.to_owned(),
            left_alone: restored.of_others.clone(),
            not_restored: unrestored_files(restored),
            kept: kept.map(|kept| kept.reference),
        })
    }

    /// Files of commits since the start, which stay: a restore would be a revert of those commits.
    fn committed_meanwhile(&self, task_state: &TaskState) -> BTreeSet<String> {
        let before = task_state
            .baseline
            .as_ref()
            .and_then(|ground| ground.head.clone());
        let (Some(before), Some(now)) = (before, head_commit(&self.work_tree)) else {
            return BTreeSet::new();
        };
        // Without one of the two commits git cannot tell their difference.
        differing_files(&self.work_tree, &before, &now).unwrap_or_default()
    }
}

fn unrestored_files(restored: RestoreResult) -> Vec<String> {
    let RestoreResult {
        left_alone,
        uncovered,
        failed,
        head_moved,
        ..
    } = restored;
    let changed_again = left_alone
        .into_iter()
        .map(|path| format!("{path}: it was changed again since"));
    let ignored = "git ignores it, or it belongs to a repository within the worktree";
    let uncovered = uncovered
        .into_iter()
        .map(|path| format!("{path}: {ignored}"));
    let failed = failed
        .into_iter()
        .map(|(path, why)| format!("{path}: {why}"));
    let commit =
        head_moved.then(|| "the commit that was made meanwhile is still checked out".to_owned());
    changed_again
        .chain(uncovered)
        .chain(failed)
        .chain(commit)
        .collect()
}

fn parse_kept(kept: &str) -> Option<SnapshotId> {
    serde_json::from_str(kept).ok()
}

fn restored_elsewhere(id: &str) -> EngineError {
    EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Contention,
        message: format!("what step {id} has left is being taken back by another process"),
        hint: "run it again in a moment".to_owned(),
    })
}

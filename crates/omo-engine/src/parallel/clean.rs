//! Removal of work trees and branches that are no longer needed, or that a dead supervisor left.
//! Work that only they hold is kept first.

use std::path::{Path, PathBuf};

use omo_claude::client_end::ClientResult;
use omo_claude::supervisor::process_state;
use omo_claude::supervisor::read_left_session;
use omo_claude::worker_resources;
use omo_core::text::sanitize;
use omo_git::kept_work::{read_kept_work, release_kept_work};
use omo_git::repository::GitRepository;
use omo_git::worktree::{self, WorkerName, WorktreeError, WorktreeRemoval};
use omo_process::parallel_map::parallel_map;

use super::{DriveError, FINAL_CHECKS_WORKER, ParallelDriver, WORK_TREES_AT_ONCE, find_worker};
use crate::event::{CopiedFiles, EventKind};
use crate::parallel::remote_branches;
use crate::parallel::remote_branches::Silence;
use crate::parallel_state::{GroupStatus, ParallelState};
use crate::state::{RunPhase, RunState};
use crate::verbs;
use crate::work::{Engine, is_preview_worker};

impl ParallelDriver<'_> {
    pub(super) fn remove_workers(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        ids: &[&str],
    ) -> Result<(), DriveError> {
        let is_over = state.is_over();
        let fresh = Silence::new();
        let silence = if is_over { &self.silence } else { &fresh };
        for batch in ids.chunks(WORK_TREES_AT_ONCE) {
            parallel_map(batch, |id| {
                remove_worker(
                    self.engine,
                    &self.repository,
                    &self.worker_name(id)?,
                    state,
                    parallel,
                    silence,
                )
            })
            .into_iter()
            .collect::<Result<(), DriveError>>()?;
        }
        Ok(())
    }
}

fn remove_worker(
    engine: &Engine,
    repository: &GitRepository,
    name: &WorkerName,
    state: &RunState,
    parallel: &ParallelState,
    silence: &Silence,
) -> Result<(), DriveError> {
    let removed = name.worker();
    let group = removed.to_owned();
    let files = copies_folder(engine, name);
    let has_tree = parallel
        .groups
        .get(&group)
        .is_some_and(|group| group.worktree.is_some());
    let is_of_plan = find_worker(state, &group).is_some();
    let record = |kind: EventKind| {
        if is_of_plan {
            engine.transact(|_| Ok((vec![kind], ()))).map(drop)
        } else {
            Ok(())
        }
    };
    let removal = match worktree::prepare_removal(repository, name, Some(&parallel.tip), &files) {
        Ok(removal) => removal,
        // The work tree stays, and holds up nothing else.
        Err(error) => {
            if has_tree {
                record(EventKind::WorktreeLeft {
                    group,
                    reason: sanitize(&error.to_string(), 500),
                })?;
            }
            return Ok(());
        }
    };
    if has_tree {
        record(removal_event(&removal, &files, removal.branch_at.clone()))?;
    }
    // The folder holds no work, and the system clears its parent.
    let _ = worker_resources::remove_temp_folder(&std::env::temp_dir(), engine.run.id(), removed);
    if let Some(why) = remote_branches::clear_remote(engine, repository, parallel, name, silence)? {
        record(EventKind::WorktreeLeft {
            group: removed.to_owned(),
            reason: why,
        })?;
    }
    match worktree::carry_out_removal(repository, &removal) {
        // A folder that stays is removed by the next cleanup.
        Ok(())
        | Err(
            WorktreeError::InUse { .. }
            | WorktreeError::Changed { .. }
            | WorktreeError::StillThere { .. },
        ) => Ok(()),
        // As with files of another user: told once, and no obstacle to anything else.
        Err(_)
            if parallel
                .groups
                .get(removed)
                .is_some_and(|group| group.leftover_reason.is_some()) =>
        {
            Ok(())
        }
        Err(error) => {
            record(EventKind::WorktreeLeft {
                group: removed.to_owned(),
                reason: sanitize(&error.to_string(), 500),
            })?;
            Ok(())
        }
    }
}

pub(super) fn copies_folder(engine: &Engine, name: &WorkerName) -> PathBuf {
    engine.run.folder().join("kept").join(name.worker())
}

/// The event of a prepared removal, with all that was kept; `tip` is the commit that its work goes on from.
pub(super) fn removal_event(
    removal: &WorktreeRemoval,
    folder: &Path,
    tip: Option<String>,
) -> EventKind {
    let kept = removal.kept.as_ref();
    let copied = kept
        .filter(|kept| !kept.copied.is_empty())
        .map(|kept| CopiedFiles {
            folder: folder.to_string_lossy().into_owned(),
            files: kept.copied.clone(),
        });
    let rescue_ref = kept
        .filter(|kept| kept.commit.is_some())
        .map(|kept| kept.reference.clone());
    EventKind::GroupRemoved {
        group: removal.name.worker().to_owned(),
        rescue_ref,
        copied,
        tip,
    }
}

/// Releases kept work of merged sessions, once the user's branch has it; others go on from their kept work.
pub(super) fn release_merged_work(
    engine: &Engine,
    repository: &GitRepository,
) -> Result<(), DriveError> {
    let state = engine.run.state()?;
    let Some(parallel) = &state.parallel else {
        return Ok(());
    };
    let mut kept = read_kept_work(repository, engine.run.id(), &parallel.policy.branch)?;
    kept.retain(|kept| {
        kept.is_in_branch && parallel.has_status(&kept.name, &[GroupStatus::Merged])
    });
    if kept.is_empty() {
        return Ok(());
    }
    let groups = kept.iter().map(|kept| kept.name.clone()).collect();
    engine.transact(|_| Ok((vec![EventKind::KeptWorkReleased { groups }], ())))?;
    for kept in &kept {
        release_kept_work(repository, kept)?;
    }
    Ok(())
}

/// Drops kept work from `state` that is in the user's branch by now, or released, before a report.
pub fn refresh_kept_work(run: &str, repository: &GitRepository, state: &mut RunState) {
    let Some(parallel) = &mut state.parallel else {
        return;
    };
    // Without an answer of git, the report follows the ledger.
    let Ok(kept) = read_kept_work(repository, run, &parallel.policy.branch) else {
        return;
    };
    let released_groups: Vec<String> = parallel
        .groups
        .keys()
        .filter(|id| {
            kept.iter()
                .all(|kept| kept.name != **id || kept.is_in_branch)
        })
        .cloned()
        .collect();
    parallel.forget_kept_work(&released_groups);
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReapReport {
    pub ended_clients: Vec<String>,
    pub removed_branches: Vec<String>,
}

/// Ends clients still at work after a dead supervisor, and removes work trees that nothing in the ledger needs. Does
/// nothing while another supervisor than this process lives.
pub fn reap_dead_supervisor(engine: &Engine) -> Result<ReapReport, DriveError> {
    let mut reaped = ReapReport::default();
    let state = engine.run.state()?;
    let Some(parallel) = &state.parallel else {
        return Ok(reaped);
    };
    let Some(repository) = GitRepository::find(engine.root) else {
        return Ok(reaped);
    };
    let silence = Silence::new();
    for (id, known) in &parallel.groups {
        let (GroupStatus::Running, Some(process)) = (known.status, &known.process) else {
            continue;
        };
        let output = read_left_session(&engine.run.log_path(&format!("{id}-session.jsonl")));
        let reported_cost = output.result.as_ref().and_then(ClientResult::cost_micros);
        process_state::end_process(&process_state::ProcessIdentity {
            pid: process.pid,
            start: process.mark.clone(),
        });
        let left_there = match WorkerName::new(engine.run.id(), id) {
            Ok(name) => {
                remote_branches::clear_remote(engine, &repository, parallel, &name, &silence)?
            }
            Err(_) => None,
        };
        let id = id.clone();
        engine.transact(|state| {
            let still = state.group_state(&id);
            let Some(known) = still.filter(|known| known.status == GroupStatus::Running) else {
                return Ok((Vec::new(), ()));
            };
            let end_words = match left_there {
                Some(left) => format!("its supervisor was gone; {left}"),
                None => "its supervisor was gone".to_owned(),
            };
            let held = find_worker(state, &id)
                .and_then(|group| verbs::pause_event(state, group, &end_words));
            let ended = EventKind::WorkerEnded {
                group: id.clone(),
                how: end_words,
                cost: known.cost_of_client(reported_cost),
            };
            Ok((std::iter::once(ended).chain(held).collect(), ()))
        })?;
        reaped.ended_clients.push(known.branch.clone());
    }
    let state = engine.run.state()?;
    let Some(parallel) = &state.parallel else {
        return Ok(reaped);
    };
    for name in worktree::find_leftovers(&repository, engine.run.id())? {
        let known = parallel.groups.get(name.worker());
        let is_needed = state.phase == RunPhase::Executing
            && known.is_some_and(|known| known.worktree.is_some());
        let is_for_checks =
            name.worker() == FINAL_CHECKS_WORKER || is_preview_worker(name.worker());
        if is_needed || is_for_checks && state.phase == RunPhase::Executing {
            continue;
        }
        if is_for_checks {
            // The work tree holds no work. One in use is removed by the next cleanup.
            let _ = worktree::discard_worktree(&repository, &name);
            continue;
        }
        remove_worker(engine, &repository, &name, &state, parallel, &silence)?;
        if repository.commit_of(&name.branch_reference())?.is_none() {
            reaped.removed_branches.push(name.branch());
        }
    }
    Ok(reaped)
}

/// Cancels jobs of a run that is over: no supervisor asks about them any more.
fn end_workers_of_over_run(engine: &Engine) -> Result<(), DriveError> {
    let state = engine.run.state()?;
    let is_over = state.is_over();
    if is_over
        && state
            .parallel
            .as_ref()
            .is_some_and(|parallel| parallel.jobs().next().is_some())
    {
        ParallelDriver::new(engine, None)?.end_jobs()?;
    }
    Ok(())
}

impl Engine<'_> {
    /// As [`reap_dead_supervisor`], where the run has no living supervisor.
    pub fn reap_if_unsupervised(&self) -> Result<ReapReport, DriveError> {
        match self.run.try_supervise()? {
            Some(_lock) => {
                end_workers_of_over_run(self)?;
                reap_dead_supervisor(self)
            }
            None => Ok(ReapReport::default()),
        }
    }
}

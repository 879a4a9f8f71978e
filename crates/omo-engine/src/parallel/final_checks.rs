//! Final checks of a parallel run: on the merged work, before a wave and before landing, in a scratch work tree.

use omo_core::check::task_check::TaskCheckOutcome;
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::worktree;

use super::integrate::user_branch_base;
use super::{DriveError, FINAL_CHECKS_WORKER, ParallelDriver};
use crate::client_policy::ClientPolicy;
use crate::event::EventKind;
use crate::parallel_state::ParallelState;
use crate::state::RunState;
use crate::wave_rules::{self, RedChecks};
use crate::work::{EngineError, SilentWatcher};

impl ParallelDriver<'_> {
    pub(super) fn run_final_checks(
        &self,
        state: &RunState,
        parallel: &ParallelState,
    ) -> Result<(), DriveError> {
        // A new commit on the user's branch may fix a red check.
        if let Some(at) = self.user_branch_ahead(parallel)? {
            return self.catch_up(state, parallel, &at);
        }
        if let Some(tree) = self.tree_checked_behind_wave(state, parallel)? {
            return self
                .record(|now| {
                    (now.plan.final_checks == state.plan.final_checks)
                        .then_some(EventKind::WaveCheckReused { tree })
                        .into_iter()
                        .collect()
                })
                .map(drop);
        }
        self.check_in_tree(&parallel.policy, &parallel.tip, |tree| {
            self.engine
                .in_tree(tree)
                .run_final_checks(&mut SilentWatcher)
        })
        .map(drop)
    }

    /// Holds wave `next` back for a check that was green before and is red now; one that was red may need later waves.
    pub(super) fn check_wave(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        next: usize,
    ) -> Result<(), DriveError> {
        // A new commit on the user's branch may fix a red check; a conflict with it holds up nothing before landing.
        if let Some(at) = self.user_branch_ahead(parallel)?
            && self.merge_user_commits(state, parallel, &at)?.is_ok()
        {
            return Ok(());
        }
        let Some(wave) = wave_rules::last_unchecked_wave(state, parallel, next) else {
            return Ok(());
        };
        let every: Vec<usize> = (0..state.plan.final_checks.len()).collect();
        let Some(found) = self.check_commit(
            parallel,
            &parallel.tip,
            &format!("wave-{}", wave + 1),
            &every,
        )?
        else {
            return Ok(());
        };
        let outcomes: Vec<TaskCheckOutcome> =
            found.into_iter().map(|(_, outcome)| outcome).collect();
        let RedChecks {
            mut broken,
            unknown,
            ..
        } = wave_rules::judge_red(parallel, &outcomes);
        match user_branch_base(state, parallel).filter(|_| !unknown.is_empty()) {
            Some(base) => {
                let Some(before) = self.check_commit(parallel, base, "before-waves", &unknown)?
                else {
                    return Ok(());
                };
                broken.extend(
                    before
                        .into_iter()
                        .filter(|(_, outcome)| outcome.is_green())
                        .map(|(place, _)| place),
                );
            }
            // An unknown outcome counts against the wave.
            None => broken.extend(unknown),
        }
        broken.sort_unstable();
        let groups = wave_rules::merged_since_green(parallel, &broken).to_vec();
        let groups = if broken.is_empty() {
            Vec::new()
        } else {
            groups
        };
        let (tip, tree) = (
            parallel.tip.clone(),
            self.repository.tree_of(&parallel.tip)?,
        );
        let checked = EventKind::WaveChecked {
            wave,
            tip,
            tree,
            outcomes,
            broken,
            groups,
        };
        self.record(|now| {
            // An edited plan may have other checks by now.
            if now.plan.final_checks == state.plan.final_checks
                && now
                    .parallel
                    .as_ref()
                    .is_some_and(|known| known.tip == parallel.tip)
            {
                vec![checked]
            } else {
                Vec::new()
            }
        })
        .map(drop)
    }

    /// Outcomes of the checks by position; `None` where no work tree could be made, or the run is over.
    fn check_commit(
        &self,
        parallel: &ParallelState,
        commit: &str,
        name: &str,
        places: &[usize],
    ) -> Result<Option<Vec<(usize, TaskCheckOutcome)>>, DriveError> {
        self.check_in_tree(&parallel.policy, commit, |tree| {
            self.engine
                .in_tree(tree)
                .run_each_final_check(name, places, &mut SilentWatcher)
        })
    }

    /// Runs `check` in a work tree of the commit; `None` where none could be made, or the run is over.
    fn check_in_tree<T>(
        &self,
        policy: &ClientPolicy,
        commit: &str,
        check: impl FnOnce(ProvedWorktree) -> Result<T, EngineError>,
    ) -> Result<Option<T>, DriveError> {
        match self.in_scratch_tree(policy, commit, check)? {
            Ok(Ok(found)) => Ok(Some(found)),
            // The checks are no longer needed: the run has ended or was stopped.
            Ok(Err(EngineError::Cancelled)) => Ok(None),
            Ok(Err(error)) => Err(error.into()),
            Err(why) => {
                let why = format!("there is no worktree to check the whole in: {why}");
                self.refuse_landing(&why, Vec::new(), Vec::new())
                    .map(|()| None)
            }
        }
    }

    /// Runs `work` in a scratch work tree of the commit; the inner error is the reason why none could be made.
    pub(super) fn in_scratch_tree<T>(
        &self,
        policy: &ClientPolicy,
        commit: &str,
        work: impl FnOnce(ProvedWorktree) -> T,
    ) -> Result<Result<T, String>, DriveError> {
        let name = self.worker_name(FINAL_CHECKS_WORKER)?;
        // The leftover of an earlier try may have an earlier tip.
        let fresh = worktree::discard_worktree(&self.repository, &name);
        let created =
            match fresh.and_then(|()| worktree::create_worktree(&self.repository, &name, commit)) {
                Ok(created) => created,
                Err(error) => return Ok(Err(error.to_string())),
            };
        if let Some(command) = &policy.setup
            && let Some(why) = self.run_setup_command(
                FINAL_CHECKS_WORKER,
                command,
                &created.path,
                created.was_there,
            )?
        {
            return Ok(Err(why));
        }
        let proved = ProvedWorktree::of_worker(&self.repository, &name, &created.path);
        let done = proved.map(work).map_err(|error| error.to_string());
        // A work tree still in use by a process of a check is removed by the next cleanup.
        let _ = worktree::discard_worktree(&self.repository, &name);
        Ok(done)
    }

    /// Tree of the run's tip, if the ledger says that exactly the plan's final checks were green on it.
    fn tree_checked_behind_wave(
        &self,
        state: &RunState,
        parallel: &ParallelState,
    ) -> Result<Option<String>, DriveError> {
        let Some(known) = parallel
            .wave_check
            .as_ref()
            .filter(|known| known.checks == state.plan.final_checks)
        else {
            return Ok(None);
        };
        let folder = self
            .worker_name(FINAL_CHECKS_WORKER)?
            .path(&self.repository);
        let tree = self.repository.tree_of(&parallel.tip)?;
        let is_same = tree == known.tree
            && known
                .checks
                .iter()
                .zip(&known.outcomes)
                .all(|(check, outcome)| {
                    outcome.is_green()
                        && outcome.setting
                            == self.engine.environment.task_check_setting(check, &folder)
                });
        Ok(is_same.then_some(tree))
    }
}

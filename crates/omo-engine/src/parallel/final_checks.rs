//! The checks of the whole, on what all sessions together have come to, before the user's branch moves there. They run
//! in a work tree of their own that holds no work of a session or of the user.

use omo_git::worktree;

use super::{DriveError, FINAL_CHECKS_WORKER, ParallelDriver};
use crate::Run;
use crate::parallel_state::ParallelState;
use crate::state::{RunPhase, RunState};
use crate::work::{CommandWatcher, EngineError};

impl ParallelDriver<'_> {
    pub(super) fn run_final_checks(&self, state: &RunState, parallel: &ParallelState) -> Result<(), DriveError> {
        // What its user has committed meanwhile may be what fixes it.
        if let Some(at) = self.user_branch_ahead(parallel)? {
            return self.catch_up(state, parallel, &at);
        }
        let name = self.worker_name(FINAL_CHECKS_WORKER)?;
        // One that an earlier try has left may be of an earlier tip.
        let fresh = worktree::discard_worktree(&self.repository, &name);
        let created = match fresh.and_then(|()| worktree::create_worktree(&self.repository, &name, &parallel.tip)) {
            Ok(created) => created,
            Err(error) => {
                return self
                    .refuse_landing(&format!("there is no work tree to check the whole in: {error}"), Vec::new());
            }
        };
        if let Some(command) = &parallel.policy.setup
            && let Some(why) = self.run_setup_command(FINAL_CHECKS_WORKER, command, &created.path, created.was_there)?
        {
            return self.refuse_landing(&why, Vec::new());
        }
        let checked = self.engine.in_tree(&created.path).run_final_checks(&mut AsLongAsWanted::new(self.engine.run));
        // Where something that a check has started still works there, the next cleanup removes it.
        let _ = worktree::discard_worktree(&self.repository, &name);
        match checked {
            // The checks are no longer needed: the run has ended or was stopped.
            Ok(_) | Err(EngineError::Cancelled) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Ends the checks once the run has ended or was stopped.
pub(super) struct AsLongAsWanted<'r> {
    run: &'r Run,
    asked: u32,
}

/// The keeper asks often; the ledger is looked at every so many times.
const ASK_EVERY: u32 = 20;

impl<'r> AsLongAsWanted<'r> {
    pub(super) fn new(run: &'r Run) -> Self {
        Self { run, asked: 0 }
    }
}

impl CommandWatcher for AsLongAsWanted<'_> {
    fn should_continue(&mut self) -> bool {
        self.asked = self.asked.wrapping_add(1);
        if !self.asked.is_multiple_of(ASK_EVERY) {
            return true;
        }
        self.run.state().is_ok_and(|state| state.phase == RunPhase::Executing && !state.is_stopped)
    }
}

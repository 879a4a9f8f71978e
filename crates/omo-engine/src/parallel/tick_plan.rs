//! The commit that ticks passed tasks in the plan's file, made by omo once all work is merged.

use omo_git::integrate::{
    CommitDraft, committed_file, keep_commit, tree_with_file, uncommitted_paths,
};

use super::{DriveError, ParallelDriver};
use crate::parallel_state::{INTEGRATED, ParallelState};
use crate::state::RunState;
use crate::work::{path_in_repository, tick_merged};

/// Index file of `git` for the commit.
const INDEX_FILE: &str = "ticks.index";

impl ParallelDriver<'_> {
    /// The run's result with ticks; an untracked or edited plan file is ticked in place afterwards.
    pub(super) fn ticked_tip(
        &self,
        state: &RunState,
        parallel: &ParallelState,
    ) -> Result<String, DriveError> {
        Ok(self
            .commit_ticks(state, parallel)?
            .unwrap_or_else(|| parallel.tip.clone()))
    }

    /// A commit of omo's own with the ticks; `None` where there is nothing to tick, or it cannot be made.
    fn commit_ticks(
        &self,
        state: &RunState,
        parallel: &ParallelState,
    ) -> Result<Option<String>, DriveError> {
        let path = path_in_repository(&self.repository, self.engine.root, &state.plan.source.path);
        let Some(path) = path else { return Ok(None) };
        let Some(mut file) = committed_file(&self.repository, &parallel.tip, &path)? else {
            return Ok(None);
        };
        let Some(ticked) = tick_merged(state, &file.bytes) else {
            return Ok(None);
        };
        if ticked.text.as_bytes() == file.bytes
            || uncommitted_paths(&self.repository)?.contains(&path)
        {
            return Ok(None);
        }
        let (_, index) = self.engine.run.log_file(INDEX_FILE)?;
        // An empty index is a broken one to git.
        let _ = std::fs::remove_file(&index);
        file.bytes = ticked.text.clone().into_bytes();
        let message = format!(
            "omo: tick what has passed in {path}\n\nOmo-Run: {}\n",
            self.engine.run.id()
        );
        let tree = tree_with_file(&self.repository, &parallel.tip, &file, &index);
        let _ = std::fs::remove_file(&index);
        // The work matters most: it lands without ticks.
        let Ok(tree) = tree else { return Ok(None) };
        let draft = CommitDraft {
            tip: &parallel.tip,
            merged: None,
            tree: &tree,
            message: &message,
        };
        let Ok(Ok(made)) = self.commit_for_user(&parallel.policy, &draft) else {
            return Ok(None);
        };
        keep_commit(&self.repository, &self.worker_name(INTEGRATED)?, &made)?;
        let event = ticked.to_event(Some(made.clone()));
        self.record(|_| vec![event])?;
        Ok(Some(made))
    }
}

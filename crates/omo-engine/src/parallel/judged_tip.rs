//! Choice of the commit of a session to merge: it holds the judged commits of its steps alone.

use std::collections::BTreeSet;

use omo_core::text::sanitize;
use omo_git::integrate::later_commit;
use omo_git::remote::changed_files;
use omo_plan::model::TaskGroup;

use super::{DriveError, ParallelDriver};
use crate::parallel::push_rules::{is_done, last_passed_commit};
use crate::parallel_state::GroupState;
use crate::program_files::ultraexecute_progress;
use crate::state::{RunState, TaskState};

impl ParallelDriver<'_> {
    /// Last judged commit, or a reason for a person; later commits stay in the session's branch.
    pub(super) fn judged_tip(
        &self,
        state: &RunState,
        group: &TaskGroup,
        group_state: &GroupState,
    ) -> Result<Result<String, String>, DriveError> {
        let name = self.worker_name(&group.id)?;
        let good = self.last_good_commit(state, group, &group_state.base)?;
        // Earlier work that was left out when its step was done again is in no branch of the session.
        let committed =
            passed_tasks(state, group).filter_map(|task| task.last_end.as_ref()?.commit.clone());
        let commits: Vec<String> = committed.chain([good.clone()]).collect();
        let tip = self.repository.commit_of(&name.branch_reference())?;
        let Some(tip) = tip.filter(|tip| {
            commits.iter().all(|commit| commit == tip)
                || self.repository.contains(tip, &commits).unwrap_or(false)
        }) else {
            return Ok(Err(format!(
                "the branch {} does not hold what its steps committed",
                name.branch()
            )));
        };
        let judged = judged_files(state, group);
        let mut strays = changed_files(&self.repository, &group_state.base, &good)?;
        strays.retain(|file| {
            !judged.contains(file) && !ultraexecute_progress::is_progress_file(file)
        });
        if strays.is_empty() {
            return Ok(Ok(good));
        }
        // The client may have taken them out again, and done nothing else.
        let since = changed_files(&self.repository, &good, &tip)?;
        let of_tip = changed_files(&self.repository, &group_state.base, &tip)?;
        if since.iter().all(|file| !judged.contains(file))
            && of_tip.iter().all(|file| judged.contains(file))
        {
            return Ok(Ok(tip));
        }
        // Short: the way out stands behind it, and a display shows only a few lines.
        let (named, place) = (
            sanitize(&strays.join(", "), 80),
            group_state.worktree.as_deref().unwrap_or_default(),
        );
        Ok(Err(format!(
            "no step of it was judged with what its branch changes in {named}; take that back there with a commit, in {}, \
             and continue",
            sanitize(place, 120)
        )))
    }

    /// The commit of the passed steps of a session, which may begin from a later one with merged work of the run.
    pub(super) fn last_good_commit(
        &self,
        state: &RunState,
        group: &TaskGroup,
        base: &str,
    ) -> Result<String, DriveError> {
        Ok(later_commit(
            &self.repository,
            base,
            last_passed_commit(state, group, base),
        )?)
    }
}

fn passed_tasks<'s>(
    state: &'s RunState,
    group: &'s TaskGroup,
) -> impl Iterator<Item = &'s TaskState> {
    let tasks = group.tasks.iter().filter_map(|id| state.tasks.get(id));
    tasks.filter(|task| is_done(state, task.status))
}

/// Files changed by passed steps, but for unlisted ones, which their commits lack. A user's hook may have added some.
fn judged_files(state: &RunState, group: &TaskGroup) -> BTreeSet<String> {
    let ends = passed_tasks(state, group).filter_map(|task| task.last_end.as_ref());
    ends.flat_map(|end| {
        let own = end
            .files
            .iter()
            .filter(|file| !end.out_of_scope.contains(file));
        own.chain(end.hook_changes.iter().flat_map(|changes| &changes.files))
            .cloned()
    })
    .collect()
}

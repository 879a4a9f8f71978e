//! The difference of each task of a run, as `git` prints it.

use std::collections::BTreeMap;
use std::path::Path;

use omo_git::changes::{SnapshotPair, TreeSnapshot};
use omo_git::commit_difference::commit_differences;
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::repository::{GitFailed, GitRepository};
use omo_git::snapshots::Snapshots;

use crate::event::{AttemptEnd, EventKind, RunEvent};
use crate::state::RunState;
use crate::work::tree_from_text;

/// Differences by task id: of the last commit, or else between the start and the checked tree.
pub fn task_differences(
    run_id: &str,
    repository: &GitRepository,
    state_home: &Path,
    state: &RunState,
    events: &[RunEvent],
) -> Result<BTreeMap<String, String>, GitFailed> {
    let ends: Vec<(&str, &AttemptEnd)> = state
        .tasks
        .iter()
        .filter_map(|(id, known)| Some((id.as_str(), known.last_end.as_ref()?)))
        .collect();
    let commits = commit_differences(
        repository,
        ends.iter().filter_map(|(_, end)| end.commit.as_deref()),
    )?;
    let began = trees_at_start(events);
    let trees: Vec<(&str, &AttemptEnd, TreeSnapshot, TreeSnapshot)> = ends
        .iter()
        .filter(|(_, end)| end.commit.is_none() && !end.files.is_empty())
        .filter_map(|(id, end)| {
            let from = tree_from_text(began.get(&(*id, end.attempt))?)?;
            Some((*id, *end, from, tree_from_text(end.tree.as_deref()?)?))
        })
        .collect();
    let pairs: Vec<SnapshotPair<'_>> = trees
        .iter()
        .map(|(_, end, from, to)| SnapshotPair {
            from,
            to,
            files: &end.files,
        })
        .collect();
    let worktree = &ProvedWorktree::of_project(Path::new(&state.root));
    let of_trees = Snapshots {
        worktree,
        state_home,
        run_id,
        own: &[],
    }
    .differences(&pairs)
    .unwrap_or_default();
    let of_trees = trees
        .iter()
        .zip(of_trees)
        .map(|((id, ..), difference)| ((*id).to_owned(), difference));
    let of_commits = ends.iter().filter_map(|(id, end)| {
        Some((
            (*id).to_owned(),
            commits.get(end.commit.as_deref()?)?.clone(),
        ))
    });
    Ok(of_commits.chain(of_trees).collect())
}

/// The work tree at the start of each attempt, by the task's id and the attempt's number.
fn trees_at_start(events: &[RunEvent]) -> BTreeMap<(&str, u32), &str> {
    let mut trees = BTreeMap::new();
    for event in events {
        if let EventKind::TaskStarted {
            task,
            attempt,
            tree: Some(tree),
            ..
        } = &event.kind
        {
            trees.insert((task.as_str(), *attempt), tree.as_str());
        }
    }
    trees
}

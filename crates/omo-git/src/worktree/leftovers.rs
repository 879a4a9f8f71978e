//! What is left of a run that is dead: its worktrees and branches, each removed after all that it holds
//! is kept.

use std::fs;
use std::path::Path;

use super::remove::{WorktreeRemoval, carry_out_removal, prepare_removal};
use super::{WorkerName, WorktreeError, belongs_to, git_folder_of, worktree_folder};
use crate::repository::GitRepository;

/// What became of what a group left.
#[derive(Debug)]
pub struct RemovedLeftover {
    /// Which group.
    pub name: WorkerName,
    /// What was removed, with what was kept of it; else why it stays.
    pub outcome: Result<WorktreeRemoval, WorktreeError>,
}

impl RemovedLeftover {
    /// The command with which its user gets back what was kept; `None` where nothing had to be.
    pub fn command(&self) -> Option<String> {
        let kept = self.outcome.as_ref().ok()?.kept.as_ref()?;
        kept.commit.as_ref().map(|_| format!("git switch -c rescued/{} {}", self.name.branch(), kept.reference))
    }
}

/// The groups of a run that have a worktree or a branch, sorted by name.
pub fn find_leftovers(repository: &GitRepository, run: &str) -> Result<Vec<WorkerName>, WorktreeError> {
    let below = format!("refs/heads/omo/{run}/");
    let listed = repository.git_line(&["for-each-ref", "--format=%(refname)", &below])?;
    let mut groups: Vec<String> =
        listed.lines().filter_map(|line| line.strip_prefix(&below)).map(str::to_owned).collect();
    // A worktree may be there without its branch, which its worker can have deleted.
    let beginning = format!("omo-{run}-");
    for entry in fs::read_dir(worktree_folder(repository)).into_iter().flatten().flatten() {
        groups.extend(entry.file_name().to_str().and_then(|name| name.strip_prefix(&beginning)).map(str::to_owned));
    }
    groups.sort();
    groups.dedup();
    // What only has a name like one of ours is none of ours.
    let named = groups.iter().filter_map(|group| WorkerName::new(run, group).ok());
    let is_ours = |name: &WorkerName| match git_folder_of(repository, &name.path(repository)) {
        Some(folder) => belongs_to(&folder, name),
        None => repository.commit_of(&name.branch_reference()).is_ok_and(|commit| commit.is_some()),
    };
    Ok(named.filter(is_ours).collect())
}

/// Removes what the groups of a dead run left. `record` is told of each removal before it is done, and
/// where it fails nothing is removed. The files that git ignores go into a folder of each group below
/// `files`.
pub fn remove_leftovers(
    repository: &GitRepository,
    run: &str,
    integrated: Option<&str>,
    files: &Path,
    mut record: impl FnMut(&WorktreeRemoval) -> Result<(), WorktreeError>,
) -> Result<Vec<RemovedLeftover>, WorktreeError> {
    let mut reaped = Vec::new();
    for name in find_leftovers(repository, run)? {
        let outcome = prepare_removal(repository, &name, integrated, &files.join(name.worker())).and_then(|removal| {
            record(&removal)?;
            carry_out_removal(repository, &removal)?;
            Ok(removal)
        });
        reaped.push(RemovedLeftover { name, outcome });
    }
    Ok(reaped)
}

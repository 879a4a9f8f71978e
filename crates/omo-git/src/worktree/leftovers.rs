//! Finds worktrees and branches that a dead run left behind.

use std::fs;

use super::{WorkerName, WorktreeError, belongs_to, git_folder_of, worktree_folder};
use crate::repository::GitRepository;

/// Groups of a run with a worktree or a branch, sorted by name.
pub fn find_leftovers(
    repository: &GitRepository,
    run: &str,
) -> Result<Vec<WorkerName>, WorktreeError> {
    let below = format!("refs/heads/omo/{run}/");
    let listed = repository.git_line(&["for-each-ref", "--format=%(refname)", &below])?;
    let mut groups: Vec<String> = listed
        .lines()
        .filter_map(|line| line.strip_prefix(&below))
        .map(str::to_owned)
        .collect();
    // A worktree may be there without its branch, which its worker may have deleted.
    let beginning = format!("omo-{run}-");
    for entry in fs::read_dir(worktree_folder(repository))
        .into_iter()
        .flatten()
        .flatten()
    {
        groups.extend(
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(&beginning))
                .map(str::to_owned),
        );
    }
    groups.sort();
    groups.dedup();
    // A name like one of ours alone is none of ours.
    let named = groups
        .iter()
        .filter_map(|group| WorkerName::new(run, group).ok());
    let owned = named.filter(
        |name| match git_folder_of(repository, &name.path(repository)) {
            Some(folder) => belongs_to(&folder, name),
            None => repository
                .commit_of(&name.branch_reference())
                .is_ok_and(|commit| commit.is_some()),
        },
    );
    Ok(owned.collect())
}

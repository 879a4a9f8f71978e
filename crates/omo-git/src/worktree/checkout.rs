//! Putting the worktree of a group at a commit that was made somewhere else.

use super::rescue::open_worktree;
use super::{WorkerName, WorktreeError, belongs_to};
use crate::repository::{GitRepository, is_object_name};

/// Puts the worktree and the branch of a group at a commit. What git does not know stays; what it knows is as in the
/// commit: only for a worktree in which no process works, and whose commits are kept elsewhere.
///
/// # Errors
///
/// There is no such commit, or no worktree of the group.
pub fn checkout_at(
    repository: &GitRepository,
    name: &WorkerName,
    commit: &str,
) -> Result<(), WorktreeError> {
    if !is_object_name(commit) {
        return Err(WorktreeError::UnknownBase {
            commit: commit.to_owned(),
        });
    }
    let taken = || WorktreeError::Taken {
        path: name.path(repository),
    };
    let inside = open_worktree(repository, name)?
        .filter(|inside| belongs_to(inside.git_folder(), name))
        .ok_or_else(taken)?;
    let branch = name.branch();
    let arguments = [
        "checkout", "--quiet", "--force", "-B", &branch, commit, "--",
    ];
    inside
        .git(&arguments)
        .map(drop)
        .map_err(WorktreeError::from)
}

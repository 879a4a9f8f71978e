//! Checks out, in a worktree of a group, a commit that was made elsewhere.

use super::rescue::open_worktree;
use super::{WorkerName, WorktreeError, belongs_to};
use crate::repository::{GitRepository, is_object_name};

/// Checks out a commit on the group's branch; untracked files stay. Only for a worktree without processes, whose
/// commits are kept elsewhere.
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
    let inside = open_worktree(repository, name)?
        .filter(|inside| belongs_to(inside.git_folder(), name))
        .ok_or_else(|| WorktreeError::Taken {
            path: name.path(repository),
        })?;
    let branch = name.branch();
    let arguments = [
        "checkout", "--quiet", "--force", "-B", &branch, commit, "--",
    ];
    inside
        .git(&arguments)
        .map(drop)
        .map_err(WorktreeError::from)
}

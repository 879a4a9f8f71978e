//! Removes the worktree and branch of a group in two steps, for the record in between:
//! [`prepare_removal`] keeps what they alone hold, and [`carry_out_removal`] removes just that.

use std::fs;
use std::path::Path;
use std::time::Duration;

use omo_process::platform::working_below;
use serde::{Deserialize, Serialize};

use super::rescue::{RescuedWork, WorktreeHeads, keep_branch, keep_work, open_worktree};
use super::{
    REMOVING, WorkerName, WorktreeError, belongs_to, clear_lock_of_branch, clear_locks,
    delete_worktree, file_error, refuse_checked_out,
};
use crate::repository::GitRepository;
use crate::worktree::state::{HeldWork, read_state};

/// Prepared removal, to be recorded before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemoval {
    pub name: WorkerName,
    /// Commit of the group's branch, which is deleted only while it is there.
    pub branch_at: Option<String>,
    /// Saved work; `None` where there was nothing.
    pub kept: Option<RescuedWork>,
    /// Content seen; a worktree with any other is not removed.
    held: Option<HeldWork>,
}

/// Keeps all that the worktree and branch of a group hold. Where a commit `integrated` holds it all, no commit is made.
/// Ignored files are copied into `files`, a folder for this group alone.
pub fn prepare_removal(
    repository: &GitRepository,
    name: &WorkerName,
    integrated: Option<&str>,
    files: &Path,
) -> Result<WorktreeRemoval, WorktreeError> {
    let Some(inside) = open_worktree(repository, name)? else {
        refuse_files_without_git(&name.path(repository))?;
        clear_lock_of_branch(repository, name);
        let branch_at = repository.commit_of(&name.branch_reference())?;
        let kept = branch_at
            .as_deref()
            .map(|at| keep_branch(repository, name, at, integrated))
            .transpose()?;
        return Ok(WorktreeRemoval {
            name: name.clone(),
            branch_at,
            kept,
            held: None,
        });
    };
    if !belongs_to(inside.git_folder(), name) {
        return Err(WorktreeError::Taken {
            path: inside.top().to_owned(),
        });
    }
    refuse_in_use(inside.top())?;
    clear_locks(repository, name, inside.git_folder());
    if inside.git_folder().join(REMOVING).is_file() {
        // All was kept before; what is left of it is less.
        let (reference, commit) = (
            name.keep_reference(),
            repository.commit_of(&name.keep_reference())?,
        );
        let kept = Some(RescuedWork {
            reference,
            commit,
            copied: Vec::new(),
            not_copied: Vec::new(),
        });
        let branch_at = repository.commit_of(&name.branch_reference())?;
        return Ok(WorktreeRemoval {
            name: name.clone(),
            branch_at,
            kept,
            held: None,
        });
    }
    let heads = WorktreeHeads::read(&inside, name)?;
    let raw = read_state(&inside, heads.tree.as_deref())?;
    let kept = keep_work(repository, name, &inside, &raw, &heads, integrated, files)?;
    if !kept.not_copied.is_empty() {
        return Err(WorktreeError::Unsaved {
            path: inside.top().to_owned(),
            what: kept.not_copied,
        });
    }
    Ok(WorktreeRemoval {
        name: name.clone(),
        branch_at: heads.branch,
        kept: Some(kept),
        held: Some(raw.held),
    })
}

/// Removes what was prepared. A worktree that changed since, or is in use, stays; a missing one is no error.
pub fn carry_out_removal(
    repository: &GitRepository,
    removal: &WorktreeRemoval,
) -> Result<(), WorktreeError> {
    let name = &removal.name;
    let path = name.path(repository);
    if let Some(inside) = open_worktree(repository, name)? {
        if !belongs_to(inside.git_folder(), name) {
            return Err(WorktreeError::Taken { path });
        }
        refuse_in_use(&path)?;
        // Half removed already, it holds less than was kept.
        let is_begun = inside.git_folder().join(REMOVING).is_file();
        let is_unchanged = match &removal.held {
            _ if is_begun => true,
            Some(held) => held.is_unchanged(&inside)?,
            None => false,
        };
        if !is_unchanged {
            return Err(WorktreeError::Changed { path });
        }
        let mark = inside.git_folder().join(REMOVING);
        fs::write(&mark, b"").map_err(file_error(&mark))?;
        delete_worktree(repository, &path)?;
    }
    match removal
        .branch_at
        .as_ref()
        .map(|at| delete_branch(repository, name, at))
    {
        Some(Ok(())) => Ok(()),
        failed => match (repository.commit_of(&name.branch_reference())?, failed) {
            (None, _) => Ok(()),
            (now, Some(Err(error))) if now == removal.branch_at => Err(error),
            _ => Err(WorktreeError::Changed { path }),
        },
    }
}

/// Removes a worktree without work, and its branch; nothing is kept, and a missing one is no error.
pub fn discard_worktree(
    repository: &GitRepository,
    name: &WorkerName,
) -> Result<(), WorktreeError> {
    if let Some(inside) = open_worktree(repository, name)? {
        if !belongs_to(inside.git_folder(), name) {
            return Err(WorktreeError::Taken {
                path: inside.top().to_owned(),
            });
        }
        refuse_in_use(inside.top())?;
        delete_worktree(repository, inside.top())?;
    }
    clear_lock_of_branch(repository, name);
    let branch_at = repository.commit_of(&name.branch_reference())?;
    branch_at.map_or(Ok(()), |at| delete_branch(repository, name, &at))
}

/// Deletes a branch that is still there, and not checked out.
fn delete_branch(
    repository: &GitRepository,
    name: &WorkerName,
    at: &str,
) -> Result<(), WorktreeError> {
    refuse_checked_out(repository, name)?;
    repository.git(&["update-ref", "-d", &name.branch_reference(), at])?;
    Ok(())
}

/// Refuses a folder with files that is no worktree any more: nobody can tell whose they are.
fn refuse_files_without_git(path: &Path) -> Result<(), WorktreeError> {
    let has_files = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if path.is_symlink() || has_files {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// Waits for a process that is about to end, such as git's maintenance after a commit.
fn refuse_in_use(path: &Path) -> Result<(), WorktreeError> {
    const LOOKS: usize = 20;
    const BETWEEN: Duration = Duration::from_millis(50);
    let mut process = None;
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(BETWEEN);
        }
        process = working_below(path).first().copied();
        if process.is_none() {
            break;
        }
    }
    process.map_or(Ok(()), |process| {
        Err(WorktreeError::InUse {
            path: path.to_owned(),
            process,
        })
    })
}

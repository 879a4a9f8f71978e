//! Removing a group's worktree and branch, after all that they alone hold is kept elsewhere.
//!
//! In two steps, so that the removal is on record before it is done: [`prepare`] keeps what must be
//! kept and says what would go, [`carry_out`] removes that and nothing else.

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

/// A worktree to remove, and the work kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemoval {
    /// Worker of the worktree.
    pub name: WorkerName,
    /// Commit of its branch, which is deleted there and nowhere else.
    pub branch_at: Option<String>,
    /// Kept work; `None` where there was nothing.
    pub kept: Option<RescuedWork>,
    /// Content at the look: only that is removed.
    held: Option<HeldWork>,
}

/// Keeps all that the worktree and branch of a group hold, and says what may then be removed. Where
/// everything is in `integrated`, a commit that others hold, no commit is made to keep it. Files that
/// git ignores are copied into `files`, a folder for this group alone.
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
        // All was kept before; what is left of it is less than that.
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

/// Removes what was prepared, and looks that it is gone. Where something changed since, or a process
/// works there, it stays; what is gone already is no error.
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
        let is_all = |held: &HeldWork| held.is_unchanged(&inside);
        if !is_begun
            && !removal
                .held
                .as_ref()
                .map(is_all)
                .transpose()?
                .unwrap_or_default()
        {
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

/// Removes a worktree that holds no work, and its branch: nothing of it is kept. What is not there is no error.
///
/// # Errors
///
/// It is another group's, or a process works in it.
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

/// Deletes the branch of a group where it stands there and no work tree has it checked out.
fn delete_branch(
    repository: &GitRepository,
    name: &WorkerName,
    at: &str,
) -> Result<(), WorktreeError> {
    refuse_checked_out(repository, name)?;
    repository.git(&["update-ref", "-d", &name.branch_reference(), at])?;
    Ok(())
}

/// Refuses a folder that is no worktree any more and has files: which of them are whose cannot be told.
fn refuse_files_without_git(path: &Path) -> Result<(), WorktreeError> {
    let has_files = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if path.is_symlink() || has_files() {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// A process that is about to end, such as git's tidying after a commit, is waited for.
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

//! The worktree of a group: where it lies, what it is called, and how it comes and goes.
//!
//! Each group of a run has a worktree and a branch of its own. Nothing that was ever written in one is
//! lost: before it goes, everything that it alone holds is kept below `refs/omo/keep` (`rescue`).
//! Every step can be repeated after an end at any point.

mod checkout;
mod create;
mod leftovers;
mod moved;
mod remove;
mod rescue;
mod state;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use omo_core::text::command_text::quote_argument;
use omo_state::files::make_removable;
use omo_state::git_worktree::GitWorktree;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::file_copier::{CopyError, CopyKind, CopyOptions};
use crate::repository::{GitFailed, GitRepository};
use crate::worktree::state::is_reftable;

pub use checkout::checkout_at;
pub(crate) use create::included_paths;
pub use create::{CreatedWorktree, continue_worktree, create_worktree, prepare_worktree_folder};
pub use leftovers::find_leftovers;
pub use moved::follow_renamed_folder;
pub use remove::{WorktreeRemoval, carry_out_removal, discard_worktree, prepare_removal};
pub use rescue::RescuedWork;

/// Parent of the worktrees, from the top of the repository: the one folder below `.claude` in which
/// a client may write without being asked.
const FOLDER: &str = ".claude/worktrees";
static USER_FOLDER: OnceLock<PathBuf> = OnceLock::new();
const BRANCHES: &str = "omo";
pub(crate) const KEEP_FOLDER: &str = "refs/omo/keep";
const MAX_NAME: usize = 80;
/// Mark in git's folder of a whole worktree: its owner.
const READY: &str = "omo-ready";
/// Mark there of a begun removal: everything in it is kept elsewhere.
const REMOVING: &str = "omo-removing";

const fn copy_options(kind: CopyKind<'_>) -> CopyOptions<'_> {
    CopyOptions {
        max_files: 10_000,
        max_bytes: 1024 * 1024 * 1024,
        max_depth: 64,
        ..CopyOptions::all(kind)
    }
}

/// Failure of an operation on a worktree, such as `git worktree add`. Nothing is lost by any of
/// these.
#[derive(Debug, Error)]
pub enum WorktreeError {
    /// The name of a run or group that would be none of a folder and a branch.
    #[error(
        "{name:?} cannot be part of the name of a branch and a folder; use letters, digits, `-`, `_` and single dots"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The commit to begin with is not there.
    #[error("there is no commit {commit} in this repository")]
    UnknownBase {
        /// Given text.
        commit: String,
    },
    /// Something else lies where the worktree belongs.
    #[error("{} is there already, and is not this group's worktree; move it away", path.display())]
    Taken {
        /// Path of the place.
        path: PathBuf,
    },
    /// The branch has commits of its own, and no worktree.
    #[error("the branch {branch} is there already, at {commit}; rename or delete it")]
    BranchExists {
        /// The branch.
        branch: String,
        /// Commit of the branch.
        commit: String,
    },
    /// Ignored files, or files kept elsewhere, that could not be saved.
    #[error("{} is kept: {} in it could not be saved elsewhere", path.display(), what.join(", "))]
    Unsaved {
        /// The worktree.
        path: PathBuf,
        /// The paths in it.
        what: Vec<String>,
    },
    /// A process works there.
    #[error("{} is kept: process {process} works in it", path.display())]
    InUse {
        /// The worktree.
        path: PathBuf,
        /// One of the processes.
        process: u32,
    },
    /// A change after its removal was prepared.
    #[error("{} is kept: it changed a moment ago; try again", path.display())]
    Changed {
        /// The worktree.
        path: PathBuf,
    },
    /// A work tree of the user has the branch checked out.
    #[error(
        "{branch} stays, since {folder} has it checked out; once that tree needs it no longer: \
         git -C {} switch --detach && git branch -D {branch}",
        quote_argument(folder)
    )]
    CheckedOut {
        /// The branch.
        branch: String,
        /// The top of the work tree.
        folder: String,
    },
    /// A worktree that is still there after its removal.
    #[error("{} is still there after its removal; something writes to it", path.display())]
    StillThere {
        /// The worktree.
        path: PathBuf,
    },
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// Files could not be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// From now on new worktrees are made in this folder, which is absolute.
pub fn use_worktree_folder(folder: PathBuf) {
    // A process reads the settings of its user once.
    let _ = USER_FOLDER.set(folder);
}

fn worktree_folder(repository: &GitRepository) -> PathBuf {
    USER_FOLDER
        .get()
        .cloned()
        .unwrap_or_else(|| repository.top().join(FOLDER))
}

/// The branch whose name leaves no room for those of groups; `None` where there is none of that name.
pub fn blocking_branch(repository: &GitRepository) -> Result<Option<String>, GitFailed> {
    Ok(repository
        .commit_of(&format!("refs/heads/{BRANCHES}"))?
        .map(|_| BRANCHES.to_owned()))
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    |error| WorktreeError::File { path, error }
}

/// A group of a run, by names that a folder and a branch can contain: see `is_worker_name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerName {
    run: String,
    worker: String,
}

impl WorkerName {
    /// Letters, digits, `-`, `_` and dots where git takes them in the name of a branch, and at most 80 of them.
    ///
    /// # Errors
    ///
    /// Another name is refused.
    pub fn new(run: &str, group: &str) -> Result<Self, WorktreeError> {
        for name in [run, group] {
            if !is_worker_name(name) {
                return Err(WorktreeError::InvalidName {
                    name: name.to_owned(),
                });
            }
        }
        Ok(Self {
            run: run.to_owned(),
            worker: group.to_owned(),
        })
    }

    /// Group id.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Branch as the user calls it, such as `omo/RUN/GROUP`.
    pub fn branch(&self) -> String {
        format!("{BRANCHES}/{}/{}", self.run, self.worker)
    }

    /// Full name of the branch, such as `refs/heads/omo/RUN/GROUP`.
    pub fn branch_reference(&self) -> String {
        format!("refs/heads/{}", self.branch())
    }

    /// Reference that keeps all that its worktree alone held.
    pub fn keep_reference(&self) -> String {
        format!("{KEEP_FOLDER}/{}/{}", self.run, self.worker)
    }

    /// Content of `READY`: two groups may have the same folder's name.
    fn owner_text(&self) -> String {
        format!("{}\n{}\n", self.run, self.worker)
    }

    /// Path of its worktree. An existing one stays in place, whichever folder its user sets
    /// meanwhile.
    pub fn path(&self, repository: &GitRepository) -> PathBuf {
        let folder = worktree_folder(repository);
        // `.claude` may be a link, and processes are found by the real paths of their folders.
        let path = folder
            .canonicalize()
            .unwrap_or(folder)
            .join(self.folder_name());
        self.known_path(repository).unwrap_or(path)
    }

    fn folder_name(&self) -> String {
        format!("omo-{}-{}", self.run, self.worker)
    }

    /// Path of its whole worktree, as git knows it; `None` for a name of another form.
    fn known_path(&self, repository: &GitRepository) -> Option<PathBuf> {
        let is_own = |folder: &PathBuf| {
            fs::read_to_string(folder.join(READY)).is_ok_and(|owner| owner == self.owner_text())
        };
        let noted = noted_place(&git_folders(repository).find(is_own)?);
        let place = noted.parent().filter(|place| place.is_absolute())?;
        let is_there =
            place.file_name()? == self.folder_name().as_str() && place.parent()?.is_dir();
        is_there.then(|| place.to_owned())
    }
}

/// A name that a folder and a branch can contain: git refuses `a..b`, `a.` and `a.lock`, and an
/// option begins with `-`.
pub fn is_worker_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_lock = name.to_ascii_lowercase().ends_with(".lock");
    name.bytes().all(is_plain)
        && !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with(['-', '.'])
        && !name.ends_with('.')
        && !name.contains("..")
        && !is_lock
}

/// git's own folder of the worktree at a path: what the worktree says of itself does not count, since
/// the worker there can write it. `None` where git knows of no worktree there.
pub(crate) fn git_folder_of(repository: &GitRepository, path: &Path) -> Option<PathBuf> {
    let dot = path.join(".git");
    // A folder above it may be a link, which git does not write down.
    let real = path.parent().and_then(|above| {
        Some(
            above
                .canonicalize()
                .ok()?
                .join(path.file_name()?)
                .join(".git"),
        )
    });
    let is_dot = |place: &Path| place == dot || real.as_deref() == Some(place);
    let is_of_path = |folder: &PathBuf| {
        let place = noted_place(folder);
        // The user's settings may have git note the place relative to that folder.
        let lies_there = || {
            folder
                .join(&place)
                .canonicalize()
                .is_ok_and(|found| is_dot(&found))
        };
        is_dot(&place) || (place.is_relative() && lies_there())
    };
    git_folders(repository).find(is_of_path)
}

fn git_folders(repository: &GitRepository) -> impl Iterator<Item = PathBuf> + use<> {
    let folders = fs::read_dir(repository.common().join("worktrees"))
        .into_iter()
        .flatten()
        .flatten();
    folders.map(|entry| entry.path())
}

/// Path of the `.git` of a worktree, as git has written it down; empty where it has not.
fn noted_place(folder: &Path) -> PathBuf {
    PathBuf::from(
        fs::read_to_string(folder.join("gitdir"))
            .unwrap_or_default()
            .trim_end(),
    )
}

/// The `.git` in the folder of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DotGit {
    /// A link to git's own folder of the worktree.
    Own,
    /// There is none.
    Missing,
    /// A link elsewhere, or a folder that git did not make.
    Foreign,
}

pub(crate) fn dot_git(path: &Path, git_folder: &Path) -> DotGit {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let dot = path.join(".git").symlink_metadata();
    match dot {
        _ if path.is_symlink() => DotGit::Foreign,
        Err(error) if !is_folder || error.kind() == io::ErrorKind::NotFound => DotGit::Missing,
        _ => match GitWorktree::at(path).and_then(|tree| tree.git.canonicalize().ok()) {
            Some(own) if git_folder.canonicalize().is_ok_and(|known| known == own) => DotGit::Own,
            _ => DotGit::Foreign,
        },
    }
}

/// A worktree of this worker, by `READY` in git's folder of it, or by its branch where it is not
/// whole.
fn belongs_to(git_folder: &Path, name: &WorkerName) -> bool {
    let owner = fs::read_to_string(git_folder.join(READY));
    owner.map_or_else(
        |_| is_on_branch(git_folder, name),
        |owner| owner == name.owner_text(),
    )
}

/// Takes away the locks in a group's worktree, and of its branch, that an interrupted git has left. Only where no
/// process works there.
fn clear_locks(repository: &GitRepository, name: &WorkerName, folder: &Path) {
    for lock in ["index.lock", "HEAD.lock", "ORIG_HEAD.lock"] {
        // A lock that stays is named by the git that needs it.
        let _ = fs::remove_file(folder.join(lock));
    }
    clear_lock_of_branch(repository, name);
}

/// As [`clear_locks`], where there is no worktree any more.
fn clear_lock_of_branch(repository: &GitRepository, name: &WorkerName) {
    let _ = fs::remove_file(
        repository
            .common()
            .join(format!("{}.lock", name.branch_reference())),
    );
}

/// The branch that is checked out in a worktree, as its user calls it; `None` where it is a commit.
pub(crate) fn branch_of_worktree(
    repository: &GitRepository,
    path: &Path,
    git_folder: &Path,
) -> Option<String> {
    let head = if is_reftable(repository) {
        // Without reference files, only git can tell.
        let inside = repository.seen_from_worktree(path, git_folder);
        inside.git_line(&["symbolic-ref", "--quiet", "HEAD"]).ok()?
    } else {
        fs::read_to_string(git_folder.join("HEAD"))
            .ok()?
            .strip_prefix("ref: ")?
            .trim_end()
            .to_owned()
    };
    head.strip_prefix("refs/heads/").map(str::to_owned)
}

/// Refuses a branch that a work tree has checked out: without it that tree would stand on no commit.
fn refuse_checked_out(repository: &GitRepository, name: &WorkerName) -> Result<(), WorktreeError> {
    match repository
        .checkouts(&name.branch_reference())?
        .into_iter()
        .next()
    {
        Some((folder, _)) => Err(WorktreeError::CheckedOut {
            branch: name.branch(),
            folder,
        }),
        None => Ok(()),
    }
}

fn is_on_branch(git_folder: &Path, name: &WorkerName) -> bool {
    let head = fs::read_to_string(git_folder.join("HEAD")).unwrap_or_default();
    head.trim_end() == format!("ref: {}", name.branch_reference())
}

fn delete_worktree(repository: &GitRepository, path: &Path) -> Result<(), WorktreeError> {
    let removed = fs::remove_dir_all(path).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            make_removable(path);
            fs::remove_dir_all(path)
        }
        _ => Err(error),
    });
    match removed {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(file_error(path)(error)),
    }
    if git_folder_of(repository, path).is_some() {
        let path = path.to_string_lossy();
        repository.git_on_worktrees(&["remove", "--force", "--force", &path])?;
    }
    if path.symlink_metadata().is_ok() || git_folder_of(repository, path).is_some() {
        return Err(WorktreeError::StillThere {
            path: path.to_owned(),
        });
    }
    Ok(())
}

//! Worktrees of parallel workers, each for a group of tasks, with a branch of its own. Before one
//! is removed, all that it alone holds is kept below `refs/omo/keep` (`rescue`). Each step can be
//! repeated after a kill.

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

/// Folder from the top; below `.claude`, a client may write only there without a question.
const FOLDER: &str = ".claude/worktrees";
static USER_FOLDER: OnceLock<PathBuf> = OnceLock::new();
const BRANCHES: &str = "omo";
pub(crate) const KEEP_FOLDER: &str = "refs/omo/keep";
const MAX_NAME: usize = 80;
/// File with the owner of a complete worktree, in git's folder of it.
const READY: &str = "omo-ready";
/// File that marks a begun removal, in git's folder: all work is kept elsewhere.
const REMOVING: &str = "omo-removing";

const fn copy_options(kind: CopyKind<'_>) -> CopyOptions<'_> {
    CopyOptions {
        max_files: 10_000,
        max_bytes: 1024 * 1024 * 1024,
        max_depth: 64,
        ..CopyOptions::all(kind)
    }
}

/// Reason for a worktree that could not be made or removed; no work is lost.
#[derive(Debug, Error)]
pub enum WorktreeError {
    #[error(
        "{name:?} cannot be part of the name of a branch and a folder; use letters, digits, `-`, `_` and single dots"
    )]
    InvalidName { name: String },
    #[error("there is no commit {commit} in this repository")]
    UnknownBase {
        /// Text that names no commit.
        commit: String,
    },
    #[error("{} is there already, and is not this group's worktree; move it away", path.display())]
    Taken { path: PathBuf },
    /// The branch has commits of its own, and no worktree.
    #[error("the branch {branch} is there already, at {commit}; rename or delete it")]
    BranchExists { branch: String, commit: String },
    /// Ignored or moved files could not be saved.
    #[error("{} is kept: {} in it could not be saved elsewhere", path.display(), what.join(", "))]
    Unsaved {
        path: PathBuf,
        /// Unsaved paths in it.
        what: Vec<String>,
    },
    #[error("{} is kept: process {process} works in it", path.display())]
    InUse { path: PathBuf, process: u32 },
    /// The worktree changed after its removal was prepared.
    #[error("{} is kept: it changed a moment ago; try again", path.display())]
    Changed { path: PathBuf },
    #[error(
        "{branch} stays, since {folder} has it checked out; once that tree needs it no longer: \
         git -C {} switch --detach && git branch -D {branch}",
        quote_argument(folder)
    )]
    CheckedOut {
        branch: String,
        /// Top of the work tree that has the branch checked out.
        folder: String,
    },
    #[error("{} is still there after its removal; something writes to it", path.display())]
    StillThere { path: PathBuf },
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

/// Puts new worktrees into this absolute folder from now on.
pub fn use_worktree_folder(folder: PathBuf) {
    // A process reads its user's settings once.
    let _ = USER_FOLDER.set(folder);
}

fn worktree_folder(repository: &GitRepository) -> PathBuf {
    USER_FOLDER
        .get()
        .cloned()
        .unwrap_or_else(|| repository.top().join(FOLDER))
}

/// Branch `omo`, if any: with it git can make no branch `omo/RUN/GROUP`.
pub fn blocking_branch(repository: &GitRepository) -> Result<Option<String>, GitFailed> {
    Ok(repository
        .commit_of(&format!("refs/heads/{BRANCHES}"))?
        .map(|_| BRANCHES.to_owned()))
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    |error| WorktreeError::File { path, error }
}

/// Names of a run and of a group, both fit for a folder and a branch (see `is_worker_name`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerName {
    run: String,
    worker: String,
}

impl WorkerName {
    /// Checks both names: at most 80 letters, digits, `-`, `_` and dots, as in names of branches.
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

    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// `omo/RUN/GROUP`.
    pub fn branch(&self) -> String {
        format!("{BRANCHES}/{}/{}", self.run, self.worker)
    }

    /// `refs/heads/omo/RUN/GROUP`.
    pub fn branch_reference(&self) -> String {
        format!("refs/heads/{}", self.branch())
    }

    /// `refs/omo/keep/RUN/GROUP`.
    pub fn keep_reference(&self) -> String {
        format!("{KEEP_FOLDER}/{}/{}", self.run, self.worker)
    }

    /// Content of `READY`: two groups may have one folder name.
    fn owner_text(&self) -> String {
        format!("{}\n{}\n", self.run, self.worker)
    }

    /// Path of the group's worktree; an existing one stays where it is.
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
        let git_folder = git_folders(repository).find(|folder| {
            fs::read_to_string(folder.join(READY)).is_ok_and(|owner| owner == self.owner_text())
        })?;
        let noted = noted_place(&git_folder);
        let place = noted.parent().filter(|place| place.is_absolute())?;
        let is_there =
            place.file_name()? == self.folder_name().as_str() && place.parent()?.is_dir();
        is_there.then(|| place.to_owned())
    }
}

/// A name for a folder and a branch: git refuses `a..b`, `a.` and `a.lock`, and an option begins with `-`.
pub fn is_worker_name(name: &str) -> bool {
    let is_lock = name.to_ascii_lowercase().ends_with(".lock");
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with(['-', '.'])
        && !name.ends_with('.')
        && !name.contains("..")
        && !is_lock
}

/// git's folder of the worktree at `path`, as the repository knows it: workers can change `.git`.
pub(crate) fn git_folder_of(repository: &GitRepository, path: &Path) -> Option<PathBuf> {
    let dot = path.join(".git");
    // A folder above may be a link, which git does not write down.
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
    git_folders(repository).find(|folder| {
        let place = noted_place(folder);
        // The user's settings may have git note the place relative to that folder.
        is_dot(&place)
            || place.is_relative()
                && folder
                    .join(&place)
                    .canonicalize()
                    .is_ok_and(|real_place| is_dot(&real_place))
    })
}

fn git_folders(repository: &GitRepository) -> impl Iterator<Item = PathBuf> + use<> {
    let folders = fs::read_dir(repository.common().join("worktrees"))
        .into_iter()
        .flatten()
        .flatten();
    folders.map(|entry| entry.path())
}

/// Path of a worktree's `.git`, as git has noted it; empty for none.
fn noted_place(folder: &Path) -> PathBuf {
    PathBuf::from(
        fs::read_to_string(folder.join("gitdir"))
            .unwrap_or_default()
            .trim_end(),
    )
}

/// State of `.git` in the folder of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DotGit {
    /// File that leads to git's own folder of the worktree.
    Own,
    Missing,
    /// File that leads elsewhere, or that git did not make.
    Foreign,
}

pub(crate) fn dot_git(path: &Path, git_folder: &Path) -> DotGit {
    let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let dot = path.join(".git").symlink_metadata();
    match dot {
        _ if path.is_symlink() => DotGit::Foreign,
        Err(error) if !is_folder || error.kind() == io::ErrorKind::NotFound => DotGit::Missing,
        _ => match GitWorktree::at(path).and_then(|tree| tree.git.canonicalize().ok()) {
            Some(own_folder)
                if git_folder
                    .canonicalize()
                    .is_ok_and(|known| known == own_folder) =>
            {
                DotGit::Own
            }
            _ => DotGit::Foreign,
        },
    }
}

/// `true` by the file `READY`, or by the branch of an incomplete worktree.
fn belongs_to(git_folder: &Path, name: &WorkerName) -> bool {
    let owner = fs::read_to_string(git_folder.join(READY));
    owner.map_or_else(
        |_| is_on_branch(git_folder, name),
        |owner| owner == name.owner_text(),
    )
}

/// Removes locks that a killed git left in a worktree and of its branch; only where no process works there.
fn clear_locks(repository: &GitRepository, name: &WorkerName, folder: &Path) {
    for lock in ["index.lock", "HEAD.lock", "ORIG_HEAD.lock"] {
        // A lock that stays is named by the git that needs it.
        let _ = fs::remove_file(folder.join(lock));
    }
    clear_lock_of_branch(repository, name);
}

/// [`clear_locks`] without a worktree.
fn clear_lock_of_branch(repository: &GitRepository, name: &WorkerName) {
    let _ = fs::remove_file(
        repository
            .common()
            .join(format!("{}.lock", name.branch_reference())),
    );
}

/// Checked-out branch, such as `main`; `None` for a commit.
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

/// Refuses a checked-out branch: without it that work tree would stand on no commit.
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

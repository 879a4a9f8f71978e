//! Creation of a group's worktree. After a kill between any two steps, the next call still succeeds.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{
    DotGit, FOLDER, READY, REMOVING, USER_FOLDER, WorkerName, WorktreeError, belongs_to,
    clear_locks, copy_options, delete_worktree, dot_git, file_error, git_folder_of,
    refuse_checked_out, worktree_folder,
};
use crate::exclude::{add_exclude_line, exclude_file};
use crate::file_copier::{CopyKind, FileCopier};
use crate::git_output::parts;
use crate::platform::path_of;
use crate::repository::{GitFailed, GitRepository, is_object_name};
use crate::worktree::state::remember_index;

/// File at the top that lists the ignored files to copy into a worktree.
const INCLUDE: &str = ".worktreeinclude";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedWorktree {
    pub path: PathBuf,
    pub branch: String,
    /// `true` for a worktree that was complete before, in which a worker may have worked.
    pub was_there: bool,
    /// Files of `.worktreeinclude` that could not be copied.
    pub not_copied: Vec<String>,
}

/// Makes a worktree and its branch at the commit `base`. A complete worktree stays; leftovers of an interrupted call
/// are deleted, as no worker began there.
pub fn create_worktree(
    repository: &GitRepository,
    name: &WorkerName,
    base: &str,
) -> Result<CreatedWorktree, WorktreeError> {
    create(repository, name, base, false)
}

/// [`create_worktree`] for a group that had a worktree before: its branch stays, with its commits.
pub fn continue_worktree(
    repository: &GitRepository,
    name: &WorkerName,
    base: &str,
) -> Result<CreatedWorktree, WorktreeError> {
    create(repository, name, base, true)
}

fn create(
    repository: &GitRepository,
    name: &WorkerName,
    base: &str,
    is_continued: bool,
) -> Result<CreatedWorktree, WorktreeError> {
    if !is_object_name(base) {
        return Err(unknown_base(base));
    }
    let path = name.path(repository);
    let mut created = CreatedWorktree {
        path: path.clone(),
        branch: name.branch(),
        was_there: false,
        not_copied: Vec::new(),
    };
    if let Some(folder) = git_folder_of(repository, &path) {
        let dot = dot_git(&path, &folder);
        if !belongs_to(&folder, name) || dot == DotGit::Foreign {
            return Err(WorktreeError::Taken { path });
        }
        let is_whole = folder.join(READY).is_file() && !folder.join(REMOVING).is_file();
        if is_whole && path.is_dir() {
            if dot == DotGit::Missing {
                write_dot_git(&path, &folder)?;
            }
            clear_locks(repository, name, &folder);
            created.was_there = true;
            return Ok(created);
        }
        if is_whole {
            clear_locks(repository, name, &folder);
            remake(repository, &path, &folder)?;
            created.not_copied = copy_included(repository, &path)?;
            return Ok(created);
        }
        delete_worktree(repository, &path)?;
    }
    refuse_taken(repository, &path)?;
    hide_worktrees(repository)?;
    // The old value of zeros has git create the branch only where there is none.
    let none = "0".repeat(base.len());
    if let Err(error) = repository.git(&["update-ref", &name.branch_reference(), base, &none]) {
        match repository.commit_of(&name.branch_reference())? {
            Some(commit) if commit != base && !is_continued => {
                return Err(WorktreeError::BranchExists {
                    branch: name.branch(),
                    commit,
                });
            }
            Some(_) => {}
            None if repository.commit_of(base)?.as_deref() != Some(base) => {
                return Err(unknown_base(base));
            }
            None => return Err(error.into()),
        }
    }
    let shown = path.to_string_lossy().into_owned();
    if let Err(error) =
        repository.git_on_worktrees(&["add", "--quiet", "--no-checkout", &shown, &name.branch()])
    {
        refuse_checked_out(repository, name)?;
        return Err(error.into());
    }
    let folder = git_folder_of(repository, &path)
        .ok_or_else(|| repository.failure_of(&["worktree", "add", &shown, &name.branch()]))?;
    // The checkout that `git worktree add` would do, as a step that may run in several worktrees at the same time.
    let checkout = ["reset", "--quiet", "--hard", "--no-recurse-submodules"];
    repository
        .seen_from_worktree(&path, &folder)
        .git(&checkout)?;
    remember_index(repository, &folder)?;
    created.not_copied = copy_included(repository, &path)?;
    let ready = folder.join(READY);
    // By a rename: a name that is half written would be taken for another owner.
    let part = folder.join("omo-ready-part");
    fs::write(&part, name.owner_text()).map_err(file_error(&part))?;
    fs::rename(&part, &ready).map_err(file_error(&ready))?;
    Ok(created)
}

fn unknown_base(commit: &str) -> WorktreeError {
    WorktreeError::UnknownBase {
        commit: commit.to_owned(),
    }
}

/// Hides worktrees in the checkout from `git status`.
fn hide_worktrees(repository: &GitRepository) -> Result<(), WorktreeError> {
    let folder = worktree_folder(repository);
    let Ok(below) = folder.strip_prefix(repository.top()) else {
        return Ok(());
    };
    let tree = repository.work_tree();
    add_exclude_line(tree, &format!("/{}/omo-*/", below.display()))
        .map_err(file_error(&exclude_file(tree)))
}

/// Makes the removed folder of a complete worktree again, from its index. It appears by a rename: missing files would
/// look like deletions by the next worker.
fn remake(repository: &GitRepository, path: &Path, folder: &Path) -> Result<(), WorktreeError> {
    refuse_links(repository, path)?;
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    match fs::remove_dir_all(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(file_error(&part)(error)),
        _ => fs::create_dir_all(&part).map_err(file_error(&part))?,
    }
    repository
        .seen_from_worktree(&part, folder)
        .git(&["checkout-index", "--all", "--quiet"])?;
    write_dot_git(&part, folder)?;
    fs::rename(&part, path).map_err(file_error(path))
}

/// Writes the `.git` file, which points to git's own folder of the worktree.
pub(super) fn write_dot_git(path: &Path, folder: &Path) -> Result<(), WorktreeError> {
    let text = [b"gitdir: ", folder.as_os_str().as_encoded_bytes(), b"\n"].concat();
    fs::write(path.join(".git"), text).map_err(file_error(path))
}

fn refuse_taken(repository: &GitRepository, path: &Path) -> Result<(), WorktreeError> {
    if git_folder_of(repository, path).is_some() {
        // The files are gone, but git's folder may hold staged work, which has to be kept first.
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    if path.symlink_metadata().is_ok_and(|meta| {
        !meta.is_dir() || !fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    }) {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    refuse_links(repository, path)
}

/// Refuses a link in place of the worktree, and a tracked link above it, whose target the author of a commit chose.
/// The user's own link, such as a managed `.claude`, is followed.
fn refuse_links(repository: &GitRepository, path: &Path) -> Result<(), WorktreeError> {
    if path.is_symlink() {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    if USER_FOLDER.get().is_some() {
        // The user chose this folder, which is not in a repository.
        return Ok(());
    }
    let mut folder = repository.top().to_owned();
    for part in Path::new(FOLDER).components() {
        folder.push(part);
        let is_taken = match folder.symlink_metadata() {
            Ok(found) if found.is_symlink() => !folder.is_dir() || is_tracked(repository, &folder)?,
            Ok(found) => !found.is_dir(),
            Err(_) => false,
        };
        if is_taken {
            return Err(WorktreeError::Taken { path: folder });
        }
    }
    Ok(())
}

fn is_tracked(repository: &GitRepository, path: &Path) -> Result<bool, GitFailed> {
    let path = path
        .strip_prefix(repository.top())
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned();
    let pathspec = format!(":(top,literal){path}");
    Ok(!repository
        .git(&["ls-files", "-z", "--", &pathspec])?
        .is_empty())
}

/// Makes the folder of worktrees, before a run that needs it is opened.
pub fn prepare_worktree_folder(repository: &GitRepository) -> Result<(), WorktreeError> {
    let folder = worktree_folder(repository);
    if USER_FOLDER.get().is_none() {
        refuse_links(repository, &folder)?;
    }
    fs::create_dir_all(&folder).map_err(file_error(&folder))
}

/// Copies the ignored files of `.worktreeinclude`; returns the paths that could not be copied.
fn copy_included(repository: &GitRepository, to: &Path) -> Result<Vec<String>, WorktreeError> {
    let mut copies = FileCopier::open(repository.top(), &[to], copy_options(CopyKind::Noted))?;
    let included = included_paths(repository.top(), |arguments, input| {
        repository.answer(arguments, &[], input)
    })?;
    for path in included {
        let is_link = repository.top().join(&path).is_symlink();
        if is_link {
            copies.not_copied.push(path.to_string_lossy().into_owned());
        } else if !path.starts_with(FOLDER) && to.join(&path).symlink_metadata().is_err() {
            copies.copy_noted(&path);
        }
    }
    Ok(copies.not_copied)
}

/// Paths of the ignored files of `.worktreeinclude`, from the top; `git` runs a command in that work tree.
pub(crate) fn included_paths(
    top: &Path,
    git: impl Fn(&[&str], &[u8]) -> Result<(i32, Vec<u8>), GitFailed>,
) -> Result<Vec<PathBuf>, GitFailed> {
    let list = top.join(INCLUDE);
    if !list.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return Ok(Vec::new());
    }
    let arguments = [
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        &format!("--exclude-from={}", list.display()),
    ];
    let (status, named) = git(&arguments, &[])?;
    if status != 0 {
        return Err(GitFailed::new(arguments.join(" "), top));
    }
    if named.is_empty() {
        return Ok(Vec::new());
    }
    // Exit status 1 says that none of them is ignored.
    let (_, ignored) = git(&["check-ignore", "-z", "--stdin"], &named)?;
    Ok(parts(&ignored).map(path_of).collect())
}

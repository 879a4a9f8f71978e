//! Making a group's worktree, so that an end between any two steps leaves nothing that stands in the way.

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

/// List of ignored files that a worktree gets, from the top.
const INCLUDE: &str = ".worktreeinclude";

/// A worktree that is ready to be worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedWorktree {
    /// Top folder.
    pub path: PathBuf,
    /// The branch that is checked out in it.
    pub branch: String,
    /// An existing whole one, from an earlier try: a worker may have worked in it.
    pub was_there: bool,
    /// Files that `.worktreeinclude` names, and that could not be copied.
    pub not_copied: Vec<String>,
}

/// Makes the worktree and the branch of a group at a commit. One that is there and whole is left as it
/// is; what an interrupted try left is taken away first, since no worker began there.
pub fn create_worktree(
    repository: &GitRepository,
    name: &WorkerName,
    base: &str,
) -> Result<CreatedWorktree, WorktreeError> {
    create(repository, name, base, false)
}

/// As [`create_worktree`], for a group that had a worktree before. Its branch is taken as it stands: it has the commits
/// of what was done there.
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
    let no_base = || WorktreeError::UnknownBase {
        commit: base.to_owned(),
    };
    if !is_object_name(base) {
        return Err(no_base());
    }
    let path = name.path(repository);
    let created = |was_there, not_copied| CreatedWorktree {
        path: path.clone(),
        branch: name.branch(),
        was_there,
        not_copied,
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
            return Ok(created(true, Vec::new()));
        }
        if is_whole {
            clear_locks(repository, name, &folder);
            remake(repository, &path, &folder)?;
            return Ok(created(false, copy_included(repository, &path)?));
        }
        delete_worktree(repository, &path)?;
    }
    refuse_taken(repository, &path)?;
    hide_worktrees(repository)?;
    // Only where there is none: the commit that it must not have is given in full.
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
            None if repository.commit_of(base)?.as_deref() != Some(base) => return Err(no_base()),
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
    // As git does it, but on its own: this takes long, and may go on in several worktrees at the same time.
    let checkout = ["reset", "--quiet", "--hard", "--no-recurse-submodules"];
    repository
        .seen_from_worktree(&path, &folder)
        .git(&checkout)?;
    remember_index(repository, &folder)?;
    let not_copied = copy_included(repository, &path)?;
    let ready = folder.join(READY);
    // In one step: half of the owner's name would be taken for another owner.
    let part = folder.join("omo-ready-part");
    fs::write(&part, name.owner_text()).map_err(file_error(&part))?;
    fs::rename(&part, &ready).map_err(file_error(&ready))?;
    Ok(created(false, not_copied))
}

/// Hides the worktrees from `git status` where they lie in the checkout.
fn hide_worktrees(repository: &GitRepository) -> Result<(), WorktreeError> {
    let folder = worktree_folder(repository);
    let Ok(below) = folder.strip_prefix(repository.top()) else {
        return Ok(());
    };
    let tree = repository.work_tree();
    add_exclude_line(tree, &format!("/{}/omo-*/", below.display()))
        .map_err(file_error(&exclude_file(tree)))
}

/// Makes the folder of a whole worktree again after it was removed: its files are written as they were staged, and its
/// branch stays where it is. In one step: if half of the files were missing, that would look like work of the next
/// worker.
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

/// Writes the file with which the folder of a worktree leads to git's own folder of it.
pub(super) fn write_dot_git(path: &Path, folder: &Path) -> Result<(), WorktreeError> {
    let text = [b"gitdir: ", folder.as_os_str().as_encoded_bytes(), b"\n"].concat();
    fs::write(path.join(".git"), text).map_err(file_error(path))
}

fn refuse_taken(repository: &GitRepository, path: &Path) -> Result<(), WorktreeError> {
    if git_folder_of(repository, path).is_some() {
        // A worktree without its files, whose git folder is there: what only git's folder holds has
        // to be kept first.
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if path
        .symlink_metadata()
        .is_ok_and(|found| !found.is_dir() || !is_empty())
    {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    refuse_links(repository, path)
}

/// Refuses a link in the place of the worktree, and one above it that the repository brings along: it leads wherever the
/// author of a commit wants. A link of the user's own, as those who manage their settings elsewhere have one in place of
/// `.claude`, is followed.
fn refuse_links(repository: &GitRepository, path: &Path) -> Result<(), WorktreeError> {
    if path.is_symlink() {
        return Err(WorktreeError::Taken {
            path: path.to_owned(),
        });
    }
    if USER_FOLDER.get().is_some() {
        // A place of the user's choice, in no repository.
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

/// Makes the folder that worktrees lie in: a run that cannot have any is not opened.
///
/// # Errors
///
/// A link or a file is in its place, or it cannot be made or written.
pub fn prepare_worktree_folder(repository: &GitRepository) -> Result<(), WorktreeError> {
    let folder = worktree_folder(repository);
    if USER_FOLDER.get().is_none() {
        refuse_links(repository, &folder)?;
    }
    fs::create_dir_all(&folder).map_err(file_error(&folder))
}

/// Copies what `.worktreeinclude` names and git ignores; gives what could not be copied.
fn copy_included(repository: &GitRepository, to: &Path) -> Result<Vec<String>, WorktreeError> {
    let mut copies = FileCopier::open(repository.top(), &[to], copy_options(CopyKind::Noted))?;
    let git = |arguments: &[&str], input: &[u8]| repository.answer(arguments, &[], input);
    for path in included_paths(repository.top(), git)? {
        let is_link = repository.top().join(&path).is_symlink();
        if is_link {
            copies.not_copied.push(path.to_string_lossy().into_owned());
        } else if !path.starts_with(FOLDER) && to.join(&path).symlink_metadata().is_err() {
            copies.copy_noted(&path);
        }
    }
    Ok(copies.not_copied)
}

/// The files, from the top, that `.worktreeinclude` names and git ignores. `git` gives what git says of that work tree.
pub(crate) fn included_paths(
    top: &Path,
    git: impl Fn(&[&str], &[u8]) -> Result<(i32, Vec<u8>), GitFailed>,
) -> Result<Vec<PathBuf>, GitFailed> {
    let list = top.join(INCLUDE);
    if !list.symlink_metadata().is_ok_and(|found| found.is_file()) {
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
    // 1 says that git ignores none of them.
    let (_, ignored) = git(&["check-ignore", "-z", "--stdin"], &named)?;
    Ok(parts(&ignored).map(path_of).collect())
}

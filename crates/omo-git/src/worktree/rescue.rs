//! Saves what a worktree alone holds, below `refs/omo/keep`, before it is removed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;
use serde::{Deserialize, Serialize};

use super::{DotGit, WorkerName, WorktreeError, copy_options, dot_git, file_error, git_folder_of};
use crate::file_copier::{CopyKind, CopyOptions, FileCopier};
use crate::git_output::parts;
use crate::kept_work::WorkToKeep;
use crate::made_folders::{BUILT, is_left_out};
use crate::platform::path_of;
use crate::repository::GitRepository;
use crate::worktree::state::{HeldWork, WorktreeState, populated_submodules};

/// Work of a worktree that was saved elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RescuedWork {
    pub reference: String,
    /// Commit of the files on the worktree's own commits; `None` where other references hold all.
    pub commit: Option<String>,
    /// Ignored files and inner repositories that were copied into the given folder.
    pub copied: Vec<String>,
    /// Files that could not be saved: the worktree has to stay.
    pub not_copied: Vec<String>,
}

/// Repository as seen from the group's worktree; any other thing in its place is refused.
pub(super) fn open_worktree(
    repository: &GitRepository,
    name: &WorkerName,
) -> Result<Option<GitRepository>, WorktreeError> {
    let path = name.path(repository);
    match git_folder_of(repository, &path) {
        Some(folder) if dot_git(&path, &folder) == DotGit::Foreign => {
            Err(WorktreeError::Taken { path })
        }
        folder => Ok(folder.map(|folder| repository.seen_from_worktree(&path, &folder))),
    }
}

pub(super) struct WorktreeHeads {
    pub(super) branch: Option<String>,
    commit: Option<String>,
    pub(super) tree: Option<String>,
}

impl WorktreeHeads {
    pub(super) fn read(inside: &GitRepository, name: &WorkerName) -> Result<Self, WorktreeError> {
        let branch = name.branch_reference();
        if let Some([branch, commit, tree]) = inside.resolve_all([
            &format!("{branch}^{{commit}}"),
            "HEAD^{commit}",
            "HEAD^{tree}",
        ])? {
            return Ok(Self {
                branch: Some(branch),
                commit: Some(commit),
                tree: Some(tree),
            });
        }
        let commit = inside.commit_of("HEAD")?;
        let tree = commit
            .as_deref()
            .map(|commit| inside.tree_of(commit))
            .transpose()?;
        Ok(Self {
            branch: inside.commit_of(&branch)?,
            commit,
            tree,
        })
    }
}

/// Keeps all that a worktree was seen to hold; ignored files, except for built ones, go into `files`, a folder for this
/// group alone. Repeated, it keeps what is new, and what was kept before.
pub(super) fn keep_work(
    repository: &GitRepository,
    name: &WorkerName,
    inside: &GitRepository,
    raw: &WorktreeState,
    heads: &WorktreeHeads,
    integrated: Option<&str>,
    files: &Path,
) -> Result<RescuedWork, WorktreeError> {
    let commit = keep_objects(repository, name, &raw.held, heads, integrated)?;
    let (mut paths, mut left_behind) = (Vec::new(), Vec::new());
    if inside.top().is_dir() {
        let list = [
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ];
        let ignored = inside.git(&list)?;
        let ignored = parts(&ignored).map(path_of);
        paths.extend(
            ignored
                .filter(|path| !is_built(path))
                .map(|path| (path, is_built as fn(&Path) -> bool)),
        );
    }
    for path in &raw.submodules {
        let folder = inside.top().join(path);
        // An own folder in place of a file: its whole history lies there.
        if !folder.join(".git").is_dir()
            && keep_submodule(repository, name, inside, &folder).is_none()
        {
            left_behind.push(path.to_string_lossy().into_owned());
        }
    }
    // A repository is kept as it is, builds and all.
    let whole_submodules = raw
        .submodules
        .iter()
        .filter(|path| inside.top().join(path).join(".git").is_dir());
    let whole = raw.nested.iter().chain(whole_submodules);
    paths.extend(whole.map(|path| (path.clone(), (|_| false) as fn(&Path) -> bool)));
    let mut saved = Vec::new();
    if !paths.is_empty() {
        fs::create_dir_all(files).map_err(file_error(files))?;
        let options = CopyOptions {
            known: Some(repository.top()),
            ..copy_options(CopyKind::Moved)
        };
        let mut copier = FileCopier::open(inside.top(), &[files], options)?;
        for (path, leaves_out) in paths {
            copier.options.leaves_out = leaves_out;
            copier.copy_noted(&path);
        }
        (saved, left_behind) = (copier.copied, [copier.not_copied, left_behind].concat());
    }
    Ok(RescuedWork {
        reference: name.keep_reference(),
        commit,
        copied: saved,
        not_copied: left_behind,
    })
}

fn is_built(path: &Path) -> bool {
    path.components()
        .filter_map(|part| part.as_os_str().to_str())
        .any(|name| name == "target" || is_left_out(name) && !BUILT.contains(&name))
}

fn keep_objects(
    repository: &GitRepository,
    name: &WorkerName,
    raw: &HeldWork,
    heads: &WorktreeHeads,
    integrated: Option<&str>,
) -> Result<Option<String>, WorktreeError> {
    let mut parents = Vec::new();
    for commit in heads.commit.iter().chain(&heads.branch).chain(&raw.commits) {
        if !parents.contains(commit) {
            parents.push(commit.clone());
        }
    }
    if let Some(integrated) = integrated
        && raw.tree == raw.staged
        && heads.tree.as_ref() == Some(&raw.tree)
        && repository.contains(integrated, &parents)?
    {
        return Ok(None);
    }
    make_keep_commit(repository, name, &parents, &raw.tree, Some(&raw.staged)).map(Some)
}

pub(super) fn keep_branch(
    repository: &GitRepository,
    name: &WorkerName,
    branch_at: &str,
    integrated: Option<&str>,
) -> Result<RescuedWork, WorktreeError> {
    let parents = vec![branch_at.to_owned()];
    let is_integrated = integrated
        .map(|within| repository.contains(within, &parents))
        .transpose()?
        .unwrap_or_default();
    // Work kept with the worktree holds more than the branch.
    let before = repository.commit_of(&name.keep_reference())?;
    let commit = match before {
        _ if is_integrated => None,
        Some(before) if repository.contains(&before, &parents)? => Some(before),
        _ => Some(make_keep_commit(
            repository,
            name,
            &parents,
            &repository.tree_of(branch_at)?,
            None,
        )?),
    };
    Ok(RescuedWork {
        reference: name.keep_reference(),
        commit,
        copied: Vec::new(),
        not_copied: Vec::new(),
    })
}

fn make_keep_commit(
    repository: &GitRepository,
    name: &WorkerName,
    parents: &[String],
    tree: &str,
    staged: Option<&str>,
) -> Result<String, WorktreeError> {
    let message = format!("What the worktree of {} held", name.branch());
    let work = WorkToKeep {
        name,
        tree,
        staged,
        message: &message,
    };
    let commit = work.keep(
        repository,
        |commit| repository.contains(commit, parents),
        || Ok(parents.to_vec()),
    )?;
    Ok(commit)
}

/// Fetches commits of a submodule, and of those within, from git's folder of the worktree into the main checkout's
/// repository of it; `None` without one, or with uncommitted files.
fn keep_submodule(
    repository: &GitRepository,
    name: &WorkerName,
    inside: &GitRepository,
    folder: &Path,
) -> Option<()> {
    let tree = GitWorktree::at(folder)?;
    let git_folder: PathBuf = tree.git.canonicalize().ok()?;
    let relative = git_folder.strip_prefix(inside.git_folder()).ok()?;
    let main_folder = repository.common().join(relative);
    let submodule = GitRepository::open_alone(folder, &git_folder)?;
    for inner in populated_submodules(folder, &submodule.git(&["ls-files", "-s", "-z"]).ok()?) {
        keep_submodule(repository, name, inside, &folder.join(inner))?;
    }
    // Inner submodules were looked at on their own, without programs of their settings.
    let status = [
        "status",
        "--porcelain",
        "--untracked-files=all",
        "--ignored",
        "--ignore-submodules=dirty",
    ];
    if !submodule.git(&status).ok()?.is_empty() {
        return None;
    }
    let main = GitRepository::open_alone(&main_folder, &main_folder)?;
    let kept = name.keep_reference();
    let (heads, head) = (
        format!("+refs/*:{kept}/refs/*"),
        format!("+HEAD:{kept}/HEAD"),
    );
    let from = git_folder.to_str()?;
    // Settings could lead the fetch elsewhere, through a program.
    let ways = [("GIT_ALLOW_PROTOCOL", OsStr::new("file"))];
    main.git_with(
        &[
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            from,
            &heads,
            &head,
        ],
        &ways,
        &[],
    )
    .ok()?;
    let forgotten = [
        "rev-list",
        "--max-count=1",
        "--reflog",
        "--not",
        "--all",
        "HEAD",
    ];
    submodule.git(&forgotten).ok()?.is_empty().then_some(())
}

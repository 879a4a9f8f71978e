//! `ProvedWorktree`: a folder that was checked to be the expected work tree. git searches upwards,
//! so in a worker's folder without `.git` it would find, and a restore would overwrite, the user's
//! checkout. Functions take this type instead of a path.

use std::fs;
use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use crate::repository::GitRepository;
use crate::tree_path::project_folder;
use crate::worktree::{DotGit, WorkerName, branch_of_worktree, dot_git, git_folder_of};

/// Reason for a work tree that is not the expected one; nothing in it was read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum WorktreeGone {
    /// The folder is missing, or a link.
    #[error("its worktree is gone: {} is not a folder any more", .0.display())]
    NoFolder(PathBuf),
    #[error("its worktree is gone: there is no git worktree in {} any more", .0.display())]
    NoGit(PathBuf),
    /// Another repository is there, or the repository has forgotten the worktree.
    #[error("its worktree is gone: the .git in {} is not that of the project", .0.display())]
    Foreign(PathBuf),
    #[error("its worktree is no longer its own: {} has {found} checked out and not {expected}; check that out again", path.display())]
    OtherBranch {
        path: PathBuf,
        /// Checked-out branch.
        found: String,
        expected: String,
    },
}

/// Checked work tree of a project or of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedWorktree {
    root: PathBuf,
    git: Option<GitWorktree>,
    /// `true` for a worker's worktree, which may vanish at any moment and is left alone then.
    is_worker: bool,
}

impl ProvedWorktree {
    /// The user's checkout around a project, if any. A missing folder has none: around it lies another checkout.
    pub fn of_project(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            git: GitWorktree::find(root).filter(|_| root.is_dir()),
            is_worker: false,
        }
    }

    /// The worktree of a worker at exactly this folder, known to the repository, and with the worker's branch.
    pub fn of_worker(
        repository: &GitRepository,
        name: &WorkerName,
        folder: &Path,
    ) -> Result<Self, WorktreeGone> {
        if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(WorktreeGone::NoFolder(folder.to_owned()));
        }
        let tree = GitWorktree::at(folder).ok_or_else(|| WorktreeGone::NoGit(folder.to_owned()))?;
        let known =
            git_folder_of(repository, folder).filter(|known| dot_git(folder, known) == DotGit::Own);
        if known.is_none() || !is_same_folder(&tree.common, repository.common()) {
            return Err(WorktreeGone::Foreign(folder.to_owned()));
        }
        let found = branch_of_worktree(repository, folder, &tree.git);
        if found.as_deref() != Some(name.branch().as_str()) {
            let found = found.unwrap_or_else(|| "no branch".to_owned());
            return Err(WorktreeGone::OtherBranch {
                path: folder.to_owned(),
                found,
                expected: name.branch(),
            });
        }
        Ok(Self {
            root: folder.to_owned(),
            git: Some(tree),
            is_worker: true,
        })
    }

    /// View of the worktree from a folder below its top.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        if folder.as_os_str().is_empty() {
            return self.clone();
        }
        Self {
            root: self.root.join(folder),
            ..self.clone()
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn has_git(&self) -> bool {
        self.git().is_some()
    }

    /// git's folders of the work tree; `None` without git, or for a lost worktree.
    pub fn git(&self) -> Option<&GitWorktree> {
        self.git
            .as_ref()
            .filter(|tree| !self.is_worker || dot_git(&tree.top, &tree.git) == DotGit::Own)
    }

    pub(crate) fn project(&self) -> Option<(&GitWorktree, String)> {
        let tree = self.git()?;
        Some((tree, project_folder(&self.root, tree)?))
    }

    pub fn repository(&self) -> Option<GitRepository> {
        GitRepository::of(self.git()?)
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

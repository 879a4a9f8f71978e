//! A work tree that was proved to be the one that is meant.
//!
//! git looks for its folder upwards. A worker's folder that lost its `.git` would be taken for the checkout of its user,
//! and taking back the worker's changes would take back the user's. So whatever reads or changes a work tree is given
//! this type, and no path.

use std::fs;
use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use crate::repository::GitRepository;
use crate::tree_path::project_folder;
use crate::worktree::{DotGit, WorkerName, branch_of_worktree, dot_git, git_folder_of};

/// Failure of `ProvedWorktree::of_worker`. Nothing in the folder or above it was read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum WorktreeGone {
    /// The folder is not there, or a link is in its place.
    #[error("its worktree is gone: {} is no folder any more", .0.display())]
    NoFolder(PathBuf),
    /// There is no `.git` in the folder.
    #[error("its worktree is gone: there is no work tree of git in {} any more", .0.display())]
    NoGit(PathBuf),
    /// Another repository has taken its place, or the repository has forgotten the worktree.
    #[error("its worktree is gone: the .git in {} is not that of the project", .0.display())]
    Foreign(PathBuf),
    /// Another branch is checked out.
    #[error("its worktree is no longer its own: {} has {found} checked out and not {expected}; check that out again", path.display())]
    OtherBranch {
        /// The worktree.
        path: PathBuf,
        /// Branch that is checked out.
        found: String,
        /// The branch of its worker.
        expected: String,
    },
}

/// The folder of a project in a work tree of git that was proved to be the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedWorktree {
    root: PathBuf,
    git: Option<GitWorktree>,
    /// A worker's, which may be lost at any moment: nothing is done with it from then on.
    is_worker: bool,
}

impl ProvedWorktree {
    /// The checkout of the user that a project lies in, found upwards from its folder. A project may lie in none, and one
    /// whose folder is gone does: what lies around that is another checkout.
    pub fn of_project(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            git: GitWorktree::find(root).filter(|_| root.is_dir()),
            is_worker: false,
        }
    }

    /// The worktree of a worker, at exactly this folder: the repository knows it there, its `.git` leads to that entry,
    /// and the branch of the worker is checked out in it.
    ///
    /// # Errors
    ///
    /// One of that is not so.
    pub fn of_worker(
        repository: &GitRepository,
        name: &WorkerName,
        folder: &Path,
    ) -> Result<Self, WorktreeGone> {
        if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
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

    /// The work tree, seen from a folder below its top.
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

    /// Folder of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `true` for a project in a work tree of git.
    pub fn has_git(&self) -> bool {
        self.git().is_some()
    }

    /// The work tree, where the project lies in one and that was not lost since.
    pub fn git(&self) -> Option<&GitWorktree> {
        let is_there =
            |tree: &&GitWorktree| !self.is_worker || dot_git(&tree.top, &tree.git) == DotGit::Own;
        self.git.as_ref().filter(is_there)
    }

    pub(crate) fn project(&self) -> Option<(&GitWorktree, String)> {
        let tree = self.git()?;
        Some((tree, project_folder(&self.root, tree)?))
    }

    /// `GitRepository`, seen from this work tree.
    pub fn repository(&self) -> Option<GitRepository> {
        GitRepository::of(self.git()?)
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

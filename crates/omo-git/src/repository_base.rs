//! Base of a repository in a project.

use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;

use crate::git_command::GitCalls;
use crate::recorded::{RecordedRun, RecordedWorktree};
use crate::tree::{Look, ScratchTree};

/// The earlier state of a repository.
pub(crate) enum RepositoryBase<'a> {
    /// Nothing: it was not there.
    Nothing,
    /// A commit.
    Commit(&'a str),
    /// The tree of a snapshot, and the folder of its objects.
    Kept { tree: &'a str, objects: &'a Path },
    /// The record of a run that began with it.
    Recorded {
        run: &'a RecordedRun<'a>,
        place: &'a RecordedWorktree,
        /// git's name of the tree.
        tree: String,
        /// Folders of its objects.
        objects: Vec<PathBuf>,
    },
}

impl<'a> RepositoryBase<'a> {
    /// The record of a run; `None` where it is gone.
    pub(crate) fn recorded(run: &'a RecordedRun<'a>, place: &'a RecordedWorktree) -> Option<Self> {
        let (tree, objects) = run.tree_of(place)?;
        Some(Self::Recorded {
            run,
            place,
            tree,
            objects,
        })
    }

    /// git's name of it; empty for nothing.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Commit(commit) => commit,
            Self::Kept { tree, .. } => tree,
            Self::Recorded { tree, .. } => tree,
        }
    }

    /// Folders that have what the repository's own objects lack of it.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        match self {
            Self::Nothing | Self::Commit(_) => Vec::new(),
            Self::Kept { objects, .. } => vec![objects.to_path_buf()],
            Self::Recorded { objects, .. } => objects.clone(),
        }
    }

    /// The recorded work tree, and the record that it belongs to.
    pub(crate) fn record(&self) -> Option<(&'a RecordedRun<'a>, &'a RecordedWorktree)> {
        if let Self::Recorded { run, place, .. } = self {
            Some((run, place))
        } else {
            None
        }
    }

    /// The base of one that lies in it; `was` is the commit that it was at. `None` where the record of it is gone.
    pub(crate) fn of_inner(&self, path: &Path, was: Option<&'a str>) -> Option<Self> {
        let Some((run, place)) = self.record() else {
            return Some(was.map_or(Self::Nothing, Self::Commit));
        };
        let inner = place.inner.iter().find(|(there, _)| there == path);
        // A repository that was not checked out.
        inner.map_or(Some(Self::Nothing), |(_, inner)| Self::recorded(run, inner))
    }

    /// Opens the work tree as it is now below `parts`, to be compared.
    pub(crate) fn open_scratch<'c>(
        &self,
        tree: &GitWorktree,
        state_home: &Path,
        calls: &'c GitCalls,
        parts: &[&str],
    ) -> Option<ScratchTree<'c>> {
        let scope = self.record().map(|(_, place)| &place.scope);
        ScratchTree::open(tree, state_home, calls, parts, Look::Fresh(scope))
    }
}

//! Earlier state of a repository, to compare its work tree with: a commit, snapshot or record.

use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;

use crate::git_command::GitCalls;
use crate::recorded::{RecordedRun, RecordedWorktree};
use crate::tree::{Look, ScratchTree};

/// Earlier state of a repository.
pub(crate) enum RepositoryBase<'a> {
    /// The repository did not exist.
    Nothing,
    Commit(&'a str),
    /// Tree of a snapshot, and the folder of its objects.
    Kept {
        tree: &'a str,
        objects: &'a Path,
    },
    Recorded {
        run: &'a RecordedRun<'a>,
        place: &'a RecordedWorktree,
        /// Tree id.
        tree: String,
        objects: Vec<PathBuf>,
    },
}

impl<'a> RepositoryBase<'a> {
    /// Base from a recorded run; `None` for a record that is gone.
    pub(crate) fn recorded(run: &'a RecordedRun<'a>, place: &'a RecordedWorktree) -> Option<Self> {
        let (tree, objects) = run.tree_of(place)?;
        Some(Self::Recorded {
            run,
            place,
            tree,
            objects,
        })
    }

    /// Id of the commit or tree; empty for `Nothing`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Commit(commit) => commit,
            Self::Kept { tree, .. } => tree,
            Self::Recorded { tree, .. } => tree,
        }
    }

    /// Folders of objects that the repository lacks.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        match self {
            Self::Nothing | Self::Commit(_) => Vec::new(),
            Self::Kept { objects, .. } => vec![objects.to_path_buf()],
            Self::Recorded { objects, .. } => objects.clone(),
        }
    }

    pub(crate) fn record(&self) -> Option<(&'a RecordedRun<'a>, &'a RecordedWorktree)> {
        if let Self::Recorded { run, place, .. } = self {
            Some((run, place))
        } else {
            None
        }
    }

    /// Base of an inner repository, which was at the commit `was`; `None` for a record that is gone.
    pub(crate) fn of_inner(&self, path: &Path, was: Option<&'a str>) -> Option<Self> {
        let Some((run, place)) = self.record() else {
            return Some(was.map_or(Self::Nothing, Self::Commit));
        };
        match place
            .inner
            .iter()
            .find(|(inner_path, _)| inner_path == path)
        {
            // A repository that was not checked out.
            None => Some(Self::Nothing),
            Some((_, inner)) => Self::recorded(run, inner),
        }
    }

    /// Opens the present work tree in a folder below `parts`, for a comparison.
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

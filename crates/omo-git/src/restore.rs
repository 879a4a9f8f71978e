//! `Snapshots::take_bytes` and `Snapshots::restore`: bytes, modes, links and index of a work tree, which never pass
//! through git and its filters. Not covered, and named in the result, are ignored files, inner repositories, and
//! anything but files and links. References stay.

mod bring_back;
mod index;
mod keep;
mod manifest;
mod snapshotter;
mod store;
mod worktree_files;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use serde::{Deserialize, Serialize};

use crate::kept_work::KeptWork;
use crate::repository::GitFailed;
use crate::snapshots::Snapshots;
use crate::tree_path::TreePath;
use crate::worktree::WorkerName;
use snapshotter::Snapshotter;

pub(crate) use self::index::{
    IndexEntries, differing_paths, read_index, read_index_and_untracked, restore_index_paths,
};
pub(crate) use self::manifest::RestoreSelection;
use self::manifest::restore_steps;
pub(crate) use self::store::SnapshotStore;
pub use bring_back::{BroughtBack, kept_changes};

/// Id of a snapshot, from `Snapshots::take_bytes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotId {
    id: String,
}

/// Differences that `Snapshots::restore` takes back.
#[derive(Clone, Copy, Debug)]
pub enum RestoreScope<'a> {
    /// All differences, in a work tree where no other process works.
    All,
    /// Differences up to this later snapshot, except for paths that changed again since.
    Until(&'a SnapshotId),
    /// `Until` for own paths alone, in a work tree where others work too.
    OwnUntil(&'a SnapshotId, OwnProjectPaths<'a>),
    /// Differences at or below these paths from the project's top.
    Paths(&'a [&'a str]),
}

/// Predicate for the paths of the caller's own work, from the project's top.
#[derive(Clone, Copy)]
pub struct OwnProjectPaths<'a>(pub &'a dyn Fn(&str) -> bool);

impl fmt::Debug for OwnProjectPaths<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OwnProjectPaths")
    }
}

/// Paths as [`crate::changes::PathChange::path`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreResult {
    pub put_back: Vec<String>,
    /// New paths, which were removed.
    pub removed: Vec<String>,
    /// Paths that changed again after the later snapshot.
    pub left_alone: Vec<String>,
    /// Differences of others, left alone.
    pub of_others: Vec<String>,
    /// Paths that are ignored, or in an inner repository.
    pub uncovered: Vec<String>,
    /// Reasons by path.
    pub failed: BTreeMap<String, String>,
    pub index_put_back: bool,
    /// Another commit is checked out, which stays.
    pub head_moved: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("{} is not in a git worktree, or git ignores it", .0.display())]
    NoWorkTree(PathBuf),
    #[error("git {0} failed, or took too long")]
    Git(&'static str),
    #[error(transparent)]
    Repository(#[from] GitFailed),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Refused before anything was touched.
    #[error("the snapshot is gone or damaged: {0} is missing")]
    SnapshotGone(String),
    /// Lock file of another git, which is at work or was killed; nothing was touched.
    #[error("{} exists: another git works in this repository, or one was ended; remove it once none does", .0.display())]
    IndexLocked(PathBuf),
    /// No name to keep files under; nothing was touched.
    #[error("what is taken back cannot be kept: {0}")]
    Unnamed(String),
    /// Refused before anything was touched.
    #[error("{0:?} is outside of the worktree")]
    Outside(String),
    #[error("{action} {}: {source}", .path.display())]
    Io {
        /// Such as `read`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl RestoreError {
    fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path: path.clone(),
            source,
        }
    }
}

impl Snapshots<'_> {
    /// Saves the bytes of the work tree and its index.
    pub fn take_bytes(&self) -> Result<SnapshotId, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let mut manifest = snapshotter
            .scan(|file| snapshotter.store.save_file(file))?
            .0;
        manifest.index = index::open_index(&snapshotter.tree)?
            .map(|file| snapshotter.store.save_file(file))
            .transpose()?;
        Ok(SnapshotId {
            id: snapshotter.store.save_manifest(&manifest)?,
        })
    }

    /// Takes differences in `scope` back to their state in `before`. Can be repeated after an end at any point.
    pub fn restore(
        &self,
        before: &SnapshotId,
        scope: RestoreScope<'_>,
    ) -> Result<RestoreResult, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let before = snapshotter.store.load_manifest(&before.id)?;
        snapshotter.with_selection(scope, |selection| {
            snapshotter.restore_to(&before, selection)
        })
    }

    /// Keeps the differences that [`Self::restore`] takes back under a name; `None` without any. Reads the snapshots
    /// alone, so that it can be repeated after a part was taken back.
    pub fn keep_difference(
        &self,
        before: &SnapshotId,
        after: &SnapshotId,
        own_paths: Option<OwnProjectPaths<'_>>,
        name: &WorkerName,
    ) -> Result<Option<KeptWork>, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let (before, later) = (
            snapshotter.store.load_manifest(&before.id)?,
            snapshotter.store.load_manifest(&after.id)?,
        );
        let scope = own_paths.map_or(RestoreScope::Until(after), |own_paths| {
            RestoreScope::OwnUntil(after, own_paths)
        });
        let steps =
            snapshotter.with_selection(scope, |scope| Ok(restore_steps(&before, &later, scope)))?;
        let paths: BTreeSet<TreePath> = steps.remove.into_iter().chain(steps.put).collect();
        let staged = snapshotter.with_selection(scope, |scope| {
            snapshotter.staged_since(&before, &later, scope)
        })?;
        if paths.is_empty() && staged.is_empty() {
            return Ok(None);
        }
        snapshotter
            .keep(
                name,
                &before.entries_at(&paths),
                &later.entries_at(&paths),
                &staged,
            )
            .map(Some)
    }
}

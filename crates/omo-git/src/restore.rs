//! Snapshots of a work tree that can be put back: the very bytes of its files, who may run them, links, and
//! the index with what was staged.
//!
//! A tree of git's (`changes`) says what differs, but filters stand between it and the files: line ends, and
//! whatever else a repository's attributes ask for. So the bytes are kept as they are, in the user's own state
//! folder, and never pass through git.
//!
//! Not covered, and told in the result: what git ignores, repositories within the work tree, and what is no
//! file and no link. References are left alone: a commit that was made meanwhile stays.

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

/// Id of a kept snapshot, by `Snapshots::take_bytes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotId {
    id: String,
}

/// Differences that `Snapshots::restore` takes back.
#[derive(Clone, Copy, Debug)]
pub enum RestoreScope<'a> {
    /// All of them, where no other process works.
    All,
    /// Differences up to this later snapshot. Later differences, and paths that were changed once
    /// more since, stay.
    Until(&'a SnapshotId),
    /// As `Until`, at the own paths alone, in a work tree in which others work too.
    OwnUntil(&'a SnapshotId, OwnProjectPaths<'a>),
    /// Differences at or below these paths from the project's top.
    Paths(&'a [&'a str]),
}

/// Tells the own paths, from the project's top, from those of others.
#[derive(Clone, Copy)]
pub struct OwnProjectPaths<'a>(pub &'a dyn Fn(&str) -> bool);

impl fmt::Debug for OwnProjectPaths<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OwnProjectPaths")
    }
}

/// Result of a restore. Paths are as in [`crate::changes::PathChange::path`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreResult {
    /// Paths with their old content.
    pub put_back: Vec<String>,
    /// Removed paths, which were not there before.
    pub removed: Vec<String>,
    /// Paths that were changed again after the later snapshot: left alone.
    pub left_alone: Vec<String>,
    /// Paths of others that differ: left alone.
    pub of_others: Vec<String>,
    /// Paths that cannot be put back: ignored, or in a repository within the work tree.
    pub uncovered: Vec<String>,
    /// Failed paths, each with the reason.
    pub failed: BTreeMap<String, String>,
    /// An index that was another one, and is as it was.
    pub index_put_back: bool,
    /// Another commit checked out than was: left so.
    pub head_moved: bool,
}

/// Failure of `Snapshots::restore`, in whole or in part.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// git keeps nothing here.
    #[error("{} lies in no work tree of git, or git ignores it", .0.display())]
    NoWorkTree(PathBuf),
    /// git gave no answer.
    #[error("git {0} failed, or took too long")]
    Git(&'static str),
    /// The repository cannot be read or written.
    #[error(transparent)]
    Repository(#[from] GitFailed),
    /// The state folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process is at it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Snapshot that is no longer there; nothing was touched.
    #[error("the snapshot is gone or damaged: {0} is missing")]
    SnapshotGone(String),
    /// Another git is at work, or one was ended in the middle; nothing was touched.
    #[error("{} exists: another git works in this repository, or one was ended; remove it once none does", .0.display())]
    IndexLocked(PathBuf),
    /// There is no name to keep files under; nothing was touched.
    #[error("what is taken back cannot be kept: {0}")]
    Unnamed(String),
    /// A path that was named lies outside of the work tree; nothing was touched.
    #[error("{0:?} lies outside of the work tree")]
    Outside(String),
    /// The system refused.
    #[error("{action} {}: {source}", .path.display())]
    Io {
        /// Action, such as `read`.
        action: &'static str,
        /// Path of the action.
        path: PathBuf,
        /// Error of the system.
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
    /// Keeps the present bytes of the work tree and its index.
    pub fn take_bytes(&self) -> Result<SnapshotId, RestoreError> {
        let it = Snapshotter::open(self)?;
        let mut manifest = it.scan(|file| it.store.save_file(file))?.0;
        manifest.index = index::open_index(&it.tree)?
            .map(|file| it.store.save_file(file))
            .transpose()?;
        Ok(SnapshotId {
            id: it.store.save_manifest(&manifest)?,
        })
    }

    /// Puts a snapshot back. It may be called again after it was ended at any point, or has failed.
    pub fn restore(
        &self,
        before: &SnapshotId,
        what: RestoreScope<'_>,
    ) -> Result<RestoreResult, RestoreError> {
        let it = Snapshotter::open(self)?;
        let before = it.store.load_manifest(&before.id)?;
        it.with_selection(what, |scope| it.restore_to(&before, scope))
    }

    /// Keeps what [`Self::restore`] takes back with the same arguments, under a name; `None` where that is nothing. It
    /// depends on the snapshots alone, so it may be called again after a part was taken back.
    pub fn keep_difference(
        &self,
        before: &SnapshotId,
        after: &SnapshotId,
        own: Option<OwnProjectPaths<'_>>,
        name: &WorkerName,
    ) -> Result<Option<KeptWork>, RestoreError> {
        let it = Snapshotter::open(self)?;
        let (before, kept) = (
            it.store.load_manifest(&before.id)?,
            it.store.load_manifest(&after.id)?,
        );
        let scope = own.map_or(RestoreScope::Until(after), |own| {
            RestoreScope::OwnUntil(after, own)
        });
        let steps = it.with_selection(scope, |scope| Ok(restore_steps(&before, &kept, scope)))?;
        let names: BTreeSet<TreePath> = steps.remove.into_iter().chain(steps.put).collect();
        let staged = it.with_selection(scope, |scope| it.staged_since(&before, &kept, scope))?;
        if names.is_empty() && staged.is_empty() {
            return Ok(None);
        }
        it.keep(
            name,
            &before.entries_at(&names),
            &kept.entries_at(&names),
            &staged,
        )
        .map(Some)
    }
}

//! Failure to move a branch.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::facts::UnfinishedOperation;
use crate::repository::GitFailed;

/// Failure of `land`. Nothing was touched.
#[derive(Debug, Error)]
pub enum LandError {
    /// Edits that are not committed are in the way.
    #[error("changes that are not committed are in the way: {}", paths.join(", "))]
    Dirty {
        /// Paths, sorted.
        paths: Vec<String>,
    },
    /// The branch is not where it was.
    #[error("the branch moved to {to} meanwhile")]
    Moved {
        /// Target of the branch.
        to: String,
    },
    /// An unfinished operation of the user.
    #[error("`{}` is under way", what.command())]
    OperationInProgress {
        /// Kind of operation.
        what: UnfinishedOperation,
    },
    /// No branch is checked out.
    #[error("no branch is checked out; check one out")]
    Detached,
    /// The branch has no commit.
    #[error("the branch has no commit yet")]
    Unborn,
    /// The new commit does not follow the old one.
    #[error("{new} does not follow {old}")]
    NotFollowing {
        /// Present commit of the branch.
        old: String,
        /// Commit that the branch should have.
        new: String,
    },
    /// Another git is at work, or was ended in the middle of it.
    #[error(
        "another git is at work in this checkout; if none is, remove {}",
        shown(paths)
    )]
    Locked {
        /// git's lock files.
        paths: Vec<PathBuf>,
    },
    /// The run was cancelled while its user's hook was asked.
    #[error("the run was cancelled")]
    Cancelled,
    /// The hook `reference-transaction` of its user refused the move.
    #[error("its hook `reference-transaction` refused that: {words}")]
    RefusedByHook {
        /// The hook's and git's own.
        words: String,
    },
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// A file could not be read or written.
    #[error("git's files of this checkout: {0}")]
    File(#[from] io::Error),
}

fn shown(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(" and ")
}

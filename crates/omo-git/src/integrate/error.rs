//! Reasons why the user's branch could not be moved.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::facts::UnfinishedOperation;
use crate::repository::GitFailed;

/// Reason for a branch that was not moved; nothing was touched.
#[derive(Debug, Error)]
pub enum LandError {
    /// Uncommitted edits are in the way.
    #[error("changes that are not committed are in the way: {}", paths.join(", "))]
    Dirty {
        /// Changed paths, sorted.
        paths: Vec<String>,
    },
    /// The branch moved meanwhile.
    #[error("the branch moved to {to} meanwhile")]
    Moved { to: String },
    /// The user has begun an operation and not ended it.
    #[error("`{}` is under way", what.command())]
    OperationInProgress { what: UnfinishedOperation },
    /// No branch is checked out.
    #[error("no branch is checked out; check one out")]
    Detached,
    #[error("the branch has no commit yet")]
    Unborn,
    #[error("{new} does not follow {old}")]
    NotFollowing {
        /// Present commit of the branch.
        old: String,
        /// New commit.
        new: String,
    },
    /// Another git is at work, or was killed.
    #[error(
        "another git is at work in this checkout; if none is, remove {}",
        shown(paths)
    )]
    Locked {
        /// git's lock files.
        paths: Vec<PathBuf>,
    },
    /// Cancelled while the user's hook was asked.
    #[error("the run was cancelled")]
    Cancelled,
    /// `reference-transaction` of the user.
    #[error("its hook `reference-transaction` refused that: {words}")]
    RefusedByHook { words: String },
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error("git's files of this checkout: {0}")]
    File(#[from] io::Error),
}

fn shown(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(" and ")
}

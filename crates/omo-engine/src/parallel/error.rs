//! Errors that keep a run from being driven, and that no person can be asked about.

use std::path::PathBuf;

use omo_git::integrate::MergeError;
use omo_git::remote::RemoteError;
use omo_git::repository::GitFailed;
use omo_git::worktree::WorktreeError;

use crate::RunStoreError;
use crate::work::EngineError;

/// Reason why a run cannot be driven. All done steps stand in the ledger.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// An error of the ledger, or of files made from it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An error of the ledger.
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
    /// An error of a work tree of omo.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// A failed merge.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A failed step of git.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// An error of a remote repository.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A run that lies in no repository any more.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// A file of a session that could not be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

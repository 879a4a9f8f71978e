//! What keeps a run from being driven that cannot be put to a person as a question.

use std::path::PathBuf;

use omo_git::integrate::MergeError;
use omo_git::remote::RemoteError;
use omo_git::repository::GitFailed;
use omo_git::worktree::WorktreeError;

use crate::RunStoreError;
use crate::work::EngineError;

/// Why a run cannot be driven. Everything that was done stands in the ledger.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The ledger, or what is made from it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The ledger.
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
    /// A work tree of omo.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Bringing two branches together.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A step of git.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// A remote repository.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// It lies in no repository any more.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// A file of a session could not be written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

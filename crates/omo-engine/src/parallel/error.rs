//! `DriveError`: errors that end the driver of a run, since no answer of a person would help.

use std::path::PathBuf;

use omo_git::integrate::MergeError;
use omo_git::remote::RemoteError;
use omo_git::repository::GitFailed;
use omo_git::worktree::WorktreeError;

use crate::RunStoreError;
use crate::work::EngineError;

#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error("{} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
}

//! `TaskListError`: a missing session or task, an unreadable file, or a failed folder, lock or run.

use std::path::PathBuf;

use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;

use crate::RunStoreError;

#[derive(Debug, thiserror::Error)]
pub enum TaskListError {
    #[error("there is no session {session}: {} is not there", .file.display())]
    NotFound { session: SessionId, file: PathBuf },
    #[error("session {session} has no task {}: {} is not there", sanitize(.task, 60), .file.display())]
    NoTask {
        session: SessionId,
        task: String,
        file: PathBuf,
    },
    #[error("{}: {problem}", .path.display())]
    File { path: PathBuf, problem: String },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Run(#[from] RunStoreError),
}

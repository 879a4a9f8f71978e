//! Why a task list could not be used.

use std::path::PathBuf;

use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;

use crate::RunStoreError;

/// Why a task list could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskListError {
    /// There is no such session.
    #[error("there is no session {session}: {} is not there", .file.display())]
    NotFound {
        /// Which one.
        session: SessionId,
        /// Where it would be.
        file: PathBuf,
    },
    /// The session has no such task.
    #[error("session {session} has no task {}: {} is not there", sanitize(.task, 60), .file.display())]
    NoTask {
        /// The session.
        session: SessionId,
        /// Which one.
        task: String,
        /// Where it would be.
        file: PathBuf,
    },
    /// The content or the name of a file is not that of a task list.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The problem, and its place in the file.
        problem: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process is writing, and does not get done.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The run that the session has could not be looked at.
    #[error(transparent)]
    Run(#[from] RunStoreError),
}

//! Errors of task lists.

use std::path::PathBuf;

use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;

use crate::RunStoreError;

/// Reason why a task list could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskListError {
    /// An unknown session.
    #[error("there is no session {session}: {} is not there", .file.display())]
    NotFound {
        /// Id of the session.
        session: SessionId,
        /// Path where it would be.
        file: PathBuf,
    },
    /// An unknown task of a session.
    #[error("session {session} has no task {}: {} is not there", sanitize(.task, 60), .file.display())]
    NoTask {
        /// Id of the session.
        session: SessionId,
        /// Id of the task.
        task: String,
        /// Path where it would be.
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
    /// A lock that another process holds for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// An error of the session's run.
    #[error(transparent)]
    Run(#[from] RunStoreError),
}

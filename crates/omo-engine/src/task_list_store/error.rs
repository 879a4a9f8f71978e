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
    /// A file does not have the form that it should have, or is no JSON.
    #[error("{}: {source}", .path.display())]
    Json {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: serde_json::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {what}", .path.display())]
    Invalid {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
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

//! Errors of the run store.

use std::path::PathBuf;

use omo_core::text::sanitize;
use omo_plan::id::InvalidId;
use omo_plan::refusal::VerbRefusal;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use omo_state::seal::KeyError;

use crate::ledger::BadLine;
use crate::state::LedgerError;

/// Reason why a run, or the folder of all runs, could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    /// No repository, to which a run must belong.
    #[error("{0} is in no git repository")]
    NoRepository(PathBuf),
    /// A folder of runs that cannot be used now. Runs are begun nowhere else: two ledgers of one repository would each
    /// know half of what happened.
    #[error("the runs of this repository are in {path}, which cannot be used: {source}")]
    Location {
        /// The folder.
        path: PathBuf,
        /// Cause.
        source: FolderError,
    },
    /// An unreadable record of where the runs of a repository are.
    #[error(
        "{path} does not say where the runs of {repository} are; remove it to have that found out again"
    )]
    LocationRecord {
        /// The record.
        path: PathBuf,
        /// The repository.
        repository: PathBuf,
    },
    /// A name from outside that no run can have.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// An unknown run.
    #[error("this repository has no run `{0}`")]
    NotFound(String),
    /// An unusable file.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A lock that another process holds for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// No key to seal with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Runs without the key that sealed them.
    #[error(
        "the runs in {0} are sealed with a key that is not there any more: none of them can be believed"
    )]
    NoKey(PathBuf),
    /// A ledger line that omo did not write there.
    #[error("{path} line {}: {}", .source.line, .source.what)]
    Line {
        /// The ledger.
        path: PathBuf,
        /// The line and its fault.
        source: BadLine,
    },
    /// Lines of omo whose events cannot have happened.
    #[error("{path}: {source}")]
    Ledger {
        /// The ledger.
        path: PathBuf,
        /// The event and its fault.
        source: LedgerError,
    },
    /// A ledger larger than the maximum that is read.
    #[error("the ledger {0} would become too large")]
    TooLarge(PathBuf),
    /// An invalid name of an output file.
    #[error("`{}` is no name for a log: letters, digits, `.`, `_` and `-`", sanitize(.0, 60))]
    LogName(String),
    /// An event that does not serialize.
    #[error("write an event: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reason why no event was written.
#[derive(Debug, thiserror::Error)]
pub enum TransactError {
    /// A verb that is refused now.
    #[error("{}", .0.message)]
    Refused(VerbRefusal),
    /// An error of the run store.
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
}

impl From<FolderError> for TransactError {
    fn from(error: FolderError) -> Self {
        Self::RunStore(error.into())
    }
}

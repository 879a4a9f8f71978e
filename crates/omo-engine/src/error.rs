//! Why a run, or the place of all of them, could not be used.

use std::path::PathBuf;

use omo_core::text::sanitize;
use omo_plan::id::InvalidId;
use omo_plan::refusal::VerbRefusal;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use omo_state::seal::KeyError;

use crate::ledger::BadLine;
use crate::state::LedgerError;

/// Why a run, or the place of all of them, could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    /// A run belongs to a repository, and there is none.
    #[error("{0} is in no git repository")]
    NoRepository(PathBuf),
    /// The runs of this repository were begun in a place that cannot be used now. They are begun nowhere
    /// else: two ledgers of one repository would each know half of what happened.
    #[error("the runs of this repository are in {path}, which cannot be used: {source}")]
    Location {
        /// Which place.
        path: PathBuf,
        /// What is in the way.
        source: FolderError,
    },
    /// The note of where the runs of a repository are is none.
    #[error("{path} does not say where the runs of {repository} are; remove it to have that found out again")]
    LocationRecord {
        /// The note.
        path: PathBuf,
        /// The repository.
        repository: PathBuf,
    },
    /// A name from outside that no run can have.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// There is no such run.
    #[error("this repository has no run `{0}`")]
    NotFound(String),
    /// A file could not be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process is writing, and does not get done.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is nothing to seal with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There are runs, and what they were sealed with is gone.
    #[error("the runs in {0} are sealed with a key that is not there any more: none of them can be believed")]
    NoKey(PathBuf),
    /// A line of a ledger is none that omo wrote there.
    #[error("{path} line {}: {}", .source.line, .source.what)]
    Line {
        /// The ledger.
        path: PathBuf,
        /// Which line, and what is wrong with it.
        source: BadLine,
    },
    /// The lines are omo's, and what they say cannot have happened.
    #[error("{path}: {source}")]
    Ledger {
        /// The ledger.
        path: PathBuf,
        /// Which event, and what is wrong with it.
        source: LedgerError,
    },
    /// A ledger would become larger than what is read.
    #[error("the ledger {0} would become too large")]
    TooLarge(PathBuf),
    /// A name that no file for output can have.
    #[error("`{}` is no name for a log: letters, digits, `.`, `_` and `-`", sanitize(.0, 60))]
    LogName(String),
    /// An event could not be put into words.
    #[error("write an event: {0}")]
    Json(#[from] serde_json::Error),
}

/// Why nothing was written down.
#[derive(Debug, thiserror::Error)]
pub enum TransactError {
    /// It may not happen now.
    #[error("{}", .0.message)]
    Refused(VerbRefusal),
    /// It could not be done.
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
}

impl From<FolderError> for TransactError {
    fn from(error: FolderError) -> Self {
        Self::RunStore(error.into())
    }
}

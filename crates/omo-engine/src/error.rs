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

#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    #[error("{0} is not in a git repository")]
    NoRepository(PathBuf),
    /// No run is begun elsewhere instead: two ledgers of one repository would each know half of what happened.
    #[error("the runs of this repository are in {path}, which cannot be used: {source}")]
    Location { path: PathBuf, source: FolderError },
    #[error(
        "{path} does not name the folder of the runs of {repository}; remove it, and omo finds it again"
    )]
    LocationRecord { path: PathBuf, repository: PathBuf },
    #[error(transparent)]
    Id(#[from] InvalidId),
    #[error("this repository has no run `{0}`")]
    NotFound(String),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(
        "the runs in {0} are sealed with a key that is not there any more: none of them can be believed"
    )]
    NoKey(PathBuf),
    /// A ledger line that omo did not write there.
    #[error("{path} line {}: {}", .source.line, .source.defect)]
    Line { path: PathBuf, source: BadLine },
    /// Lines of omo whose events cannot have happened.
    #[error("{path}: {source}")]
    Ledger { path: PathBuf, source: LedgerError },
    #[error("the ledger {0} would become too large")]
    TooLarge(PathBuf),
    #[error("`{}` is not a name for a log: letters, digits, `.`, `_` and `-`", sanitize(.0, 60))]
    LogName(String),
    #[error("write an event: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum TransactError {
    #[error("{}", .0.message)]
    Refused(VerbRefusal),
    #[error(transparent)]
    RunStore(#[from] RunStoreError),
}

impl From<FolderError> for TransactError {
    fn from(error: FolderError) -> Self {
        Self::RunStore(error.into())
    }
}

//! Whose word counts for a session: that of its files, or that of the run that was opened for it.

use std::path::{Path, PathBuf};

use omo_plan::task_list::TaskListFile;
use serde::{Deserialize, Serialize};

use crate::state::RunPhase;
use crate::{RunStore, RunStoreError};

/// The member of a session's file that names its run.
pub(crate) const RUN_MEMBER: &str = "omo_run";

/// The run of a session, as its file names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRef {
    /// What it is called.
    pub id: String,
    /// The top of the work tree that it is in.
    pub root: PathBuf,
}

/// The run that was opened for a session, whatever has become of it; `None` where none was.
pub fn run_of(session: &TaskListFile) -> Option<RunRef> {
    RunRef::deserialize(session.extra.get(RUN_MEMBER)?).ok()
}

/// Whether a run has not come to its end: until then what happens to the session is written down there.
pub fn is_open(run: &RunRef, state_home: Option<&Path>) -> Result<bool, RunStoreError> {
    let found = match RunStore::find(&run.root, state_home) {
        // The work tree is gone, and no session can go on with the run in there.
        Err(RunStoreError::NoRepository(_)) | Ok(None) => return Ok(false),
        Err(error) => return Err(error),
        Ok(Some(runs)) => runs.get(&run.id),
    };
    match found {
        Err(RunStoreError::NotFound(_) | RunStoreError::Id(_)) => Ok(false),
        Err(error) => Err(error),
        Ok(run) => Ok(run.state()?.phase == RunPhase::Executing),
    }
}

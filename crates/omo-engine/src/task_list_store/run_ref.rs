//! `RunRef`: reference from a task list's file to the run that was opened for it. Until that run
//! ends, its ledger has authority over the task list, and not the files.

use std::path::{Path, PathBuf};

use omo_plan::task_list::TaskListFile;
use serde::{Deserialize, Serialize};

use crate::state::RunPhase;
use crate::{RunStore, RunStoreError};

pub(crate) const RUN_MEMBER: &str = "omo_run";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRef {
    pub id: String,
    pub root: PathBuf,
}

/// The run that was opened for a session, in any state; `None` without one.
pub fn run_of(session: &TaskListFile) -> Option<RunRef> {
    RunRef::deserialize(session.extra.get(RUN_MEMBER)?).ok()
}

/// `true` while the run has not ended, and events of the task list are written to it.
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

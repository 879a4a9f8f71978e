//! A task list as its files have it, before there is a run of it.

use std::path::{Path, PathBuf};

use omo_core::session::id::SessionId;
use omo_engine::state::RunState;
use omo_plan::task_list::{TaskFile, TaskListFile};
use serde_json::Value;

use crate::error::CommandError;
use crate::task_list_files::task_list_store;

/// A task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedTaskList {
    /// What it is called.
    pub id: SessionId,
    /// Its folder.
    pub folder: PathBuf,
    /// What it says of itself.
    pub file: TaskListFile,
    /// Its tasks.
    pub tasks: Vec<TaskFile>,
}

impl LoadedTaskList {
    /// Reads it, and makes nothing, not even the file of its lock: the session may turn out not to be executed. A task
    /// that cannot be read is an error, and not left out.
    pub(crate) fn read(id: &SessionId) -> Result<Self, CommandError> {
        let folder = task_list_store()?.open(id)?;
        let file = folder.session()?;
        let found = folder.tasks()?.unwrap_or_default();
        if let Some(error) = found.unreadable.into_iter().next() {
            return Err(error.into());
        }
        Ok(Self { id: id.clone(), folder: folder.path().to_owned(), file, tasks: found.tasks })
    }

    /// Whether a run is one of this session.
    pub(crate) fn is_of_run(&self, state: &RunState) -> bool {
        state.is_task_list() && Path::new(&state.plan.source.path) == self.folder
    }

    /// Whether its own file says that no agent verifies it.
    pub(crate) fn skips_verification(&self) -> bool {
        self.file.options.extra.get("skip_verify") == Some(&Value::Bool(true))
    }
}

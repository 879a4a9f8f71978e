//! `TaskList`: a folder of JSON files, parsed from their names and bytes.

use crate::model::Plan;
use crate::task_list::rules::parse_task_id;
use crate::task_list::{TaskFile, TaskListFile, task_list_plan};

/// Task list with the contents of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskList {
    pub id: String,
    pub folder: String,
    /// Content of `session.json`.
    pub file: TaskListFile,
    /// Contents of `tasks/*.json`, sorted by id.
    pub tasks: Vec<TaskFile>,
}

impl TaskList {
    /// Plan of the tasks, with a verification behind them unless it is skipped.
    pub fn plan(&self, skips_verification: bool) -> Plan {
        let skips =
            skips_verification || self.file.options.extra.get("skip_verify") == Some(&true.into());
        task_list_plan(&self.file, &self.tasks, &self.folder, skips)
    }
}

/// Content of `session.json` in the folder `id`.
///
/// # Errors
///
/// Bytes that are no JSON of a session.
pub fn read_session(id: &str, bytes: &[u8]) -> Result<TaskListFile, String> {
    let mut session: TaskListFile =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if session.session_id.is_empty() {
        id.clone_into(&mut session.session_id);
    }
    Ok(session)
}

/// File name such as `2.json`; `None` for an invalid id.
pub fn task_file_name(id: &str) -> Option<String> {
    parse_task_id(id)
        .filter(|known| known == id)
        .map(|id| format!("{id}.json"))
}

/// Content of the file of task `id`.
///
/// # Errors
///
/// Bytes that are no JSON of a task, or that of another one.
pub fn read_task(id: &str, bytes: &[u8]) -> Result<TaskFile, String> {
    let task: TaskFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if !task.id.is_empty() && parse_task_id(&task.id).as_deref() != Some(id) {
        return Err("its id is that of another task".to_owned());
    }
    // Leading zeros are no part of a number.
    Ok(TaskFile {
        id: id.to_owned(),
        ..task
    })
}

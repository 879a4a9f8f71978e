//! The folder of a task list, read from the names and bytes of its files.

use crate::model::Plan;
use crate::task_list::rules::parse_task_id;
use crate::task_list::{TaskFile, TaskListFile, task_list_plan};

/// A session with its tasks, which is a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskList {
    /// Id of the session: the name of its folder.
    pub id: String,
    /// Path of the folder.
    pub folder: String,
    /// `session.json`.
    pub file: TaskListFile,
    /// `tasks/*.json`, in order.
    pub tasks: Vec<TaskFile>,
}

impl TaskList {
    /// The plan, with a verification behind its tasks unless that is skipped.
    pub fn plan(&self, skips_verification: bool) -> Plan {
        let skips =
            skips_verification || self.file.options.extra.get("skip_verify") == Some(&true.into());
        task_list_plan(&self.file, &self.tasks, &self.folder, skips)
    }
}

/// The session in the `session.json` of the folder `id`.
///
/// # Errors
///
/// The bytes are not JSON of a session.
pub fn read_session(id: &str, bytes: &[u8]) -> Result<TaskListFile, String> {
    let mut session: TaskListFile =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if session.session_id.is_empty() {
        id.clone_into(&mut session.session_id);
    }
    Ok(session)
}

/// Name of a task's file, such as `2.json`; `None` for an invalid id.
pub fn task_file_name(id: &str) -> Option<String> {
    parse_task_id(id)
        .filter(|known| known == id)
        .map(|id| format!("{id}.json"))
}

/// The task in the file of this id.
///
/// # Errors
///
/// The bytes are not JSON of a task, or of another one.
pub fn read_task(id: &str, bytes: &[u8]) -> Result<TaskFile, String> {
    let task: TaskFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if !task.id.is_empty() && parse_task_id(&task.id).as_deref() != Some(id) {
        return Err("it says that it is another task".to_owned());
    }
    // Leading zeros are no part of a number.
    Ok(TaskFile {
        id: id.to_owned(),
        ..task
    })
}

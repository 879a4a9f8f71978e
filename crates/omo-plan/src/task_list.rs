//! Task lists: goal, tasks and results as JSON files, which other programs read and write too.

pub mod criterion;
mod file_formats;
mod folder;
pub mod plan;
pub mod rules;
mod validate;

pub use file_formats::{
    ContextFile, ExplorerEntry, TaskFile, TaskFileStatus, TaskListDesign, TaskListFile,
    TaskListPhase, TaskListSettings,
};
pub use folder::{TaskList, read_session, read_task, task_file_name};
pub use plan::{task_from_file, task_list_plan};

/// Id of the task that verifies all others.
pub const VERIFY_TASK_ID: &str = "verify";

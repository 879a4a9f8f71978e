//! Task lists: a goal, its tasks and what became of them, in files that other programs read and write too.

pub mod criterion;
mod file_formats;
pub mod plan;
pub mod rules;
mod validate;

pub use file_formats::{
    ContextFile, ExplorerEntry, TaskFile, TaskFileStatus, TaskListDesign, TaskListFile, TaskListPhase, TaskListSettings,
};
pub use plan::{task_from_file, task_list_plan};

/// The task that verifies all others.
pub const VERIFY_TASK_ID: &str = "verify";

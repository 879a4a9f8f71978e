//! Task sessions: a goal, its tasks and what became of them, in files that other programs read and write too.

pub(crate) mod criterion;
mod files;
pub mod model_choice;
pub(crate) mod plan;
pub mod rules;
mod sound;
pub mod unfinished;

pub use files::{
    ContextFile, ExplorerEntry, TaskFile, TaskFileStatus, TaskListDesign, TaskListFile, TaskListPhase, TaskListSettings,
};
pub use plan::{VERIFY_TASK_ID, task_from_file, task_list_plan};

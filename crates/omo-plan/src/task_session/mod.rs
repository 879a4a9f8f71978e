//! Task sessions: a goal, its tasks and what became of them, in files that other programs read and write too.

pub(crate) mod criterion;
mod files;
mod model_choice;
pub(crate) mod plan;
pub mod rules;
mod sound;
mod unfinished;

pub use files::{
    ContextFile, ExplorerEntry, TaskFile, TaskFileStatus, TaskListDesign, TaskListFile, TaskListPhase, TaskListSettings,
};
pub use model_choice::choose_model;
pub use plan::{VERIFY_TASK_ID, import_events, task_from_file, task_list_plan};
pub use unfinished::{MAX_UNFINISHED_LINES, find_unfinished_lines};

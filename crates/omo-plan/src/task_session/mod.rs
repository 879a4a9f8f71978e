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
pub use model_choice::model;
pub use plan::{VERIFY, imported, plan, unit};
pub use unfinished::{MAX_UNFINISHED, unfinished};

//! Task sessions: a goal, its tasks and what became of them, in files that other programs read and write too.

mod files;
mod model_choice;
mod plan;
pub mod rules;
mod unfinished;

pub use files::{ContextFile, Explorer, Options, PlanPart, SessionFile, SessionPhase, TaskFile, TaskStatus};
pub use model_choice::model;
pub use plan::{VERIFY, plan, unit};
pub use unfinished::unfinished;

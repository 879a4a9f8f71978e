//! What people and workers read of a task list's run, made from its state alone: the screens, and the
//! briefs of workers and of the verifier.
//!
//! All of it is Markdown that can be read in a terminal as it is. What stands in a task is data: it is neutralised,
//! cut, and never ends the cell or the line that it stands in. What no command decided is never shown as checked.

pub mod brief;
mod evidence;
pub(super) mod final_report;
mod messages;
mod progress;
mod verifier;

use omo_plan::model::Task;

use crate::state::RunState;

pub use final_report::{final_report, final_report_block};
pub use progress::progress_screen;

/// The greatest length of a screen, in bytes: the block that it is shown in has at most 2 KiB, and words of its own.
pub const SCREEN_BYTES: usize = 1_900;
/// The greatest length of a brief, in bytes.
pub const BRIEF_BYTES: usize = 8_192;

/// What a worker of a task, or the verifier of them all, has to know, in Markdown.
pub fn brief(state: &RunState, task: &Task) -> String {
    if task.is_verification() { verifier::brief(state, task) } else { brief::brief(state, task) }
}

//! Texts about a task list's run as Markdown for a terminal: screens, and briefs of workers and
//! verifier. Text of a task is data: it is made harmless and cut, and never ends its cell or line.
//! A result that no command decided is never shown as checked.

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

/// Maximum bytes of a screen, which is shown in a block of 2 KiB with other words.
pub const SCREEN_BYTES: usize = 1_900;
pub const BRIEF_BYTES: usize = 8_192;

pub fn brief(state: &RunState, task: &Task) -> String {
    if task.is_verification() {
        verifier::brief(state, task)
    } else {
        brief::brief(state, task)
    }
}

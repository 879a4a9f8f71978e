//! Texts about a task list's run: the screens, and the briefs of workers and of the verifier, as Markdown for a
//! terminal. Text of a task is data: it is neutralised, cut, and never ends the cell or the line that it stands in. A
//! result that no command decided is never shown as checked.

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

/// Maximum bytes of a screen: the block that it is shown in has at most 2 KiB, and words of its own.
pub const SCREEN_BYTES: usize = 1_900;
pub const BRIEF_BYTES: usize = 8_192;

pub fn brief(state: &RunState, task: &Task) -> String {
    if task.is_verification() {
        verifier::brief(state, task)
    } else {
        brief::brief(state, task)
    }
}

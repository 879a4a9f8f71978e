//! What people and workers read of a task session's run, made from its state alone: the screens of seed 000, and the
//! briefs of workers and of the verifier.
//!
//! All of it is Markdown that can be read in a terminal as it is. What stands in a task is data: it is neutralised,
//! cut, and never ends the cell or the line that it stands in. What no command decided is never shown as checked.

mod brief;
mod end;
mod evidence;
mod progress;
mod start;
mod table;
mod verifier;
mod words;

use omo_plan::model::Unit;
use omo_plan::run::event::RunResult;
use omo_plan::run::state::{Phase, RunState, UnitStatus};
use omo_plan::task_session::SessionPhase;

pub use end::{finished, finished_block};
pub use progress::{iteration_line, progress, retry_lines};
pub use start::start_screen;

use words::is_verification;

/// The greatest length of a screen, in bytes: the block that it is shown in has at most 2 KiB, and words of its own.
pub const SCREEN_BYTES: usize = 1_900;
/// The greatest length of a brief, in bytes.
pub const BRIEF_BYTES: usize = 8_192;

/// What whoever works on a task, or verifies them all, has to know, in Markdown.
pub fn brief(state: &RunState, unit: &Unit) -> String {
    if is_verification(unit) { verifier::brief(state, unit) } else { brief::brief(state, unit) }
}

/// Where the session of a run stands, in the words of its file.
pub fn phase(state: &RunState) -> SessionPhase {
    match &state.phase {
        Phase::Cancelled { .. } => SessionPhase::Cancelled,
        Phase::Ended { result: RunResult::Complete } => SessionPhase::Complete,
        Phase::Ended { result: RunResult::CompletedWithFailures | RunResult::Failed } => SessionPhase::Failed,
        Phase::Executing if may_verify(state) => SessionPhase::Verification,
        Phase::Executing => SessionPhase::Execution,
    }
}

/// Whether the verification is worked on, or can be.
fn may_verify(state: &RunState) -> bool {
    let verification = state.plan.units.iter().find(|unit| is_verification(unit));
    verification.is_some_and(|unit| {
        let is_running = state.units.get(&unit.id).is_some_and(|known| known.status == UnitStatus::Running);
        is_running || unit.deps.iter().all(|id| state.lets_go_on(id))
    })
}

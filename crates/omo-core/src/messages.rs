//! Every sentence that omo says, to the model and to the user.
//!
//! To the model: facts with their source, no orders in capitals. To the user: one line that begins
//! with `[omo]`. None of them, pasted or echoed back, may count as a keyword or a claim; a test
//! feeds them all back.

pub mod check_changes;
pub mod checks;
pub mod client_settings;
mod continuation;
mod contract;
pub mod notification;
pub mod plan;
pub mod run_end;
pub mod run_start;
pub mod status_line;
pub mod status_report;
mod stopping;
#[cfg(test)]
mod tests;
pub mod usage;
pub mod why;

pub use continuation::{block_reason, let_through, run_resumed, run_resumed_context};
pub use contract::{
    CONTRACT_MARK, ContractForm, HoldState, contract, plan_mode_note, task_goes_on,
};
pub use stopping::{
    answers_question, awaits_answer, run_paused, run_stopped, run_stopped_context,
    run_stopped_outside, run_stopped_unwritten, stays_in_line, tokens_spent, user_said_stop,
    with_way_to_clear,
};

use crate::text::sanitize;

pub fn build_ready(version: &str, in_terminals: bool) -> String {
    let line = format!(
        "[omo] omo {version} is ready: from this prompt on the keyword `ulw` holds the session."
    );
    if in_terminals {
        return line;
    }
    format!(
        "{line} To find `omo` in a terminal, add to your shell's profile: {}",
        client_settings::PATH_LINE
    )
}

pub fn refusal_line(message: &str) -> String {
    format!("[omo] {}", sanitize(message, 400))
}

pub fn session_line(session: &crate::session::id::SessionId) -> String {
    format!("CLAUDE_SESSION_ID: {session}")
}

pub fn goal_is_on(condition: &str) -> String {
    format!(
        "[omo] /goal is on as well (\"{}\"): both continue this session; `/goal clear` ends it",
        sanitize(condition, 60)
    )
}

pub fn other_loop_found(path: &str) -> String {
    format!(
        "Another loop may be active here as well (`{path}`): two loops that continue the same session get in each other's way."
    )
}

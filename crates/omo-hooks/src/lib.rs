//! The hooks of omo: one program with a handler for each event of the client, over a shared `runtime`.
//!
//! A hook reads a JSON event, loads the state, decides, writes the state, and prints. It always
//! exits 0 within its time limit, with one valid answer on stdout or none.

mod plan_notice;
pub mod plan_runs;
pub mod prompt_source;
pub mod run_prompt;
pub mod runtime;

pub mod session_end;
pub mod session_start;
pub mod stop;
pub mod stop_failure;
mod stopped_outside;
pub mod subagent_stop;
pub mod user_prompt_submit;

use omo_core::session::HookEvent;

use crate::runtime::Handler;

pub fn handler_of(event: HookEvent) -> Handler {
    match event {
        HookEvent::SessionStart => session_start::handle,
        HookEvent::UserPromptSubmit => user_prompt_submit::handle,
        HookEvent::Stop => stop::handle,
        HookEvent::SubagentStop => subagent_stop::handle,
        HookEvent::StopFailure => stop_failure::handle,
        HookEvent::SessionEnd => session_end::handle,
    }
}

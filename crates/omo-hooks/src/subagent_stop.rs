//! `SubagentStop`: a subagent's turn ended. Says nothing, ever: anything said here would make the
//! subagent go on.

use omo_core::session::HookEvent;

use crate::edge::{Context, Hook, HookError};
use crate::input::Input;

/// The hook.
pub const HOOK: Hook = Hook { event: HookEvent::SubagentStop, handle };

fn handle(context: &Context, _input: &Input) -> Result<(), HookError> {
    context.update_armed(|_| {})
}

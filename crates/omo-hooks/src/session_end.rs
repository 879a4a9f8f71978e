//! `SessionEnd`: ends the run after `/clear`. Prints nothing: the client waits for about a second.

use omo_claude::hook_input::HookInput;
use omo_core::session::VerdictKind;

use crate::runtime::{HookContext, HookError};

/// `/clear` drops the conversation with its run; otherwise the session may be resumed.
pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    let cleared = input.reason.as_deref() == Some("clear");
    context.update_armed(|session| {
        if cleared {
            session.end_run(
                VerdictKind::Stopped,
                "the session was cleared".to_owned(),
                context.env.now,
            );
        }
    })
}

//! `StopFailure`: the turn ended in an API error. Silent; the run rests until the next prompt.

use omo_claude::hook_input::HookInput;
use omo_core::stop::api_error::{pause_reason, rest_reason};

use crate::runtime::{HookContext, HookError};

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    if let Some(session) = context.peek_if_active()? {
        context.read_and_count(input, &session);
    }
    let pause = input.error.as_deref().and_then(pause_reason);
    context.update_armed(|session| {
        if let Some(reason) = pause {
            session.pause(reason, context.env.now);
        }
        session.rest(
            rest_reason(input.error.as_deref()),
            Vec::new(),
            context.env.now,
        );
    })
}

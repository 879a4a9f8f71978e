//! Notice that `omo stop` ended a run from outside of its session, shown once at its next event.

use omo_core::messages;
use omo_core::session::Session;
use omo_state::files::lock::DEADLINE;
use omo_state::state::{CorruptPolicy, EntryChange};

use crate::runtime::{HookContext, HookError};

/// The notice; `None` without one, or if another process of this hook was first.
pub(crate) fn line(context: &HookContext, session: &Session) -> Result<Option<String>, HookError> {
    if !session.stop_continuation.is_untold {
        return Ok(None);
    }
    let Some(place) = context.session_entry()? else {
        return Ok(None);
    };
    let (is_first, _lock) = place.update(DEADLINE, CorruptPolicy::Refuse, |session| {
        let was_untold = std::mem::take(&mut session.stop_continuation.is_untold);
        (
            was_untold,
            if was_untold {
                EntryChange::Write
            } else {
                EntryChange::Keep
            },
        )
    })?;
    Ok(is_first.then(|| {
        messages::run_stopped_outside(session.stop_continuation.disabled_reason.as_deref())
    }))
}

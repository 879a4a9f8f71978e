//! `omo blocked`: an honest end, said from a shell.

use std::io::Write;

use omo_core::log_entry;
use omo_core::text::sanitize;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, EntryChange};

use crate::cli::BlockedOptions;
use crate::error::CommandError;
use crate::project::{Project, log_decision};

/// Writes down why the task cannot be done; the end of the turn then ends the run, visibly.
pub(crate) fn run(env: &ProcessEnv, options: &BlockedOptions) -> Result<(), CommandError> {
    let project = Project::find(env)?;
    let reason = sanitize(&options.reason, 300);
    if reason.is_empty() {
        return Err(CommandError::usage("a reason is needed", "omo blocked \"why it cannot be done\""));
    }
    let id = project.require_session(options.session.session.as_deref(), env)?;
    let folder = GuardedFolder::create_state(&project.root)?;
    let ((was_on, session), _lock) = state::update(&folder, &id, Project::state_update(env), |session| {
        if !session.is_armed() {
            return ((false, session.clone()), EntryChange::Keep);
        }
        session.ulw.said_blocked = Some(reason.clone());
        ((true, session.clone()), EntryChange::Write)
    })?;
    if !was_on {
        let message = format!("no ultrawork run is on in session {id}");
        return Err(CommandError::not_found(message, "`omo status` shows the sessions of this project"));
    }
    log_decision(
        &folder,
        &log_entry::new_entry(id.as_str(), &session, "cli", "blocked".to_owned(), "said to be blocked", env.now),
    );
    writeln!(anstream::stdout(), "{id}  the run ends as blocked when this turn ends: {reason}")?;
    Ok(())
}

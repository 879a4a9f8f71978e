//! `omo blocked REASON`: ends an ultrawork run whose task cannot be done, at its next stop.

use std::io::Write;

use clap::Args;
use omo_core::log_entry;
use omo_core::text::sanitize;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, EntryChange};

use crate::error::CommandError;
use crate::project::{Project, SessionOptions, log_decision};
use crate::repository_sessions::find_project;

const HELP: &str = "\
Example:
  omo blocked \"the database of the task does not exist\"

It is for the model, which may as well end its message with
`<promise>BLOCKED: the reason</promise>`. The run ends at the next stop.";

/// End the run honestly: say why the task cannot be done
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BlockedOptions {
    /// The reason why it cannot be done
    pub reason: String,
    #[command(flatten)]
    pub session: SessionOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &BlockedOptions) -> Result<(), CommandError> {
    let project = find_project(env, options.session.session.as_deref())?;
    let reason = sanitize(&options.reason, 300);
    if reason.is_empty() {
        return Err(CommandError::usage(
            "a reason is needed",
            "omo blocked \"why it cannot be done\"",
        ));
    }
    let id = project.require_session(env)?;
    let folder = GuardedFolder::create_state(&project.root)?;
    let ((was_on, session), _lock) =
        state::update(&folder, &id, Project::state_update(env), |session| {
            if !session.is_armed() {
                return ((false, session.clone()), EntryChange::Keep);
            }
            session.ulw.said_blocked = Some(reason.clone());
            ((true, session.clone()), EntryChange::Write)
        })?;
    if !was_on {
        let message = format!("no ultrawork run is on in session {id}");
        return Err(CommandError::not_found(
            message,
            "`omo status` shows the sessions of this project",
        ));
    }
    log_decision(
        &folder,
        &log_entry::new_entry(
            id.as_str(),
            &session,
            "cli",
            "blocked".to_owned(),
            "said to be blocked",
            env.now,
        ),
    );
    writeln!(
        anstream::stdout(),
        "{id}  the run ends as blocked when this turn ends: {reason}"
    )?;
    Ok(())
}

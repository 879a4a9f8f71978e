//! `omo why`: the last decision of omo, its rule, and what would change it.

use std::io::Write;

use clap::Args;
use omo_core::messages::why::{why, why_plan_waits};
use omo_core::session::id::SessionId;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;

use crate::context::{open_runs, session_entry};
use crate::error::CommandError;
use crate::project::{Project, own_session};
use crate::repository_sessions::find_project;

const HELP: &str = "\
Examples:
  omo why                  the last decision in this project
  omo why --session ID     the last one about a session";

/// Say why omo decided last as it did, and what would change it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct WhyOptions {
    /// Only about this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Prints the last decision about the named session, or this shell's own; without either, about any session.
pub(crate) fn run(env: &ProcessEnv, options: &WhyOptions) -> Result<(), CommandError> {
    let project = find_project(env, options.session.as_deref())?;
    let mut log = project
        .folder
        .as_ref()
        .map(decision_log::last_decisions)
        .transpose()?
        .unwrap_or_default();
    let session = project
        .named_session()
        .cloned()
        .map_or_else(|| own_session(env), |id| Ok(Some(id)))?;
    let last = match &session {
        Some(id) => log.remove(id.as_str()),
        None => log.into_values().max_by_key(|entry| entry.at),
    };
    let about = last.as_ref().map(|entry| entry.session.as_str());
    let is_armed = project
        .sessions()?
        .iter()
        .any(|(id, known)| Some(id.as_str()) == about && known.is_armed());
    let waits = waiting_run(&project, session.as_ref(), env)?;
    // The last decision may be about an earlier run.
    if let (Some(waits), false) = (waits, is_armed) {
        return Ok(writeln!(anstream::stdout(), "{waits}")?);
    }
    writeln!(anstream::stdout(), "{}", why(last.as_ref(), env.now))?;
    Ok(())
}

/// Text about a plan run of this work tree that waits for its user; runs of other sessions are skipped.
fn waiting_run(
    project: &Project,
    session: Option<&SessionId>,
    env: &ProcessEnv,
) -> Result<Option<String>, CommandError> {
    let mut found = open_runs(&project.root, env)?
        .into_iter()
        .filter(|(_, state)| {
            let holder = state.holder.session.as_deref();
            session.is_none_or(|own| holder.is_none_or(|holder| holder == own.as_str()))
        });
    Ok(found.find_map(|(run, state)| why_plan_waits(&session_entry(&run, &state))))
}

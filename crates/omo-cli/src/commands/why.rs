//! `omo why`: the last decision of omo, its rule, and what would change it.

use std::io::Write;

use clap::Args;
use omo_core::messages::why::why;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::project::own_session;
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

/// The last decision about the session that is named or that this shell belongs to, else about any.
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
    let last = match session {
        Some(id) => log.remove(id.as_str()),
        None => log.into_values().max_by_key(|entry| entry.at),
    };
    writeln!(anstream::stdout(), "{}", why(last.as_ref(), env.now))?;
    Ok(())
}

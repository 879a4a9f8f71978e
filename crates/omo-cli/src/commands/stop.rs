//! `omo stop`: stops holding sessions, from any terminal.

use std::io::Write;

use clap::Args;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::{log_entry, messages};
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::seal;
use omo_state::state::{self, EntryChange, StateError, sealed_plan_run};

use crate::config_problems::warn_about_config;
use crate::error::CommandError;
use crate::project::{Project, list_ids, log_decision, named_or_own_session};

const HELP: &str = "\
Examples:
  omo stop                           the only session that is on
  omo stop --all                     every session of this project
  omo stop --reason \"wrong branch\"   with a reason, which `omo status` shows

In the session itself `/omo:stop-continuation` does the same, and no model reads
it. Stopping works while a turn runs: its end is then let through.";

/// Stop a session, until its user types `ulw` again
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StopOptions {
    /// Which session, if not this shell's own or the only one on
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub session: Option<String>,
    /// Every session of this project
    #[arg(long)]
    pub all: bool,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Ends the runs that are meant, and says which.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, options: &StopOptions) -> Result<(), CommandError> {
    warn_about_config(config);
    let project = Project::find(env)?;
    let targets = targets(&project, env, options)?;
    let mut out = anstream::stdout().lock();
    if targets.is_empty() {
        writeln!(out, "No ultrawork run is on in {}.", project.root.display())?;
        return Ok(());
    }
    let folder = GuardedFolder::create_state(&project.root)?;
    for (id, (was_on, session)) in targets.iter().zip(stop(env, &folder, &targets, options.reason.as_deref())?) {
        let what = if was_on { "stopped" } else { "no run was on; it stays free" };
        let plan =
            sealed_plan_run::authentic_run(&session, id, env.state_home.as_deref()).filter(|plan| plan.is_open());
        let stays = plan.map(|plan| format!(". {}", messages::plan::stays_open(plan))).unwrap_or_default();
        writeln!(out, "{id}  {what} until its user types `ulw`{stays}")?;
    }
    Ok(())
}

/// Which sessions to stop. A state that cannot be read names none; then an id that was given is still
/// stopped, which moves the broken file aside.
fn targets(project: &Project, env: &ProcessEnv, options: &StopOptions) -> Result<Vec<SessionId>, CommandError> {
    if !options.all
        && let Some(id) = named_or_own_session(options.session.as_deref(), env)?
    {
        return Ok(vec![id]);
    }
    let armed: Vec<SessionId> =
        project.sessions()?.into_iter().filter(|(_, session)| session.is_armed()).map(|(id, _)| id).collect();
    if armed.len() > 1 && !options.all {
        let ids: Vec<&SessionId> = armed.iter().collect();
        let message = format!("{} sessions are on in this project", armed.len());
        return Err(CommandError::usage(message, format!("name one, or stop all with `--all`:\n{}", list_ids(&ids))));
    }
    Ok(armed)
}

/// Stops all of them at once, however many there are; tells of each whether a run was on, and how it
/// is now.
fn stop(
    env: &ProcessEnv,
    folder: &GuardedFolder,
    ids: &[SessionId],
    reason: Option<&str>,
) -> Result<Vec<(bool, Session)>, StateError> {
    let (stopped, _lock) = state::update_all(folder, ids, Project::state_update(env), |id, session: &mut Session| {
        let was_on = session.is_armed();
        // What is ended here needs no proof, and is sealed as it is then.
        seal::forget_unproved(env.state_home.as_deref(), id, session, env.now);
        session.stop_continuation(reason, env.now);
        // The session itself has nothing to say where it had no run.
        session.stop_continuation.is_untold = was_on;
        let entry = log_entry::new_entry(id.as_str(), session, "cli", "stop".to_owned(), "ended by its user", env.now);
        ((was_on, session.clone(), entry), EntryChange::Begin)
    })?;
    let noted = stopped.into_iter().map(|(was_on, session, entry)| {
        log_decision(folder, &entry);
        (was_on, session)
    });
    Ok(noted.collect())
}

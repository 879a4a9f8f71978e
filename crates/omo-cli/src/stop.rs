//! `omo stop`: stops holding sessions, from any terminal.

use std::io::Write;

use omo_core::log::{self, LogEntry};
use omo_core::session::Session;
use omo_core::session_id::SessionId;
use omo_core::words;
use omo_store::decisions;
use omo_store::env::Env;
use omo_store::folder::Folder;
use omo_store::plan_run;
use omo_store::seal;
use omo_store::state::{self, Change, StateError};

use crate::arguments::StopOptions;
use crate::failure::Failure;
use crate::project::{Project, list, named_or_own};

/// Ends the runs that are meant, and says which.
pub(crate) fn run(env: &Env, options: &StopOptions) -> Result<(), Failure> {
    let project = Project::find(env)?;
    let targets = targets(&project, env, options)?;
    let mut out = anstream::stdout().lock();
    if targets.is_empty() {
        writeln!(out, "No ultrawork run is on in {}.", project.root.display())?;
        return Ok(());
    }
    let folder = Folder::create(&project.root)?;
    for (id, (was_on, session)) in targets.iter().zip(stop(env, &folder, &targets, options.reason.as_deref())?) {
        let what = if was_on { "stopped" } else { "no run was on; it stays free" };
        let plan = plan_run::own(&session, id, env.state_home.as_deref()).filter(|plan| plan.is_open());
        let stays = plan.map(|plan| format!(". {}", words::plan::stays_open(plan))).unwrap_or_default();
        writeln!(out, "{id}  {what} until its user types `ulw`{stays}")?;
    }
    Ok(())
}

/// Which sessions to stop. A state that cannot be read names none; then an id that was given is still
/// stopped, which moves the broken file aside.
fn targets(project: &Project, env: &Env, options: &StopOptions) -> Result<Vec<SessionId>, Failure> {
    if !options.all
        && let Some(id) = named_or_own(options.session.as_deref(), env)?
    {
        return Ok(vec![id]);
    }
    let armed: Vec<SessionId> =
        project.sessions()?.into_iter().filter(|(_, session)| session.is_armed()).map(|(id, _)| id).collect();
    if armed.len() > 1 && !options.all {
        let ids: Vec<&SessionId> = armed.iter().collect();
        let message = format!("{} sessions are on in this project", armed.len());
        return Err(Failure::user(message, format!("name one, or stop all with `--all`:\n{}", list(&ids))));
    }
    Ok(armed)
}

/// Stops all of them at once, however many there are; tells of each whether a run was on, and how it
/// is now.
fn stop(
    env: &Env,
    folder: &Folder,
    ids: &[SessionId],
    reason: Option<&str>,
) -> Result<Vec<(bool, Session)>, StateError> {
    let (stopped, _lock) = state::update_all(folder, ids, Project::update(env), |id, session: &mut Session| {
        let was_on = session.is_armed();
        // What is ended here needs no proof, and is sealed as it is then.
        seal::forget_unproved(env.state_home.as_deref(), id, session, env.now);
        session.stop_continuation(reason, env.now);
        let entry = log::entry(id.as_str(), session, "cli", "stop".to_owned(), "ended by its user", env.now);
        ((was_on, session.clone(), entry), Change::Begin)
    })?;
    let noted = stopped.into_iter().map(|(was_on, session, entry)| {
        note(folder, &entry);
        (was_on, session)
    });
    Ok(noted.collect())
}

/// Writes a line into the decision log. What was done is done: a log that cannot be written gives a
/// warning, and no failure.
pub(crate) fn note(folder: &Folder, entry: &LogEntry) {
    if let Err(error) = decisions::append(folder, entry) {
        crate::say_warning(&format!("done, but not written into the decision log: {error}"));
    }
}

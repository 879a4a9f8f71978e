//! `omo stop`: lets go, from any terminal.

use std::io::Write;

use omo_core::log::{self, LogEntry};
use omo_core::session::Session;
use omo_core::session_id::SessionId;
use omo_store::decisions;
use omo_store::env::Env;
use omo_store::folder::Folder;
use omo_store::state::{self, Change, StateError};

use crate::arguments::StopOptions;
use crate::failure::Failure;
use crate::project::{Project, list, named_or_own};

/// Ends the runs that are meant, and says which.
pub fn run(env: &Env, options: &StopOptions) -> Result<(), Failure> {
    let project = Project::find(env)?;
    let targets = targets(&project, env, options)?;
    let mut out = anstream::stdout().lock();
    if targets.is_empty() {
        writeln!(out, "No ultrawork run is on in {}.", project.root.display())?;
        return Ok(());
    }
    let folder = Folder::create(&project.root)?;
    for id in &targets {
        let was_on = stop(env, &folder, id, options.reason.as_deref())?;
        let what = if was_on { "stopped" } else { "no run was on; it stays free" };
        writeln!(out, "{id}  {what} until its user types `ulw`")?;
    }
    Ok(())
}

/// Whom to stop. A state that cannot be read names nobody; then an id that was given is still
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

fn stop(env: &Env, folder: &Folder, id: &SessionId, reason: Option<&str>) -> Result<bool, StateError> {
    let ((was_on, session), _lock) = state::update(folder, id, Project::update(env), |session: &mut Session| {
        let was_on = session.is_armed();
        session.stop_continuation(reason, env.now);
        ((was_on, session.clone()), Change::Write)
    })?;
    let entry = log::entry(id.as_str(), &session, "cli", "stop".to_owned(), "ended by its user", env.now);
    note(folder, &entry);
    Ok(was_on)
}

/// Writes a line into the decision log. What was done is done: a log that cannot be written is
/// told, and keeps nobody held.
pub fn note(folder: &Folder, entry: &LogEntry) {
    if let Err(error) = decisions::append(folder, entry) {
        let style = anstyle::AnsiColor::Yellow.on_default().bold();
        anstream::eprintln!("{style}warning:{style:#} done, but not written into the decision log: {error}");
    }
}

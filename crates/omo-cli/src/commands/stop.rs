//! `omo stop`: turns ultrawork off in sessions of the repository, from any terminal.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use omo_core::messages::plan::run_answer::{CancelledBy, still_at_work};
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::{log_entry, messages};
use omo_engine::RunStore;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::seal;
use omo_state::state::{self, EntryChange, StateError, sealed_plan_run};

use crate::commands::run::cancel::{CancelReader, RunCancelOptions, cancel};
use crate::config_problems::warn_about_config;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::parallel_workers::cleanup::CLEANUP_TIMEOUT;
use crate::project::{Project, log_decision, own_session, parse_session_id, warn_about_unreadable};
use crate::repository_sessions::{RepositorySessions, SessionFolder};
use crate::run_arguments::RunOptions;
use crate::runs_at_work::runs_at_work;

const HELP: &str = "\
Examples:
  omo stop                           every session of this repository
  omo stop --session 4f1c            the one whose id begins like that
  omo stop --reason \"wrong branch\"   with a reason, which `omo status` shows

It looks in every worktree of the repository, and in each folder that a client
was started in. In a session's own shell it stops that session alone, and every
one with `--all`. In the session `/omo:stop-continuation` does the same, and no
model reads it. Stopping works while a turn runs: its end is then let through.
A plan run that a terminal works on is cancelled, as `omo run cancel` does.";

/// Stop the sessions of this repository, until `ulw` is typed again
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StopOptions {
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub session: Option<String>,
    /// Every session, also from the shell of one
    #[arg(long)]
    pub all: bool,
    /// The reason, for the record
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &StopOptions,
) -> Result<(), CommandError> {
    warn_about_config(config);
    let mut sessions = RepositorySessions::read(env)?;
    let targets = targets(&sessions, env, options)?;
    let own_root = sessions
        .folders
        .first()
        .map(|folder| folder.root.clone())
        .unwrap_or_default();
    let (mut lines, mut failure) = (Vec::new(), None);
    // An error in one folder does not hold up the others.
    for (root, ids) in &targets {
        let place = if *root == own_root {
            String::new()
        } else {
            format!(" (in {})", root.display())
        };
        match stop(env, root, ids, options.reason.as_deref()) {
            Ok(stopped) => {
                lines.extend(
                    ids.iter()
                        .zip(&stopped)
                        .map(|(id, stopped)| stopped_line(env, id, stopped) + &place),
                );
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if options.session.is_none() {
        failure = failure.or_else(|| sessions.unreadable.pop().map(|(_, error)| error));
    }
    if targets.is_empty() && failure.is_none() {
        lines.push(none_is_on(&sessions.looked_at()));
    }
    if options.session.is_none() {
        let ends = options.all || own_session(env)?.is_none();
        let reason = ends.then(|| options.reason.as_deref().unwrap_or("by its user"));
        lines.extend(plan_run_lines(env, &own_root, reason));
    }
    let mut out = anstream::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}

fn stopped_line(env: &ProcessEnv, id: &SessionId, (was_on, session): &(bool, Session)) -> String {
    let state_words = if *was_on {
        "stopped"
    } else {
        "no run was on; it stays free"
    };
    let plan = sealed_plan_run::authentic_run(session, id, env.state_home.as_deref())
        .filter(|plan| plan.is_open());
    let stays = plan
        .map(|plan| format!(". {}", messages::plan::stays_open(plan)))
        .unwrap_or_default();
    format!("{id}  {state_words} until its user types `ulw`{stays}")
}

/// Lines about plan runs at work. With a reason, cancels those that a terminal works on, which no session would end.
/// Errors here keep no session from being stopped.
fn plan_run_lines(env: &ProcessEnv, root: &Path, reason: Option<&str>) -> Vec<String> {
    let Some(runs) = RunStore::find(root, env.state_home.as_deref())
        .ok()
        .flatten()
    else {
        return Vec::new();
    };
    let context = reason.and_then(|_| CommandContext::find(env).ok());
    let mut lines = Vec::new();
    for (id, at_work) in runs_at_work(&runs, |_| true).unwrap_or_default() {
        let cancelled = context
            .as_ref()
            .zip(reason)
            .and_then(|(context, reason)| cancel_run_of_terminal(context, &runs, &id, reason));
        lines
            .push(cancelled.unwrap_or_else(|| still_at_work(&id, &at_work, CancelledBy::Terminal)));
    }
    lines
}

fn cancel_run_of_terminal(
    context: &CommandContext,
    runs: &RunStore,
    id: &str,
    reason: &str,
) -> Option<String> {
    let state = runs.get(id).ok()?.state().ok()?;
    if state.parallel.is_some() || state.holder.session.is_some() {
        return None;
    }
    let run = RunOptions {
        run: Some(id.to_owned()),
    };
    let options = RunCancelOptions {
        run: run.into(),
        reason: reason.to_owned(),
    };
    cancel(context, &options, CLEANUP_TIMEOUT, CancelReader::Terminal).ok()
}

fn none_is_on(looked_at: &[String]) -> String {
    match looked_at {
        [only] => format!("No ultrawork run is on in {only}."),
        several => format!(
            "No ultrawork run is on in this repository. Looked in:\n  {}",
            several.join("\n  ")
        ),
    }
}

fn targets(
    sessions: &RepositorySessions,
    env: &ProcessEnv,
    options: &StopOptions,
) -> Result<Vec<(PathBuf, Vec<SessionId>)>, CommandError> {
    if let Some(typed) = &options.session {
        return match (sessions.find(typed, env)?, sessions.unreadable.first()) {
            (Some(id), _) => Ok(targets_of_session(sessions, &id)),
            // An unreadable state names no session: the typed one is stopped, which moves the broken file aside.
            (None, Some((root, _))) => Ok(vec![(root.clone(), vec![parse_session_id(typed)?])]),
            (None, None) => Err(sessions.not_found(typed)),
        };
    }
    if let (false, Some(id)) = (options.all, own_session(env)?) {
        return Ok(targets_of_session(sessions, &id));
    }
    let targets = sessions.folders.iter().map(|folder| {
        warn_about_unreadable(&folder.unreadable);
        (folder.root.clone(), folder.armed.clone())
    });
    Ok(targets.filter(|(_, armed)| !armed.is_empty()).collect())
}

fn targets_of_session(
    sessions: &RepositorySessions,
    id: &SessionId,
) -> Vec<(PathBuf, Vec<SessionId>)> {
    let mut folders: Vec<&SessionFolder> = sessions
        .folders
        .iter()
        .filter(|folder| folder.armed.contains(id))
        .collect();
    if folders.is_empty() {
        folders.extend(
            sessions
                .folders_of(id)
                .next()
                .or_else(|| sessions.folders.first()),
        );
    }
    folders
        .into_iter()
        .map(|folder| (folder.root.clone(), vec![id.clone()]))
        .collect()
}

fn stop(
    env: &ProcessEnv,
    root: &Path,
    ids: &[SessionId],
    reason: Option<&str>,
) -> Result<Vec<(bool, Session)>, StateError> {
    let folder = &GuardedFolder::create_state(root)?;
    let by_person = !env.in_session && std::io::stdin().is_terminal();
    let (stopped, _lock) = state::update_all(
        folder,
        ids,
        Project::state_update(env),
        |id, session: &mut Session| {
            let was_on = session.is_armed();
            // A run ended here needs no proof; it is sealed as it is.
            seal::forget_unproved(env.state_home.as_deref(), id, session, env.now);
            session.stop_continuation(reason, by_person, env.now);
            session.stop_continuation.is_untold = was_on;
            let entry = log_entry::new_entry(
                id.as_str(),
                session,
                "cli",
                "stop".to_owned(),
                if by_person {
                    "ended by you"
                } else {
                    "ended by a command"
                },
                env.now,
            );
            ((was_on, session.clone(), entry), EntryChange::Begin)
        },
    )?;
    let noted = stopped.into_iter().map(|(was_on, session, entry)| {
        log_decision(folder, &entry);
        (was_on, session)
    });
    Ok(noted.collect())
}

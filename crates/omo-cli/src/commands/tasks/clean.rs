//! `omo tasks clean`: removes sessions with all of their files.

use clap::Args;
use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::task_list_store::{LockedTaskList, TaskListFolder, TaskListStore};
use omo_plan::task_list::{TaskListFile, TaskListPhase};
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption};
use crate::task_list_note;

const HELP: &str = "\
Examples:
  omo tasks clean --session 4f1c9a   this one, whatever its phase
  omo tasks clean --older-than 30    those that were over 30 days ago

A session whose run is open is never removed; `omo run cancel` ends a run.";

/// Shorter than clap's usage of the group, which does not fit a screen.
const USAGE: &str = "\
omo tasks clean --session ID | --older-than DAYS
       omo tasks clean --completed | --cancelled | --all";

/// Remove task lists with all of their files
#[derive(Debug, Args)]
#[command(after_help = HELP, override_usage = USAGE)]
#[group(required = true, multiple = false)]
pub(crate) struct CleanOptions {
    /// This session, whatever its phase
    #[arg(long, short, value_name = "ID")]
    pub session: Option<String>,
    /// Every session that is complete
    #[arg(long)]
    pub completed: bool,
    /// Every session that was cancelled
    #[arg(long)]
    pub cancelled: bool,
    /// Those that are over, in whatever way, and unchanged for this many days
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
    pub older_than: Option<u32>,
    /// Every session, also those that go on
    #[arg(long)]
    pub all: bool,
}

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) fn run(env: &ProcessEnv, options: &CleanOptions) -> Result<(), CommandError> {
    let sessions = task_list_files::task_list_store()?;
    if options.session.is_some() {
        let id = task_list_files::known_task_list_id(
            &TaskListOption {
                session: options.session.clone(),
            },
            env,
        )?;
        return remove_task_list(env, &sessions, &id);
    }
    let (mut removed, mut kept) = (0, 0);
    for id in sessions.ids()? {
        let found = sessions
            .open(&id)
            .and_then(TaskListFolder::lock)
            .map_err(CommandError::from);
        let is_removed = found.and_then(|locked| {
            let session = locked.session()?;
            let is_removable = is_selected(options, &session, &locked, env)
                && task_list_files::open_run_of(&session, env)?.is_none();
            if is_removable {
                remove(env, &sessions, &locked, Some(&session))?;
            }
            Ok(is_removable)
        });
        match is_removed {
            Ok(true) => removed += 1,
            Ok(false) => kept += 1,
            Err(failure) => {
                kept += 1;
                crate::output::print_warning(&format!("session {id} stays: {}", failure.message()));
            }
        }
    }
    task_list_files::print(&format!("{removed} removed, {kept} kept"))
}

fn remove_task_list(
    env: &ProcessEnv,
    sessions: &TaskListStore,
    id: &SessionId,
) -> Result<(), CommandError> {
    let path = sessions.path(id);
    if std::fs::symlink_metadata(&path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        return Err(CommandError::not_found(
            format!("there is no session {id}"),
            "`omo tasks list` names them",
        ));
    }
    let locked = sessions.open(id)?.lock()?;
    // Naming an unreadable session is a reason more to remove it.
    let session = locked.session().ok();
    if let Some(session) = &session {
        task_list_files::require_no_open_run(session, env, "`omo run cancel` ends the run")?;
    }
    remove(env, sessions, &locked, session.as_ref())
}

fn remove(
    env: &ProcessEnv,
    sessions: &TaskListStore,
    locked: &LockedTaskList,
    session: Option<&TaskListFile>,
) -> Result<(), CommandError> {
    sessions.remove(locked)?;
    let shown = session.map(|session| {
        task_list_note::forget_note(env, locked.id().as_str(), &session.working_dir);
        format!(
            " ({}): {}",
            session.phase.word(),
            sanitize(&session.goal, 100)
        )
    });
    task_list_files::print(&format!(
        "removed session {}{}",
        locked.id(),
        shown.unwrap_or_default()
    ))
}

fn is_selected(
    options: &CleanOptions,
    session: &TaskListFile,
    locked: &LockedTaskList,
    env: &ProcessEnv,
) -> bool {
    match session.phase {
        _ if options.all => true,
        TaskListPhase::Complete if options.completed => true,
        TaskListPhase::Cancelled if options.cancelled => true,
        phase => {
            phase.is_over()
                && options
                    .older_than
                    .is_some_and(|days| is_old(session, locked, days, env.now))
        }
    }
}

fn is_old(session: &TaskListFile, locked: &LockedTaskList, days: u32, now: Timestamp) -> bool {
    let written = locked
        .written_at()
        .map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1_000)));
    // A file that was copied or edited is as new as that change.
    let changed = Timestamp::parse(&session.updated_at).max(written);
    let age = changed.and_then(|changed| now.millis_since(changed));
    age.is_some_and(|age| age > i64::from(days).saturating_mul(DAY_MILLIS))
}

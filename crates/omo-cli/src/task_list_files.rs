//! Common parts of the commands on task lists. Every error but wrong usage exits with 1.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::Args;
use clap::error::ErrorKind;
use omo_core::session::id::SessionId;
use omo_core::text::{pluralize, sanitize};
use omo_engine::task_list_store::{self, LoadedTasks, RunRef, TaskListFolder, TaskListStore};
use omo_plan::task_list::{self, TaskFile, TaskFileStatus, TaskListFile, rules};
use omo_state::env::{self, ProcessEnv};
use serde::Serialize;
use serde_json::Value;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::id_prefix::{IdMatch, ambiguous_id, match_id};
use crate::output;
use crate::project::{own_session, parse_session_id};

const FAILED: ExitKind = ExitKind::NotGreen;

pub(crate) fn with_failed_status(failure: CommandError) -> CommandError {
    if failure.kind == ExitKind::Success {
        failure
    } else {
        failure.with_kind(FAILED)
    }
}

pub(crate) fn usage_status(error: &clap::Error, words: impl IntoIterator<Item = OsString>) -> u8 {
    let mut words = words.into_iter();
    let is_of_sessions = words.next().is_some_and(|word| {
        word == "tasks"
            || word == "agent" && {
                let verb = words.next();
                ["tasks", "task", "context"]
                    .iter()
                    .any(|known| verb.as_deref() == Some(OsStr::new(known)))
            }
    });
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
        // An invalid or missing value: the programs that these commands replace exited with 1 for it.
        ErrorKind::InvalidValue
        | ErrorKind::ValueValidation
        | ErrorKind::MissingRequiredArgument
        | ErrorKind::ArgumentConflict
        | ErrorKind::InvalidUtf8
            if is_of_sessions =>
        {
            FAILED.code()
        }
        _ => ExitKind::Usage.code(),
    }
}

pub(crate) fn task_list_store() -> Result<TaskListStore, CommandError> {
    let home = env::client_home().ok_or_else(|| {
        CommandError::precondition(
            "the folder of the client's own files is not known",
            "set CLAUDE_CONFIG_DIR",
        )
    })?;
    Ok(TaskListStore::in_client_home(&home))
}

pub(crate) fn task_list_id(
    which: &TaskListOption,
    env: &ProcessEnv,
) -> Result<SessionId, CommandError> {
    which
        .session
        .as_deref()
        .map_or_else(|| own_session(env), |id| parse_session_id(id).map(Some))?
        .ok_or_else(|| CommandError::usage("no session is named", "name one: `--session ID`"))
}

/// Id of an existing task list, from a unique prefix. An unknown prefix stays as typed, for the caller's error.
pub(crate) fn known_task_list_id(
    which: &TaskListOption,
    env: &ProcessEnv,
) -> Result<SessionId, CommandError> {
    let id = task_list_id(which, env)?;
    let store = task_list_store()?;
    // The store does not list an unreadable task list, which can still be removed by its full name.
    if which.session.is_none() || store.path(&id).symlink_metadata().is_ok() {
        return Ok(id);
    }
    let known_ids = store.ids()?;
    match match_id(id.as_str(), known_ids.iter().map(SessionId::as_str)) {
        IdMatch::One(known) => parse_session_id(known),
        IdMatch::None => Ok(id),
        IdMatch::Several(ids) => Err(ambiguous_id(id.as_str(), "task lists", "--session", &ids)),
    }
}

pub(crate) fn open_task_list(
    options: &TaskListOption,
    env: &ProcessEnv,
) -> Result<TaskListFolder, CommandError> {
    Ok(task_list_store()?.open(&known_task_list_id(options, env)?)?)
}

pub(crate) fn open_run_of(
    session: &TaskListFile,
    env: &ProcessEnv,
) -> Result<Option<RunRef>, CommandError> {
    let Some(run) = task_list_store::run_of(session) else {
        return Ok(None);
    };
    let is_open = task_list_store::is_open(&run, env.state_home.as_deref())?;
    Ok(is_open.then_some(run))
}

pub(crate) fn require_no_open_run(
    session: &TaskListFile,
    env: &ProcessEnv,
    hint: &str,
) -> Result<(), CommandError> {
    open_run_of(session, env)?.map_or(Ok(()), |RunRef { id: run, .. }| {
        let message = format!(
            "run {run} works on session {}, and writes what happens by itself",
            session.session_id
        );
        Err(CommandError::precondition(message, hint))
    })
}

pub(crate) const WORK_ON_THE_RUN: &str =
    "`omo agent next` says what comes next, and `omo agent done` ends a task";

pub(crate) fn print_value(
    file: &impl Serialize,
    path: Option<&str>,
    owner: &str,
) -> Result<(), CommandError> {
    let Some(path) = path else {
        return print(&serde_json::to_string_pretty(file).unwrap_or_default());
    };
    let file = to_json(file);
    let value = rules::value_at_path(&file, path).ok_or_else(|| {
        let shown = sanitize(path, 60);
        CommandError::not_found(
            format!("{owner} has no `{shown}`"),
            "without `--field` all of it is printed",
        )
    })?;
    print(&rules::format_value(value))
}

pub(crate) fn print_done(
    done: &str,
    value: &impl Serialize,
    json: bool,
) -> Result<(), CommandError> {
    if !json {
        return print(done);
    }
    print(&format!(
        "{done}\n{}",
        serde_json::to_string_pretty(value).unwrap_or_default()
    ))
}

/// Counts of criteria with a command and of those to judge, such as `2 commands, 1 to judge`.
pub(crate) fn criteria_words(task: &TaskFile) -> String {
    let task = task_list::task_from_file(task);
    match (pluralize(task.checks.len(), "command"), task.criteria.len()) {
        (commands, 0) => commands,
        (_, judged) if task.checks.is_empty() => format!("{judged} to judge"),
        (commands, judged) => format!("{commands}, {judged} to judge"),
    }
}

pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

pub(crate) fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TaskListOption {
    /// The session, if not this shell's own
    #[arg(long, short, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskOption {
    /// The task
    #[arg(long, short = 't', visible_short_alias = 'i', aliases = ["task", "task-id"])]
    #[arg(allow_hyphen_values = true, value_parser = parse_id)]
    pub id: String,
}

pub(crate) fn parse_id(text: &str) -> Result<String, String> {
    rules::parse_task_id(text)
        .ok_or_else(|| "a task is a whole number from 1, or `verify`".to_owned())
}

pub(crate) fn split_list(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

pub(crate) fn parse_status(text: &str) -> Result<TaskFileStatus, String> {
    let words = "open (or pending), in_progress, resolved, blocked, failed";
    rules::parse_status(text).ok_or_else(|| format!("a task can be {words}"))
}

pub(crate) fn non_empty_text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

pub(crate) const MAX_CHARS: usize = 2_000;

pub(crate) fn bullet_list<'a>(
    heading: &str,
    texts: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let items: Vec<String> = texts
        .map(|text| format!("- {}", sanitize(text, MAX_CHARS)))
        .collect();
    (!items.is_empty()).then(|| format!("## {heading}\n\n{}", items.join("\n")))
}

/// Tasks of a session; `None` where none was ever made. Invalid files are named on stderr.
pub(crate) fn readable_tasks(folder: &TaskListFolder) -> Result<Option<LoadedTasks>, CommandError> {
    folder.session()?;
    let tasks = folder.tasks()?;
    tasks
        .iter()
        .flat_map(|tasks| &tasks.unreadable)
        .for_each(|error| output::print_warning(error));
    Ok(tasks)
}

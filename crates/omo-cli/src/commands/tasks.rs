//! `omo tasks`, `omo agent task` and `omo agent context`: the files of task lists, read and changed by hand.
//!
//! While a run of a session is open the run alone writes what happens; here it can only be looked at then.
//!
//! Whatever goes wrong here ends with 1, as in the programs that sessions were made for: command files know
//! no other status. Only options and verbs that do not exist end with 2, as anywhere else.

mod arguments;
mod clean;
mod create;
mod design;
pub(crate) mod explorer_context;
mod list;
mod raw_args;
mod show_update;
mod summary;
mod task;

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::error::ErrorKind;
use omo_core::session::id::SessionId;
use omo_engine::task_list_store::{self, RunRef, TaskListFolder, TaskListStore};
use omo_plan::task_list::TaskListFile;
use omo_plan::task_list::rules;
use omo_state::env::{self, ProcessEnv};
use serde::Serialize;
use serde_json::Value;

use crate::error::{CommandError, ExitKind};
use crate::project::named_or_own_session;
use arguments::Which;

pub(crate) use arguments::{ContextCommand, TaskCommand, TasksCommand, TasksEditCommand};

/// `omo tasks …`.
pub(crate) fn run(env: &ProcessEnv, action: TasksCommand) -> Result<(), CommandError> {
    let done = match action {
        TasksCommand::List(options) => list::list_task_lists(env, &options),
        TasksCommand::Show(options) => show_update::show_task_list(env, &options),
        TasksCommand::Clean(options) => clean::clean_task_lists(env, &options),
    };
    done.map_err(with_not_green)
}

/// `omo agent tasks …`.
pub(crate) fn edit(env: &ProcessEnv, action: TasksEditCommand) -> Result<(), CommandError> {
    let done = match action {
        TasksEditCommand::Create(options) => create::create_task_list(env, &options),
        TasksEditCommand::Update(options) => show_update::update_task_list(env, options),
        TasksEditCommand::Design(options) => design::write_design(env, &options),
    };
    done.map_err(with_not_green)
}

/// `omo agent task …`.
pub(crate) fn task(env: &ProcessEnv, action: TaskCommand) -> Result<(), CommandError> {
    let done = match action {
        TaskCommand::Create(options) => task::create(env, *options),
        TaskCommand::List(options) => task::list(env, &options),
        TaskCommand::Get(options) => task::get(env, &options),
        TaskCommand::Update(options) => task::update(env, options),
        TaskCommand::Summary(options) => summary::summarize_tasks(env, &options),
    };
    done.map_err(with_not_green)
}

/// `omo agent context …`.
pub(crate) fn context(env: &ProcessEnv, action: ContextCommand) -> Result<(), CommandError> {
    let done = match action {
        ContextCommand::Init(options) => explorer_context::init(env, &options),
        ContextCommand::Add(options) => explorer_context::add(env, options),
        ContextCommand::Get(options) => explorer_context::get(env, &options),
    };
    done.map_err(with_not_green)
}

/// What anything that goes wrong with a session ends with.
const FAILED: ExitKind = ExitKind::NotGreen;

/// A failure of these verbs, with their one status.
fn with_not_green(failure: CommandError) -> CommandError {
    if failure.kind == ExitKind::Success { failure } else { failure.with_kind(FAILED) }
}

/// The exit status of a command line that could not be read.
pub(crate) fn usage_status(error: &clap::Error, words: impl IntoIterator<Item = OsString>) -> u8 {
    let mut words = words.into_iter();
    let is_of_sessions = words.next().is_some_and(|word| {
        word == "tasks"
            || word == "agent" && {
                let verb = words.next();
                ["tasks", "task", "context"].iter().any(|known| verb.as_deref() == Some(OsStr::new(known)))
            }
    });
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
        // A value that cannot be, or one that is missing: those programs had no other word for it.
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

/// All sessions of the user.
pub(crate) fn task_list_store() -> Result<TaskListStore, CommandError> {
    let missing =
        || CommandError::precondition("the folder of the client's own files is not known", "set CLAUDE_CONFIG_DIR");
    Ok(TaskListStore::in_client_home(&env::client_home().ok_or_else(missing)?))
}

/// The session that is meant.
fn task_list_id(which: &Which, env: &ProcessEnv) -> Result<SessionId, CommandError> {
    let missing = || CommandError::usage("which session is not said", "name it: `--session ID`");
    named_or_own_session(which.session.as_deref(), env)?.ok_or_else(missing)
}

/// The same, opened.
fn open_task_list(options: &Which, env: &ProcessEnv) -> Result<TaskListFolder, CommandError> {
    Ok(task_list_store()?.open(&task_list_id(options, env)?)?)
}

/// The run of a session, where one was opened and is open still.
fn open_run_of(session: &TaskListFile, env: &ProcessEnv) -> Result<Option<RunRef>, CommandError> {
    let Some(run) = task_list_store::run_of(session) else { return Ok(None) };
    let is_open = task_list_store::is_open(&run, env.state_home.as_deref())?;
    Ok(is_open.then_some(run))
}

/// Refuses where a run of the session is open: what a run writes by itself, no other command writes.
fn require_no_open_run(session: &TaskListFile, env: &ProcessEnv, hint: &str) -> Result<(), CommandError> {
    open_run_of(session, env)?.map_or(Ok(()), |RunRef { id: run, .. }| {
        let message = format!("run {run} works on session {}, and writes what happens by itself", session.session_id);
        Err(CommandError::precondition(message, hint))
    })
}

/// What to do in place of a change that only a run makes.
const WORK_ON_THE_RUN: &str = "`omo agent next` says what comes next, and `omo agent done` ends a task";

/// Prints one value of a file, or says that there is none.
fn print_field(value: &Value, path: &str, of: &str) -> Result<(), CommandError> {
    let missing = || {
        let shown = omo_core::text::sanitize(path, 60);
        CommandError::not_found(format!("{of} has no `{shown}`"), "without `--field` all of it is printed")
    };
    let found = rules::value_at_path(value, path).ok_or_else(missing)?;
    print(&rules::format_value(found))
}

/// Prints a value as JSON, below a line that says what was done.
fn print_done(done: &str, value: &impl Serialize) -> Result<(), CommandError> {
    print(&format!("{done}\n{}", serde_json::to_string_pretty(value).unwrap_or_default()))
}

fn print(text: &str) -> Result<(), CommandError> {
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// The JSON of something whose members are looked for by their names.
fn to_json(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

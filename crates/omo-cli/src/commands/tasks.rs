//! `omo tasks`, `omo agent task` and `omo agent context`: the files of task lists, read and changed by hand.
//!
//! While a run of a session is open the run alone writes what happens; here it can only be looked at then.
//!
//! Whatever goes wrong here ends with 1, as in the programs that sessions were made for: command files know
//! no other status. Only options and verbs that do not exist end with 2, as anywhere else.

pub(crate) mod added_task;
pub(crate) mod arguments;
pub(crate) mod clean;
pub(crate) mod create;
pub(crate) mod design;
pub(crate) mod explorer_context;
pub(crate) mod list;
pub(crate) mod raw_args;
pub(crate) mod show_update;
pub(crate) mod summary;
pub(crate) mod task;

use omo_state::env::ProcessEnv;

use crate::commands::tasks::arguments::{ContextCommand, TaskCommand, TasksCommand, TasksEditCommand};
use crate::error::CommandError;
use crate::task_list_files::with_not_green;

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

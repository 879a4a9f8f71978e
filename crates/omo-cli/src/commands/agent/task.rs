//! `omo agent task`: the tasks of a task list.

mod create;
pub(crate) mod delete;
mod get;
mod list;
mod summary;
pub(crate) mod update;

use clap::Subcommand;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;

const HELP: &str = "\
Examples:
  omo agent task list --format json
  omo agent task update --id 2 --status in_progress

A task is a whole number, or `verify`: the one that verifies the others.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

/// Make, show and change the tasks of a task list
#[derive(Debug, Subcommand)]
#[command(after_help = HELP, args_override_self = true)]
pub(crate) enum TaskCommand {
    Create(Box<create::TaskCreateOptions>),
    List(list::AgentTaskListOptions),
    Get(get::GetOptions),
    Update(Box<update::TaskUpdateOptions>),
    Delete(delete::DeleteOptions),
    Summary(summary::SummaryOptions),
}

pub(crate) fn run(env: &ProcessEnv, command: TaskCommand) -> Result<(), CommandError> {
    match command {
        TaskCommand::Create(options) => create::run(env, *options),
        TaskCommand::List(options) => list::run(env, &options),
        TaskCommand::Get(options) => get::run(env, &options),
        TaskCommand::Update(options) => update::run(env, *options),
        TaskCommand::Delete(options) => delete::run(env, &options),
        TaskCommand::Summary(options) => summary::run(env, &options),
    }
}

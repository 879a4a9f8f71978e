//! `omo tasks`: the plans of `/omo:ulw-plan`, for people.

mod clean;
mod list;
mod show;

use clap::Subcommand;
use omo_state::env::ProcessEnv;

use crate::commands::agent::task::delete::{self, DeleteOptions};
use crate::commands::agent::task::update::{self, TaskUpdateOptions};
use crate::error::CommandError;

const HELP: &str = "\
Examples:
  omo tasks list                   every task list, and how much of it is done
  omo tasks show --field phase     one value of this shell's task list
  omo tasks clean --completed      remove those that are complete

`/omo:ulw-plan GOAL` begins a task list, `/omo:ulw-exec` executes it. The exit
status is 1 for anything that goes wrong, and 2 for an unknown option.";

const UPDATE_HELP: &str = "\
Example:
  omo tasks update-task --id 2 --subject 'Add a form'

Criteria and ids replace those that are there, until the list is executed.";

const DELETE_HELP: &str = "\
Example:
  omo tasks delete-task --id 2

A task that another one waits for stays, and so do those of a list that is
executed.";

/// List, show and remove the plans that /omo:ulw-plan has made
#[derive(Debug, Subcommand)]
#[command(after_help = HELP, args_override_self = true)]
pub(crate) enum TasksCommand {
    List(list::TasksListOptions),
    Show(show::TasksShowOptions),
    Clean(clean::CleanOptions),
    #[command(after_help = UPDATE_HELP)]
    UpdateTask(Box<TaskUpdateOptions>),
    #[command(after_help = DELETE_HELP)]
    DeleteTask(DeleteOptions),
}

pub(crate) fn run(env: &ProcessEnv, command: TasksCommand) -> Result<(), CommandError> {
    match command {
        TasksCommand::List(options) => list::run(env, &options),
        TasksCommand::Show(options) => show::run(env, &options),
        TasksCommand::Clean(options) => clean::run(env, &options),
        TasksCommand::UpdateTask(options) => update::run(env, *options),
        TasksCommand::DeleteTask(options) => delete::run(env, &options),
    }
}

//! `omo agent tasks`: begins a task list, and changes where it stands.
//!
//! While a run of it is open the run alone writes what happens; here it can only be looked at then.

mod create;
mod design;
mod update;

use clap::Subcommand;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::with_not_green;

const HELP: &str = "\
Example:
  omo agent tasks update --phase PLANNING_COMPLETE

While a run of a task list is open, the run alone writes its files.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

/// Begin a task list, change where it stands, write down its design
#[derive(Debug, Subcommand)]
#[command(after_help = HELP, args_override_self = true)]
pub(crate) enum TasksEditCommand {
    Create(create::CreateOptions),
    Update(update::UpdateOptions),
    Design(design::DesignOptions),
}

/// Does what was asked for; whatever goes wrong has one status.
pub(crate) fn run(env: &ProcessEnv, command: TasksEditCommand) -> Result<(), CommandError> {
    let done = match command {
        TasksEditCommand::Create(options) => create::run(env, &options),
        TasksEditCommand::Update(options) => update::run(env, options),
        TasksEditCommand::Design(options) => design::run(env, &options),
    };
    done.map_err(with_not_green)
}

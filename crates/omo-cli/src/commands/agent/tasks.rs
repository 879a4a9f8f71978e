//! `omo agent tasks`: creates a task list, or changes its phase or design.

mod create;
mod design;
mod update;

use clap::Subcommand;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;

const HELP: &str = "\
Example:
  omo agent tasks update --phase PLANNING_COMPLETE

While a run of a task list is open, the run alone writes its files.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

/// Begin a task list, change where it stands, write down its design
#[derive(Debug, Subcommand)]
#[command(after_help = HELP, args_override_self = true)]
pub(crate) enum TasksEditCommand {
    Create(create::TaskListCreateOptions),
    Update(update::TaskListUpdateOptions),
    Design(design::DesignOptions),
}

/// Validates the arguments of a typed `/omo:ulw-plan`, and begins nothing.
pub(crate) fn read_planning_line(text: &str) -> Result<(), CommandError> {
    create::raw_args::parse_raw_args(text, &create::TaskListCreateOptions::default()).map(drop)
}

pub(crate) fn run(env: &ProcessEnv, command: TasksEditCommand) -> Result<(), CommandError> {
    match command {
        TasksEditCommand::Create(options) => create::run(env, &options),
        TasksEditCommand::Update(options) => update::run(env, options),
        TasksEditCommand::Design(options) => design::run(env, &options),
    }
}

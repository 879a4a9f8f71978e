//! `omo agent task get`: a task, or one value of it.

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption, TaskOption, print_value};

const HELP: &str = "\
Example:
  omo agent task get --id 2 --field criteria[0]";

/// Print a task, or one value of it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct GetOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    #[command(flatten)]
    pub task: TaskOption,
    /// One value, such as `criteria[0]`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
}

pub(crate) fn run(env: &ProcessEnv, options: &GetOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let task = folder.task(&options.task.id)?;
    print_value(
        &task,
        options.field.as_deref(),
        &format!("task {} of session {}", task.id, folder.id()),
    )
}

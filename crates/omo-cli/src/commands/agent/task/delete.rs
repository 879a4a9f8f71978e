//! `omo agent task delete`: removes a task from a list that is not executed yet.

use clap::Args;
use omo_plan::task_list::rules;
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption, TaskOption, print};
use crate::task_list_note;

const HELP: &str = "\
Example:
  omo agent task delete --id 2

A task that another one waits for stays, and so do those of a list that is
executed.";

/// Take a task away, before its list is executed
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DeleteOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    #[command(flatten)]
    pub task: TaskOption,
}

pub(crate) fn run(env: &ProcessEnv, options: &DeleteOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let task = locked.task(&options.task.id)?;
    task_list_files::require_no_open_run(&session, env, task_list_files::WORK_ON_THE_RUN)?;
    rules::require_removable(&task, &session, &locked.tasks()?.unwrap_or_default().tasks)?;
    locked.remove_task(&task.id)?;
    task_list_note::note_from_files(env, &locked);
    print(&format!("OK: Task {} deleted", task.id))
}

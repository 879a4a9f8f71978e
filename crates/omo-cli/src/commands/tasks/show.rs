//! `omo tasks show`: a task list, or one value of it.

use clap::Args;
use omo_engine::task_list_store::SESSION_FILE;
use omo_state::env::ProcessEnv;
use serde_json::Value;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption, print, print_value};

const HELP: &str = "\
Examples:
  omo tasks show                           all of it, as JSON
  omo tasks show --field options.max_iterations
  omo tasks show --dir                     the folder that it is in";

/// Print a task list, or one value of it
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct TasksShowOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// One value, such as `plan.design_doc`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
    /// The folder that it is in
    #[arg(long, short)]
    pub dir: bool,
    /// Its own file
    #[arg(long, short = 'F')]
    pub file: bool,
}

pub(crate) fn run(env: &ProcessEnv, options: &TasksShowOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    if options.dir {
        return print(&folder.path().display().to_string());
    }
    if options.file {
        return print(&folder.path().join(SESSION_FILE).display().to_string());
    }
    // Nothing is printed of a file that is no session.
    folder.session()?;
    let bytes = folder.session_bytes()?;
    if options.field.is_none() {
        return print(String::from_utf8_lossy(&bytes).trim_end());
    }
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    print_value(
        &value,
        options.field.as_deref(),
        &format!("session {}", folder.id()),
    )
}

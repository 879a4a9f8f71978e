//! `omo agent tasks design`: saves stdin as `design.md` of a task list. A write with the client's
//! own tools would ask the user.

use std::io::{IsTerminal, Read};

use clap::Args;
use omo_plan::task_list::rules::{self, TaskListChange, TaskListWork};
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption};

const HELP: &str = "\
Example:
  omo agent tasks design < design.md

It is kept as design.md in the folder of the session.";

/// Keep the text on stdin as the design of a task list
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DesignOptions {
    #[command(flatten)]
    pub which: TaskListOption,
}

const MAX_BYTES: u64 = 1024 * 1024;

pub(crate) fn run(env: &ProcessEnv, options: &DesignOptions) -> Result<(), CommandError> {
    let text = read_design()?;
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    task_list_files::require_no_open_run(&session, env, task_list_files::WORK_ON_THE_RUN)?;
    let path = locked.write_design(&text)?;
    let change = TaskListChange {
        design_doc: Some(path.display().to_string()),
        ..TaskListChange::default()
    };
    let session = rules::update_task_list(
        &session,
        &change,
        TaskListWork {
            tasks: &[],
            unreadable_tasks: 0,
            logged_evidence: 0,
        },
        env.now,
    )?;
    locked.write_session(&session)?;
    task_list_files::print(&format!(
        "OK: the design of session {} is in {}",
        locked.id(),
        path.display()
    ))
}

fn read_design() -> Result<String, CommandError> {
    const HOW: &str =
        "write it after the command: omo agent tasks design <<'DESIGN', the text, DESIGN";
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(CommandError::usage("no design was handed over", HOW));
    }
    let mut text = String::new();
    stdin
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| {
            CommandError::usage(
                format!("the design could not be read: {error}"),
                "the design has to be UTF-8",
            )
        })?;
    match text.trim() {
        "" => Err(CommandError::usage("the design is empty", HOW)),
        _ if text.len() as u64 > MAX_BYTES => Err(CommandError::usage(
            format!("the design is longer than {MAX_BYTES} bytes"),
            "shorten it, or name a file in it",
        )),
        design => Ok(format!("{design}\n")),
    }
}

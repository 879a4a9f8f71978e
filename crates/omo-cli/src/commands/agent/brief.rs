//! `omo agent brief`: prints the brief of a task once more.

use std::io::Write;

use omo_engine::{verbs, work};
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::TaskOptions;
use clap::Args;

const HELP: &str = "\
Example:
  omo agent brief 3";

/// Print what a task asks for once more
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BriefOptions {
    #[command(flatten)]
    pub task: TaskOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &BriefOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (_, state) = context.find_run(options.task.run.run.as_deref(), EndedRuns::Included)?;
    let task = verbs::find_task(&state, &options.task.id)?;
    Ok(writeln!(
        anstream::stdout(),
        "{}",
        work::task_brief(&state, task).trim_end()
    )?)
}

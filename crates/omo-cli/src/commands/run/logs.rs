//! `omo run logs`: prints the output of a worker that a launcher started somewhere else.

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::parallel::read_worker_log;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo run logs 2

It runs the command `logs` of the run's launcher. The exit status is 3 where no
worker is called so or none was handed over, and 9 where the command fails.";

/// Show what a worker of a launcher has said
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunLogsOptions {
    /// The worker: the number of its session, or its name
    pub worker: String,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &RunLogsOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine_without_files(&run, &state)?;
    let log = read_worker_log(&engine, &state, &options.worker)?.map_err(|why| {
        let message = format!(
            "the launcher's command `logs` fails: {}",
            sanitize(&why, 300)
        );
        CommandError::io(message, "run it yourself to see why")
    });
    output::print_log(&log?)
}

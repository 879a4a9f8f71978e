//! `omo run logs`: what the worker of a launcher has said, at the other end.

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::parallel::{WorkerLogError, read_worker_log};
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output;
use crate::run_arguments::RunOptions;

/// So much of a line is shown.
const LINE_CHARS: usize = 1_000;

const HELP: &str = "\
Example:
  omo run logs 2

It runs the command `logs` of the run's launcher. The exit status is 3 where no
worker is called so or none was handed over, and 9 where the command fails.";

/// Show what a worker of a launcher has said
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct LogsOptions {
    /// Which worker: the number of its session, or its name
    pub worker: String,
    #[command(flatten)]
    pub run: RunOptions,
}

/// Shows what a worker has said.
pub(crate) fn run(env: &ProcessEnv, options: &LogsOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine_without_files(&run, &state)?;
    let said = read_worker_log(&engine, &state, &options.worker).map_err(|error| describe(&error, &options.worker))?;
    let lines: Vec<String> = said.lines().map(|line| sanitize(line, LINE_CHARS)).collect();
    if lines.is_empty() { Ok(()) } else { output::print_block(&lines.join("\n")) }
}

fn describe(error: &WorkerLogError, worker: &str) -> CommandError {
    match error {
        WorkerLogError::Unknown(known) => {
            let known: Vec<String> = known.iter().map(|id| sanitize(id, 40)).collect();
            let message = format!("no worker of this run is called {}", sanitize(worker, 60));
            CommandError::not_found(message, format!("there are {}", known.join(", ")))
        }
        WorkerLogError::NoLauncher => CommandError::precondition(
            "the workers of this run were not handed to a launcher of your config.toml",
            "`omo run show` says what their checks printed; `omo report --html` has their logs",
        ),
        WorkerLogError::NoCommand(launcher) => CommandError::precondition(
            format!("the launcher {launcher} has no command `logs`"),
            format!("set `logs` of [launcher.{launcher}] in your config.toml, for runs that begin later"),
        ),
        WorkerLogError::NotStarted => {
            CommandError::not_found("no worker was handed over for it yet", "`omo run watch` shows when one is")
        }
        WorkerLogError::Failed(why) => CommandError::io(
            format!("the launcher's command `logs` fails: {}", sanitize(why, 300)),
            "run it yourself to see why",
        ),
    }
}

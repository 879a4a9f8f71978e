//! `omo run watch`: looks on while parallel workers work.

use std::time::{Duration, Instant};

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::parallel_workers::screen;
use crate::parallel_workers::watch::{require_parallel, watch_run};
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Examples:
  omo run watch
  omo run watch --seconds 60

On a terminal a line for each worker is kept up to date; elsewhere a line is
printed for each thing that happens. The exit status is 7 where a question waits
for you, and 1 where the run ended otherwise than complete.";

/// Look on while parallel workers work
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct WatchOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Look on for so many seconds at most; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

/// Looks on while workers work.
pub(crate) fn run(env: &ProcessEnv, options: &WatchOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    require_parallel(&state)?;
    let engine = context.engine(&run, &state)?;
    let deadline = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    watch_run(&context, &engine, &state.holder, deadline, screen::Screen::new())
}

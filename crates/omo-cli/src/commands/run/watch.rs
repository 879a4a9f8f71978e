//! `omo run watch`: shows parallel workers, and keeps them going.

use clap::Args;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;

use crate::commands::watch::deadline;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::parallel_workers::keeper::WorkerKeeper;
use crate::parallel_workers::watch::{require_parallel, watch_run};
use crate::run_arguments::RunOptions;
use crate::run_reader::RunReader;
use crate::watch::WatchRequest;
use crate::watch::live_screen::can_draw;
use crate::watch::live_watch::watch_live;

const HELP: &str = "\
Examples:
  omo run watch
  omo run watch --seconds 60

On a terminal it is the screen of `omo watch`; elsewhere a line is printed for
each thing that happens. Workers whose supervisor is gone are started again. The
exit status is 7 where a question waits for you, and 1 where the run ended
otherwise than complete.";

/// Look on while parallel workers work, and have them go on
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunWatchOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Look on for at most this many seconds; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &RunWatchOptions,
) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    require_parallel(&state)?;
    let engine = context.engine(&run, &state)?;
    let deadline = deadline(options.seconds);
    if !can_draw() {
        return watch_run(&context, &engine, &state.holder, deadline, false);
    }
    let settled = engine.apply_due_events(run.state()?)?;
    let keeper = WorkerKeeper::new(&context, &engine, &state.holder);
    let request = WatchRequest {
        env,
        config,
        deadline,
    };
    watch_live(
        RunReader::of_plan((run.clone(), settled), env),
        &request,
        Some(keeper),
    )
}

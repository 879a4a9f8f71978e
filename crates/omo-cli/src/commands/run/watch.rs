//! `omo run watch`: looks on while parallel workers work.

use std::time::{Duration, Instant};

use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::WatchOptions;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;
use crate::parallel_workers::screen;
use crate::parallel_workers::watch::{require_parallel, watch_run};

/// Looks on while workers work.
pub(crate) fn watch(env: &ProcessEnv, options: &WatchOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    require_parallel(&state)?;
    let engine = context.engine(&run, &state)?;
    let deadline = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    watch_run(&context, &engine, &state.holder, deadline, screen::Screen::new())
}

//! `omo agent workers start|merge`: starts the parallel workers of a run, or merges finished work.

use std::time::Instant;

use clap::Subcommand;
use omo_engine::parallel::{DriveEnd, ParallelDriver};
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::print_block;
use crate::parallel_workers::keeper::can_continue;
use crate::parallel_workers::watch::{require_parallel, watch_run};
use crate::parallel_workers::{screen, supervisor};
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo agent workers start

For a run with parallel workers: each is a client of its own, in a worktree and
on a branch of its own, a wave at a time. The checkout is not touched before all
of it is done and checked; the branch then moves once. What cannot be merged is
kept, and named. Ending the terminal ends nothing; `omo run cancel` does.";

const START_HELP: &str = "\
Example:
  omo agent workers start

The supervisor runs in the background until the run is over or a question
waits. `omo agent next` and `omo run watch` start it, too, where it is gone.";

const MERGE_HELP: &str = "\
Example:
  omo agent workers merge

For a run without a supervisor: it merges what is done, checks the whole, and
moves your branch where all is green.";

/// Start parallel workers, or merge what they have done
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum WorkersCommand {
    /// Start the workers of the open run, in the background
    #[command(after_help = START_HELP)]
    Start(RunOptions),
    /// Bring together what is done, and start no worker
    #[command(after_help = MERGE_HELP)]
    Merge(RunOptions),
}

pub(crate) fn run(env: &ProcessEnv, action: WorkersCommand) -> Result<(), CommandError> {
    match action {
        WorkersCommand::Start(options) => start(env, &options),
        WorkersCommand::Merge(options) => merge(env, &options),
    }
}

fn start(env: &ProcessEnv, options: &RunOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.as_deref(), EndedRuns::Excluded)?;
    require_parallel(&state)?;
    let engine = context.engine(&run, &state)?;
    engine.require_approval(&state)?;
    let state = engine.apply_due_events(run.state()?)?;
    context.note_in_session(&run, &state.holder, &state);
    if !can_continue(&state) {
        // Nothing to supervise, for example while a question waits.
        return watch_run(
            &context,
            &engine,
            &state.holder,
            Some(Instant::now()),
            false,
        );
    }
    supervisor::ensure_supervisor(&context, &run)?;
    print_block(&screen::started_text(run.id(), &state))
}

fn merge(env: &ProcessEnv, options: &RunOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.as_deref(), EndedRuns::Excluded)?;
    require_parallel(&state)?;
    let engine = context.engine(&run, &state)?;
    engine.require_approval(&state)?;
    let Some(alone) = run.try_supervise()? else {
        let message = format!("the workers of {} are at work", run.id());
        return Err(CommandError::busy(
            message,
            "`omo run watch` looks on; what is done is merged by itself",
        ));
    };
    let stopped = ParallelDriver::new(&engine, None)?.drive()?;
    // A watching process waits for this lock.
    drop(alone);
    let state = run.state()?;
    context.note_in_session(&run, &state.holder, &state);
    match stopped {
        DriveEnd::NeedsClients => print_block(
            "Nothing is left to be merged; `omo agent workers start` goes on with the work.",
        ),
        DriveEnd::Over | DriveEnd::NeedsAnswer | DriveEnd::NotParallel => watch_run(
            &context,
            &engine,
            &state.holder,
            Some(Instant::now()),
            false,
        ),
    }
}

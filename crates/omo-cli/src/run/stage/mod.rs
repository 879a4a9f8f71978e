//! `omo agent workers start|wait|merge`: sessions of a run that are worked on apart, each by a client of its own below a
//! supervisor that outlives the terminal (`supervisor`), and what the user sees of them (`follow`, `screen`).

mod follow;
mod own;
mod screen;
mod supervisor;

use std::time::{Duration, Instant};

use clap::Subcommand;
use omo_plan::run::state::RunState;
use omo_runs::apart::{DriveEnd, ParallelDriver};
use omo_store::env::ProcessEnv;

use super::arguments::{RunOptions, WatchOptions};
use super::context::{CommandContext, Ended};
use super::open::say;
use crate::failure::CommandError;
use crate::help;

pub(super) use follow::{PATIENCE, follow, is_apart, put_away_within};
pub(super) use own::next as next_of_own;
pub(super) use screen::Screen;
pub(crate) use supervisor::supervise;

/// What is done about parallel workers.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkersCommand {
    /// Have the sessions of the open run worked on, behind this terminal
    #[command(after_help = help::agent::WORKERS_START)]
    Start(RunOptions),
    /// Bring together what is done, and start no session
    #[command(after_help = help::agent::WORKERS_MERGE)]
    Merge(RunOptions),
}

/// `omo agent workers …`.
pub(crate) fn workers(env: &ProcessEnv, action: WorkersCommand) -> Result<(), CommandError> {
    match action {
        WorkersCommand::Start(options) => start(env, &options),
        WorkersCommand::Merge(options) => merge(env, &options),
    }
}

fn start(env: &ProcessEnv, options: &RunOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.as_deref(), Ended::Not)?;
    apart_or_refused(&state)?;
    let engine = context.engine(&run, &state)?;
    engine.approved(&state)?;
    let state = engine.settle(run.state()?)?;
    context.tell(&run, &state.holder, &state);
    if !follow::can_go_on(&state) {
        // There is nothing to look after: a question waits, say.
        return follow(&context, &engine, &state.holder, Some(Instant::now()), screen::Screen::new());
    }
    supervisor::ensure(&context, &run)?;
    say(&screen::started(run.id(), &state))
}

/// Looks on while workers work.
pub(super) fn watch(env: &ProcessEnv, options: &WatchOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.run.as_deref(), Ended::Too)?;
    apart_or_refused(&state)?;
    let engine = context.engine(&run, &state)?;
    let deadline = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    follow(&context, &engine, &state.holder, deadline, screen::Screen::new())
}

/// Brings together what is done, as the supervisor would, and starts nothing.
fn merge(env: &ProcessEnv, options: &RunOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.as_deref(), Ended::Not)?;
    apart_or_refused(&state)?;
    let engine = context.engine(&run, &state)?;
    engine.approved(&state)?;
    let Some(alone) = run.try_supervise()? else {
        let message = format!("the sessions of {} are being worked on", run.id());
        return Err(CommandError::busy(message, "`omo run watch` looks on; what is done is merged by itself"));
    };
    let stopped = ParallelDriver::new(&engine, None)?.drive()?;
    // A process that looks on waits until this lock is released.
    drop(alone);
    let state = run.state()?;
    context.tell(&run, &state.holder, &state);
    match stopped {
        DriveEnd::NeedsClients => {
            say("Nothing is left to be merged; `omo agent workers start` goes on with the sessions.")
        }
        DriveEnd::Over | DriveEnd::Asks | DriveEnd::Together => {
            follow(&context, &engine, &state.holder, Some(Instant::now()), screen::Screen::new())
        }
    }
}

fn apart_or_refused(state: &RunState) -> Result<(), CommandError> {
    if is_apart(state) {
        return Ok(());
    }
    let message = "this run has no parallel sessions";
    Err(CommandError::precondition(
        message,
        "`omo agent next` says what comes next; `omo run start --parallel PLAN` runs clients",
    ))
}

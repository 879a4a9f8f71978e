//! `omo stage start|wait|merge`: sessions of a run that are worked on apart, each by a client of its own below a
//! supervisor that outlives the terminal (`supervisor`), and what the user sees of them (`follow`, `screen`).

mod follow;
mod own;
mod screen;
mod supervisor;

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use omo_plan::run::state::RunState;
use omo_runs::apart::{Driver, Stopped};
use omo_store::env::Env;

use super::arguments::RunOptions;
use super::context::{CommandContext, Ended};
use super::open::say;
use crate::failure::Failure;
use crate::help;

pub(super) use follow::{follow, is_apart, put_away};
pub(super) use own::next as next_of_own;
pub(super) use screen::Screen;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Stage {
    /// Have the sessions of the open run worked on, behind this terminal
    #[command(after_help = help::stage::START)]
    Start(RunOptions),
    /// Look on until they are done, or a question waits for you
    #[command(after_help = help::stage::WAIT)]
    Wait(WaitOptions),
    /// Bring together what is done, and start no session
    #[command(after_help = help::stage::MERGE)]
    Merge(RunOptions),
    /// The supervisor itself, started by the others
    #[command(hide = true, after_help = help::stage::SUPERVISE)]
    Supervise(RunOptions),
}

/// How long the user looks on.
#[derive(Debug, Args)]
pub(crate) struct WaitOptions {
    #[command(flatten)]
    pub run: RunOptions,
    /// Look on for so many seconds at most; without it to the end
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
}

/// `omo stage …`.
pub(crate) fn stage(env: &Env, action: Stage) -> Result<(), Failure> {
    match action {
        Stage::Start(options) => start(env, &options),
        Stage::Wait(options) => wait(env, &options),
        Stage::Merge(options) => merge(env, &options),
        Stage::Supervise(options) => supervisor::supervise(env, &options),
    }
}

fn start(env: &Env, options: &RunOptions) -> Result<(), Failure> {
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

fn wait(env: &Env, options: &WaitOptions) -> Result<(), Failure> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.run.as_deref(), Ended::Too)?;
    apart_or_refused(&state)?;
    let engine = context.engine(&run, &state)?;
    let deadline = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    follow(&context, &engine, &state.holder, deadline, screen::Screen::new())
}

/// Brings together what is done, as the supervisor would, and starts nothing.
fn merge(env: &Env, options: &RunOptions) -> Result<(), Failure> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.as_deref(), Ended::Not)?;
    apart_or_refused(&state)?;
    let engine = context.engine(&run, &state)?;
    engine.approved(&state)?;
    let Some(alone) = run.try_supervise()? else {
        let message = format!("the sessions of {} are being worked on", run.id());
        return Err(Failure::busy(message, "`omo stage wait` looks on; what is done is merged by itself"));
    };
    let stopped = Driver::new(&engine, None)?.drive()?;
    // A process that looks on waits until this lock is released.
    drop(alone);
    let state = run.state()?;
    context.tell(&run, &state.holder, &state);
    match stopped {
        Stopped::NeedsClients => say("Nothing is left to be merged; `omo stage start` goes on with the sessions."),
        Stopped::Over | Stopped::Asks | Stopped::Together => {
            follow(&context, &engine, &state.holder, Some(Instant::now()), screen::Screen::new())
        }
    }
}

fn apart_or_refused(state: &RunState) -> Result<(), Failure> {
    if is_apart(state) {
        return Ok(());
    }
    let message = "this run has no parallel sessions";
    Err(Failure::precondition(
        message,
        "`omo next` says what comes next; `omo run open --for local PLAN` runs sessions",
    ))
}

//! `omo run cancel`: cancels an open run, and ends its workers.

use std::time::Duration;

use clap::Args;
use omo_core::text::name_some;
use omo_engine::state::RunState;
use omo_engine::view::words::how_to_go_on;
use omo_engine::work::moved_run;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output;
use crate::parallel_workers::cleanup::{CLEANUP_TIMEOUT, put_away_within};
use crate::run_arguments::NamedRun;

const HELP: &str = "\
Example:
  omo run cancel --reason \"the plan was replaced\"

What was done stays, in your files and in the record.";

/// End a run before its end
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunCancelOptions {
    #[command(flatten)]
    pub run: NamedRun,
    /// The reason, for the record
    #[arg(long, value_name = "TEXT", default_value = "by its user")]
    pub reason: String,
}

pub(crate) fn run(env: &ProcessEnv, options: &RunCancelOptions) -> Result<(), CommandError> {
    output::print_block(&cancel(
        &CommandContext::find(env)?,
        options,
        CLEANUP_TIMEOUT,
        CancelReader::Terminal,
    )?)
}

/// [`run`] for a person in a session, with a wait bounded by the prompt hook.
pub(crate) fn cancel_typed(
    env: &ProcessEnv,
    options: &RunCancelOptions,
) -> Result<(), CommandError> {
    output::print_block(&cancel(
        &CommandContext::find(env)?,
        options,
        Duration::from_secs(2),
        CancelReader::Session,
    )?)
}

/// Place where a person reads that a run is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelReader {
    Session,
    Terminal,
}

/// Cancels the run, waits at most `patience` for its clients, and gives a message for `reader`.
pub(crate) fn cancel(
    context: &CommandContext,
    options: &RunCancelOptions,
    patience: Duration,
    reader: CancelReader,
) -> Result<String, CommandError> {
    let (run, before) = context.find_run(options.run.id(), EndedRuns::Excluded)?;
    let engine = context.engine_without_files(&run, &before)?;
    let (commit, state) = engine.cancel(&options.reason, patience)?;
    context.note_in_session(&run, &before.holder, &state);
    let mut message = if moved_run::is_gone(&state) {
        format!("{} is cancelled; its worktree is gone.", run.id())
    } else {
        let go_on = match reader {
            CancelReader::Session => how_to_go_on(&state),
            CancelReader::Terminal => format!("omo run resume --run {}", run.id()),
        };
        format!(
            "{} is cancelled; `{go_on}` goes on with it.{commit}",
            run.id()
        )
    };
    message.push_str(&agents_line(&before));
    // A user who reads that the run is cancelled finds none of it at work.
    if state.parallel.is_some() && !put_away_within(&engine, patience)? {
        message.push_str(" Its clients are being ended; `omo run show` says what is left of them.");
    }
    Ok(message)
}

/// Line about agents of the session, which no program can end; empty without any at work.
fn agents_line(before: &RunState) -> String {
    const NAMED_TASKS: usize = 5;
    let ids: Vec<&str> = before.running_attempts().map(|(id, _)| id).collect();
    if ids.is_empty() || !before.mode.is_done_by_agents() {
        return String::new();
    }
    format!(
        " Still at work on {}: an agent of the session. Nothing that it does counts any more; Esc, or the client's own list \
         of tasks, ends it.",
        name_some(before.plan.dialect.unit_word(), &ids, NAMED_TASKS)
    )
}

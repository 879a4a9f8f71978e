//! `omo run retry`: a person has a failed task done again.

use std::io::Write;

use omo_engine::state::RunState;
use omo_engine::verbs;
use omo_state::env::ProcessEnv;

use crate::context::{self, CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::TaskOptions;
use clap::Args;

const HELP: &str = "\
Example:
  omo run retry 3

From a session it needs a prompt of its user since the task failed.";

/// Have a failed task done again
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RetryOptions {
    #[command(flatten)]
    pub task: TaskOptions,
}

/// A person has a failed task done again.
pub(crate) fn run(env: &ProcessEnv, options: &RetryOptions) -> Result<(), CommandError> {
    reopen(&CommandContext::find(env)?, &options.task)?;
    Ok(writeln!(anstream::stdout(), "{} is to be done again. `omo agent next` says what comes next.", options.task.id)?)
}

/// Has it done again, and says nothing.
pub(crate) fn reopen(context: &CommandContext, options: &TaskOptions) -> Result<RunState, CommandError> {
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine(&run, &before)?;
    engine.require_unedited_plan(&before)?;
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    if let (Some(runs), true) = (&context.runs, before.parallel.is_some()) {
        context::require_only_parallel_run(runs, Some(run.id()))?;
    }
    context.note_ended_run(&run, &before);
    let state = engine.decide(|state| verbs::retry_task(state, &engine.caller, &options.id))?;
    context.note_in_session(&run, &before.holder, &state);
    Ok(state)
}

//! `omo run skip`: leaves out a failed task at a person's request.

use std::io::Write;

use clap::Args;
use omo_engine::verbs;
use omo_state::env::ProcessEnv;

use crate::commands::run::retry::next_line;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo run skip 3 --why \"no longer needed\"

From a session it needs a prompt of its user since the task failed.";

/// Leave a failed task out
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SkipOptions {
    /// The task
    pub id: String,
    /// The reason, for the record
    #[arg(long, value_name = "TEXT", default_value = "left out by its user")]
    pub why: String,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &SkipOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let state = engine.decide(|state| {
        Ok(vec![verbs::skip_task(
            state,
            &engine.caller,
            &options.id,
            &options.why,
        )?])
    })?;
    context.note_in_session(&run, &before.holder, &state);
    Ok(writeln!(
        anstream::stdout(),
        "{} is left out. {}",
        options.id,
        next_line(&context, &state)
    )?)
}

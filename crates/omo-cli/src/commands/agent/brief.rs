//! `omo agent brief`: what a task asks for, once more.

use std::io::Write;

use omo_engine::{verbs, work};
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::TaskOptions;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;

/// What a task asks for, once more.
pub(crate) fn brief(env: &ProcessEnv, options: &TaskOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (_, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    let unit = verbs::find_task(&state, &options.id)?;
    Ok(writeln!(anstream::stdout(), "{}", work::task_brief(&state, unit).trim_end())?)
}

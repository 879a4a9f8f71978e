//! `omo run skip`: a person leaves a task out.

use std::io::Write;

use omo_engine::verbs;
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::SkipOptions;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;

/// A person leaves a task out.
pub(crate) fn skip(env: &ProcessEnv, options: &SkipOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), Ended::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let state = engine.decide(|state| Ok(vec![verbs::skip_task(state, &engine.caller, &options.id, &options.why)?]))?;
    context.note_in_session(&run, &before.holder, &state);
    Ok(writeln!(anstream::stdout(), "{} is left out. `omo agent next` says what comes next.", options.id)?)
}

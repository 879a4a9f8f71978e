//! `omo agent fail`: a worker gives up, or is gone.

use std::io::Write;

use omo_engine::verbs;
use omo_state::env::ProcessEnv;

use crate::commands::agent::attempt::print_attempt;
use crate::commands::run::arguments::FailOptions;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;

/// A worker gives up, or is gone.
pub(crate) fn fail(env: &ProcessEnv, options: &FailOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    let engine = context.engine(&run, &before)?;
    match (&options.ticket, &options.lost) {
        (Some(ticket), _) => {
            let judged = engine.give_up(ticket, &options.why)?;
            context.note_in_session(&run, &before.holder, &judged.state);
            print_attempt(&context, &judged)
        }
        (None, lost) => {
            let id = lost.as_deref().unwrap_or_default();
            let state = engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, id)?]))?;
            context.note_in_session(&run, &before.holder, &state);
            let word = state.standing(id).map_or("pending", |standing| standing.word());
            Ok(writeln!(
                anstream::stdout(),
                "{id} is {word}; its ticket is not valid any more. `omo agent next` says what comes next."
            )?)
        }
    }
}

//! `omo agent done`: a worker is done, and omo finds out whether it is so.

use omo_core::text::sanitize;
use omo_engine::work::CompletionReport;
use omo_state::env::ProcessEnv;

use crate::commands::agent::attempt::print_attempt;
use crate::commands::run::arguments::DoneOptions;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;
use crate::output::check_progress::Shown;

/// A worker is done: omo finds out whether it is so.
pub(crate) fn done(env: &ProcessEnv, options: &DoneOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    let note = options.note.as_ref().map(|note| sanitize(note, 500)).filter(|note| !note.is_empty());
    let ids = options.evidence.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    let put = CompletionReport { note, evidence_ids: ids.collect() };
    let judged = context.engine(&run, &before)?.done(&options.ticket, put, &mut Shown::new())?;
    context.note_in_session(&run, &before.holder, &judged.state);
    print_attempt(&context, &judged)
}

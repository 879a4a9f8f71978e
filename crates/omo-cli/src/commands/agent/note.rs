//! `omo agent note`: a worker leaves a note for the workers of later tasks.

use std::io::Write;

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::event::TaskNote;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo agent note --ticket 4f1c9a \"the parser is in src/parse.rs\"

The note stands in the briefs of later tasks of the run, as the words of
another worker and no instruction, and in the report. A note has at most 500
characters, and a run at most 32 notes.";

/// Leave a note for the workers of later tasks
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct NoteOptions {
    /// The ticket that `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    #[command(flatten)]
    pub run: RunOptions,
    /// A line that later tasks should know
    #[arg(value_name = "TEXT")]
    pub text: String,
}

pub(crate) fn run(env: &ProcessEnv, options: &NoteOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let state = context
        .engine(&run, &before)?
        .leave_note(&options.ticket, &options.text)?;
    context.note_in_session(&run, &before.holder, &state);
    let Some(note) = state.notes.last() else {
        return Ok(());
    };
    let (task, text) = (
        sanitize(&note.task, 64),
        sanitize(&note.text, TaskNote::MAX_CHARS),
    );
    let (count, most) = (state.notes.len(), TaskNote::MAX_COUNT);
    Ok(writeln!(
        anstream::stdout(),
        "NOTED {task}: {text} ({count} of {most} notes of the run)"
    )?)
}

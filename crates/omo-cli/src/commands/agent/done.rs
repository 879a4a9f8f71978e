//! `omo agent done`: a worker is done, and omo finds out whether it is so.

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::work::CompletionReport;
use omo_state::env::ProcessEnv;

use crate::commands::agent::attempt::print_attempt;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::check_progress::TaskCheckProgress;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Examples:
  omo agent done --ticket 4f1c9a --note \"the parser is in src/parse.rs\"
  omo agent done --ticket 4f1c9a --evidence e1,e2

The exit status is 0 only when each of the task's checks did what the plan
expects, and 1 when not.";

/// Have a finished task judged: omo runs its checks
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DoneOptions {
    /// What `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    /// What later tasks should know, in one line
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// What shows the criteria that are no commands: ids that `omo agent evidence run` gave
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub evidence: Vec<String>,
    #[command(flatten)]
    pub run: RunOptions,
}

/// A worker is done: omo finds out whether it is so.
pub(crate) fn run(env: &ProcessEnv, options: &DoneOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let note = options.note.as_ref().map(|note| sanitize(note, 500)).filter(|note| !note.is_empty());
    let ids = options.evidence.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    let report = CompletionReport { note, evidence_ids: ids.collect() };
    let judged = context.engine(&run, &before)?.done(&options.ticket, report, &mut TaskCheckProgress::new())?;
    context.note_in_session(&run, &before.holder, &judged.state);
    print_attempt(&context, &judged)
}

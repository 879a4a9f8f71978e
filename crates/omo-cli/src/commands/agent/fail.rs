//! `omo agent fail`: a worker gives up its task, or its worker is reported lost.

use std::io::Write;

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::commands::agent::attempt::print_attempt;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::parallel_workers::cleanup::CLEANUP_TIMEOUT;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Examples:
  omo agent fail --ticket 4f1c9a --why \"the API it needs is gone\"
  omo agent fail --lost 3

What depends on a failed task is not begun; the rest goes on.";

/// Give a task up, or report that its worker is gone
#[derive(Debug, Args)]
#[command(after_help = HELP)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["ticket", "lost"]))]
pub(crate) struct FailOptions {
    /// The ticket that `omo agent start` gave
    #[arg(long)]
    pub ticket: Option<String>,
    /// The worker of this task is gone without a word: it is begun again
    #[arg(long, value_name = "ID")]
    pub lost: Option<String>,
    /// The reason, in one line
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    pub why: String,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &FailOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine(&run, &before)?;
    match (&options.ticket, &options.lost) {
        (Some(ticket), _) => {
            let judged = engine.give_up(ticket, &options.why)?;
            context.note_in_session(&run, &before.holder, &judged.state);
            print_attempt(&context, &judged, false)
        }
        (None, lost) => {
            let id = lost.as_deref().unwrap_or_default();
            let (commit, state) = engine.lose_worker(id, CLEANUP_TIMEOUT)?;
            context.note_in_session(&run, &before.holder, &state);
            let word = state
                .standing(id)
                .map_or("pending", |standing| standing.word());
            Ok(writeln!(
                anstream::stdout(),
                "{id} is {word}; its ticket is not valid any more.{commit} `omo agent next` says what comes next."
            )?)
        }
    }
}

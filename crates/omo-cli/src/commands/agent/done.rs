//! `omo agent done`: a worker's claim, which omo then checks.

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::work::CompletionReport;
use omo_state::env::ProcessEnv;

use crate::commands::agent::attempt::print_attempt;
use crate::commands::agent::next;
use crate::commands::agent::start::{FollowingTasks, begin_task};
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::check_progress::TaskCheckProgress;
use crate::output::print_block;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Examples:
  omo agent done --ticket 4f1c9a --note \"the parser is in src/parse.rs\"
  omo agent done --ticket 4f1c9a --evidence e1,e2

The first line says how the task ended: PASSED, CLAIMED, FAILED, HELD or
UNPROVED, or for a step which checks are green. A red check is an answer:
the exit status is 0 wherever omo has judged the work.";

/// Have a finished task judged: omo runs its checks
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DoneOptions {
    /// The ticket that `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    /// A line that later tasks should know
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Evidence for criteria that are not commands: ids that `omo agent evidence run` gave
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub evidence: Vec<String>,
    /// Then print what comes next, and begin with it where the same worker does it: at most this many more tasks
    #[arg(long, value_name = "TASKS", num_args = 0..=1, default_missing_value = "1")]
    pub next: Option<u32>,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &DoneOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let note = options
        .note
        .as_ref()
        .map(|note| sanitize(note, 500))
        .filter(|note| !note.is_empty());
    let ids = options
        .evidence
        .iter()
        .map(|id| id.trim().to_owned())
        .filter(|id| !id.is_empty());
    let takes_next = options.next.is_some_and(|most| most > 0);
    let report = CompletionReport {
        note,
        evidence_ids: ids.collect(),
        takes_next,
    };
    let judged = context.engine(&run, &before)?.done(
        &options.ticket,
        report,
        None,
        &mut TaskCheckProgress::new(),
    )?;
    context.note_in_session(&run, &before.holder, &judged.state);
    print_attempt(&context, &judged, options.next.is_some())?;
    let Some(max_tasks) = options.next else {
        return Ok(());
    };
    match judged.state.mode {
        ExecutionMode::Batches | ExecutionMode::Waves => {
            let Some(id) = &judged.next_task else {
                return Ok(());
            };
            let follows = FollowingTasks::AtMost(max_tasks - 1);
            print_block(&format!(
                "\nTASK\n{}",
                begin_task(&context, &run, &judged.state, id, follows)?
            ))
        }
        ExecutionMode::StepByStep | ExecutionMode::Parallel => {
            next::answer_with_next(&context, &run, run.state()?)
        }
    }
}

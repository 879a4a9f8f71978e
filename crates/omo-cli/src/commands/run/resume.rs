//! `omo run resume`: takes over a run, and reads its plan file again.

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::execute::continue_run::{Continuing, continue_run};
use crate::execute::task_list;
use crate::run_arguments::NamedRun;

const HELP: &str = "\
Example:
  omo run resume

While the session that holds a run lives, the exit status is 6. What the plan
says by now is taken in: tasks that were edited are done again.";

/// Take a run over, with its plan as the file says it now
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ResumeOptions {
    #[command(flatten)]
    pub run: NamedRun,
    /// Approve the commands of an edited plan without a terminal: the digest that was shown
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

pub(crate) fn run(env: &ProcessEnv, options: &ResumeOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.id(), EndedRuns::Included)?;
    context.require_free_run(&state)?;
    let digest = options.digest.as_deref();
    if state.is_task_list() {
        return task_list::resume(&context, &run, &state, digest);
    }
    continue_run(
        &context,
        &run,
        &state,
        &Continuing {
            digest,
            is_user: context.is_person(),
            ..Continuing::default()
        },
    )
}

//! `omo run start`: opens the run of a plan, or continues the present one.

use clap::Args;
use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::execute;
use crate::execute::options::RunStartOptions;
use crate::execute::request::ExecuteRequest;

const HELP: &str = "\
Examples:
  omo run start docs/plan.md           in the way that the plan asks for
  omo run start --tasks --session ID

More options of each way are in docs/plan-reference.md.";

/// Start a plan in the way that it asks for, or go on with its run
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StartPlanOptions {
    #[command(flatten)]
    pub options: RunStartOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: StartPlanOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let request = ExecuteRequest::try_from(options.options)
        .map_err(|why| CommandError::usage(why, "`omo run start --help` names the options"))?;
    execute(&context, request)
}

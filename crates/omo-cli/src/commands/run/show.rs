//! `omo run show`: the state of a run, task by task.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use omo_state::env::ProcessEnv;
use omo_view::text::progress_text;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::print_json;
use crate::plan_run_view::{plan_run_text, plan_run_view};
use crate::run_arguments::NamedRun;

const HELP: &str = "\
Examples:
  omo run show             the run that is open here, else the last one
  omo run show --json      the same for a script";

/// Show where a run stands, task by task
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunShowOptions {
    #[command(flatten)]
    pub run: NamedRun,
    /// Print JSON: one object
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(env: &ProcessEnv, options: &RunShowOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.id(), EndedRuns::Included)?;
    if options.json {
        let view = plan_run_view(env, &run, &state, &run.events()?, BTreeMap::new(), &|at| {
            at.to_string()
        });
        return print_json(&view);
    }
    let text = plan_run_text(env, &run, &state, progress_text)?;
    Ok(write!(anstream::stdout(), "{text}")?)
}

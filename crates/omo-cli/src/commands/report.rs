//! `omo report`: what came of a run, and `omo verify --task`: what the checks of a task say now.

use std::io::Write;

use omo_engine::report::{dev_workflow, task_list, ultraplan};
use omo_engine::state::RunState;
use omo_plan::model::Dialect;
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::{ReportFormat, ReportOptions, ShowOptions};
use crate::commands::run::show;
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;

/// Prints the report of a run.
pub(crate) fn print_report(env: &ProcessEnv, options: ReportOptions) -> Result<(), CommandError> {
    if options.format == Some(ReportFormat::Json) {
        return show::show(env, &ShowOptions { run: options.run, json: true });
    }
    let context = CommandContext::find(env)?;
    let (_, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    // Of steps the report that ends a run is the one for people.
    let text = match options.format.or(state.is_ultraplan().then_some(ReportFormat::Summary)) {
        Some(ReportFormat::Progress) => task_list::progress_screen(&state),
        Some(_) => summary(&state),
        None => return show::show(env, &ShowOptions { run: options.run, json: false }),
    };
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}

/// The report with which a run of such a plan ends.
fn summary(state: &RunState) -> String {
    match state.plan.dialect {
        Dialect::TasksJson => task_list::final_report(state),
        Dialect::Ultraplan | Dialect::SessionSpec => {
            ultraplan::final_report::final_report(state, ultraplan::scope_of(state))
        }
        Dialect::DevWorkflow => dev_workflow::execution_report::section(state),
    }
}

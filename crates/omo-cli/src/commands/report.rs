//! `omo report`: what came of a run, and `omo verify --task`: what the checks of a task say now.

use std::io::Write;

use anstyle::AnsiColor;
use omo_core::text::command_text::typed_form;
use omo_core::text::sanitize;
use omo_engine::report::{dev_workflow, task_list, ultraplan};
use omo_engine::state::RunState;
use omo_engine::verbs;
use omo_plan::dialects::PlanKind;
use omo_state::env::ProcessEnv;

use crate::commands::run::arguments::{ReportFormat, ReportOptions, ShowOptions};
use crate::commands::run::manage;
use crate::context::{CommandContext, Ended};
use crate::error::{CommandError, ExitKind};
use crate::output::check_progress::Shown;
use crate::output::table::{self, Cell};

/// Prints the report of a run.
pub(crate) fn print_report(env: &ProcessEnv, options: ReportOptions) -> Result<(), CommandError> {
    if options.format == Some(ReportFormat::Json) {
        return manage::show(env, &ShowOptions { run: options.run, json: true });
    }
    let context = CommandContext::find(env)?;
    let (_, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    // Of steps the report that ends a run is the one for people.
    let text = match options.format.or(state.is_ultraplan().then_some(ReportFormat::Summary)) {
        Some(ReportFormat::Progress) => task_list::progress_screen(&state),
        Some(_) => summary(&state),
        None => return manage::show(env, &ShowOptions { run: options.run, json: false }),
    };
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}

/// The report with which a run of such a plan ends.
fn summary(state: &RunState) -> String {
    match state.plan.dialect.kind() {
        PlanKind::TaskList => task_list::final_report(state),
        PlanKind::Steps => ultraplan::final_report::final_report(state, ultraplan::scope_of(state)),
        PlanKind::Tasks => dev_workflow::execution_report::section(state),
    }
}

/// Runs the checks of a task, and changes nothing.
pub(crate) fn verify_task(env: &ProcessEnv, id: &str, run: Option<&str>) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(run, Ended::Included)?;
    let engine = context.engine(&run, &state)?;
    let unit = verbs::find_task(&state, id)?;
    engine.require_approval(&state)?;
    let outcomes = engine.check_task(unit, None, &mut Shown::new())?;
    let mut out = anstream::stdout().lock();
    if outcomes.is_empty() {
        return Err(CommandError::not_green(
            format!("{} has no check", unit.id),
            "a plan names it behind `**Verify:**`",
        ));
    }
    let rows = outcomes.iter().map(|(check, outcome)| {
        let colour = if outcome.is_green() { AnsiColor::Green } else { AnsiColor::Red };
        [
            Cell::new(outcome.verdict.word(), colour.on_default().bold()),
            Cell::plain(format!("{:.1} s", std::time::Duration::from_millis(outcome.took_millis).as_secs_f64())),
            Cell::plain(sanitize(&outcome.detail, 100)),
            Cell::plain(typed_form(&check.command)),
        ]
    });
    table::write_table(&mut out, ["verdict", "time", "detail", "command"], rows.collect())?;
    let Some((_, red)) = outcomes.iter().find(|(_, outcome)| !outcome.is_green()) else { return Ok(()) };
    for line in red.first_lines.iter().chain(&red.last_lines) {
        writeln!(out, "  {line}")?;
    }
    Err(CommandError::already_printed(ExitKind::NotGreen))
}

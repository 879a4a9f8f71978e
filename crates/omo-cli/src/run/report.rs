//! `omo report`: what came of a run, and `omo check`: what the checks of a task say now.

use std::io::Write;

use anstyle::AnsiColor;
use omo_core::words::command::typed;
use omo_core::words::sanitize;
use omo_plan::model::Dialect;
use omo_plan::run::state::{Phase, RunState};
use omo_plan::run::verbs;
use omo_runs::{dev_workflow, task_session, ultra};
use omo_store::env::Env;

use super::arguments::{CheckOptions, Form, ReportOptions, ShowOptions};
use super::context::{CommandContext, Ended};
use super::watch::Shown;
use super::{blocks, manage};
use crate::failure::{Failure, Kind};
use crate::table::{self, Cell};

/// Prints the report of a run.
pub(crate) fn report(env: &Env, options: ReportOptions) -> Result<(), Failure> {
    if options.form == Some(Form::Json) {
        return manage::show(env, &ShowOptions { run: options.run, json: true });
    }
    let context = CommandContext::find(env)?;
    let (_, state) = context.run(options.run.run.as_deref(), Ended::Too)?;
    // Of steps the report of their seed is the one for people.
    match options.form.or(ultra::is_one(&state).then_some(Form::Seed002)) {
        Some(form) => Ok(writeln!(anstream::stdout(), "{}", in_words_of(form, &state)?.trim_end())?),
        None => manage::show(env, &ShowOptions { run: options.run, json: false }),
    }
}

/// The report as the programs have it that such plans come from.
fn in_words_of(form: Form, state: &RunState) -> Result<String, Failure> {
    match (form, state.plan.dialect, &state.phase) {
        (Form::Seed000, Dialect::TasksJson, Phase::Executing) => Ok(task_session::report::progress(state)),
        (Form::Seed000, Dialect::TasksJson, _) => Ok(task_session::report::finished(state)),
        (Form::Seed002, Dialect::Ultraplan | Dialect::SessionSpec, _) => {
            Ok(ultra::report::report(state, ultra::asked(state)))
        }
        (Form::Seed004, Dialect::DevWorkflow, _) => Ok(dev_workflow::report::section(state)),
        (_, dialect, _) => {
            let hint = match dialect {
                Dialect::TasksJson => "`--as 000` is for task sessions",
                Dialect::Ultraplan | Dialect::SessionSpec => "`--as 002` is for plans of steps",
                Dialect::DevWorkflow => "`--as 004` is for plans",
            };
            let message = format!("the run of {} has no report in that form", blocks::name(state));
            Err(Failure::precondition(message, hint))
        }
    }
}

/// Runs the checks of a task, and changes nothing.
pub(crate) fn check(env: &Env, options: &CheckOptions) -> Result<(), Failure> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.run(options.run.run.as_deref(), Ended::Too)?;
    let engine = context.engine(&run, &state)?;
    let unit = verbs::found(&state, &options.id)?;
    engine.approved(&state)?;
    let outcomes = engine.check_all(unit, None, &mut Shown::new())?;
    let mut out = anstream::stdout().lock();
    if outcomes.is_empty() {
        return Err(Failure::not_green(format!("{} has no check", unit.id), "a plan names it behind `**Verify:**`"));
    }
    let rows = outcomes.iter().map(|(check, outcome)| {
        let colour = if outcome.is_green() { AnsiColor::Green } else { AnsiColor::Red };
        [
            Cell::new(outcome.verdict.word(), colour.on_default().bold()),
            Cell::plain(format!("{:.1} s", std::time::Duration::from_millis(outcome.took_millis).as_secs_f64())),
            Cell::plain(sanitize(&outcome.detail, 100)),
            Cell::plain(typed(&check.command)),
        ]
    });
    table::write(&mut out, ["verdict", "time", "detail", "command"], rows.collect())?;
    let Some((_, red)) = outcomes.iter().find(|(_, outcome)| !outcome.is_green()) else { return Ok(()) };
    for line in red.first_lines.iter().chain(&red.last_lines) {
        writeln!(out, "  {line}")?;
    }
    Err(Failure::said(Kind::NotGreen))
}

//! `omo verify --task`: runs the checks of one task of a plan run, and prints the results.

use std::io::Write;

use anstyle::AnsiColor;
use omo_core::text::command_text::typed_form;
use omo_core::text::sanitize;
use omo_engine::verbs;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::check_progress::TaskCheckProgress;
use crate::output::table::{self, Cell};

pub(crate) fn verify_task(
    env: &ProcessEnv,
    id: &str,
    run: Option<&str>,
) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(run, EndedRuns::Included)?;
    let engine = context.engine(&run, &state)?;
    let task = verbs::find_task(&state, id)?;
    engine.require_approval(&state)?;
    let outcomes = engine.check_task(task, None, &mut TaskCheckProgress::new())?;
    let mut out = anstream::stdout().lock();
    if outcomes.is_empty() {
        return Err(CommandError::not_green(
            format!("{} has no check", task.id),
            "a plan names it after `**Verify:**`",
        ));
    }
    let rows = outcomes.iter().map(|(check, outcome)| {
        let colour = if outcome.is_green() {
            AnsiColor::Green
        } else {
            AnsiColor::Red
        };
        [
            Cell::new(outcome.verdict.word(), colour.on_default().bold()),
            Cell::plain(format!(
                "{:.1} s",
                std::time::Duration::from_millis(outcome.took_millis).as_secs_f64()
            )),
            Cell::plain(sanitize(&outcome.detail, 100)),
            Cell::plain(typed_form(&check.command)),
        ]
    });
    table::write_table(
        &mut out,
        ["verdict", "time", "detail", "command"],
        rows.collect(),
    )?;
    let Some((_, red)) = outcomes.iter().find(|(_, outcome)| !outcome.is_green()) else {
        return Ok(());
    };
    for line in red.quoted_output() {
        writeln!(out, "  {line}")?;
    }
    Err(CommandError::already_printed(ExitKind::NotGreen))
}

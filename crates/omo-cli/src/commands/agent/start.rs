//! `omo agent start`: a worker begins a task.

use std::io::Write;

use omo_plan::model::TaskKind;
use omo_state::env::ProcessEnv;

use crate::blocks::parts::LONG_TIMEOUT;
use crate::blocks::task_list_run;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::check_progress::TaskCheckProgress;
use crate::run_arguments::TaskOptions;
use clap::Args;

const HELP: &str = "\
Example:
  omo agent start 3

A task is begun once, and after everything that it depends on has passed.";

/// Begin a task: print what it asks for, and the ticket to end it with
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StartTaskOptions {
    #[command(flatten)]
    pub task: TaskOptions,
}

/// A worker begins.
pub(crate) fn run(env: &ProcessEnv, options: &StartTaskOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.task.run.run.as_deref(), EndedRuns::Excluded)?;
    let started = context.engine(&run, &before)?.start(&options.task.id, &mut TaskCheckProgress::new())?;
    context.note_in_session(&run, &before.holder, &run.state()?);
    let (id, ticket, run) = (&started.task.id, &started.ticket, run.id());
    let end = if before.is_task_list() || started.task.kind == TaskKind::Verify {
        task_list_run::how_to_end(&started.task, run, ticket)
    } else {
        how_to_end(run, ticket, before.plan.dialect.unit_word())
    };
    let mut out = anstream::stdout().lock();
    if before.is_ultraplan() {
        writeln!(out, "Step {id} of {run} is yours. What it asks for:\n")?;
    } else {
        writeln!(out, "Task {id} of {run} is yours, attempt {}. What it asks for:\n", started.attempt)?;
    }
    writeln!(out, "{}", started.brief.trim_end())?;
    Ok(writeln!(out, "\n{end}")?)
}

/// The commands with which the worker that has the ticket ends a task of a plan; `word` is what the plan calls one.
fn how_to_end(run: &str, ticket: &str, word: &str) -> String {
    format!(
        "When the work is finished:\n  run: omo agent done --run {run} --ticket {ticket} --note \"<what a later {word} should know, one line>\"      {LONG_TIMEOUT}\n\
         If it cannot be done as it is written:\n  run: omo agent fail --run {run} --ticket {ticket} --why \"<one line>\""
    )
}

//! `omo run retry`: reopens a failed or passed task at a person's request.

use std::io::Write;

use omo_core::text::sanitize;
use omo_engine::state::RunState;
use omo_engine::verbs;
use omo_plan::model::Task;
use omo_state::env::ProcessEnv;

use crate::blocks::next_at_terminal;
use crate::context::{self, CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::TaskOptions;
use clap::Args;

const HELP: &str = "\
Example:
  omo run retry 3
  omo run retry 3 --passed

From a session it needs a prompt of its user since the task failed. A task that has passed is done again with all
that depends on it, and only where its user says so: in a terminal, or as `/omo:retry 3 --passed`. A verification
judges again, and nothing else is done again.";

/// Have a failed task done again
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RetryOptions {
    #[command(flatten)]
    pub task: TaskOptions,
    /// Also if it has passed, with all that depends on it
    #[arg(long)]
    pub passed: bool,
}

pub(crate) fn run(env: &ProcessEnv, options: &RetryOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let state = reopen(&context, &options.task, options.passed)?;
    let line = reopened_line(&state, &options.task.id);
    Ok(writeln!(
        anstream::stdout(),
        "{line} {}",
        next_line(&context, &state)
    )?)
}

/// Line on what to do next, for a person at a terminal, or for a model.
pub(super) fn next_line(context: &CommandContext, state: &RunState) -> String {
    if context.is_person() {
        format!("Next: {}", next_at_terminal(state))
    } else {
        "`omo agent next` says what comes next.".to_owned()
    }
}

/// Line on the reopened tasks; for a review, on the judgement alone.
pub(crate) fn reopened_line(state: &RunState, id: &str) -> String {
    let is_review = state.plan.task(id).is_some_and(Task::is_verification);
    let consequence = if is_review {
        "judges again; no task is done again."
    } else {
        "is to be done again."
    };
    format!("{} {consequence}", sanitize(id, 64))
}

pub(crate) fn reopen(
    context: &CommandContext,
    options: &TaskOptions,
    with_passed: bool,
) -> Result<RunState, CommandError> {
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let engine = context.engine(&run, &before)?;
    if with_passed && engine.caller.actor.session.is_some() && context.typed_at.is_none() {
        return Err(CommandError::needs_person(
            "only a person has a task done again that has passed",
            format!(
                "they type `/omo:retry {} --passed`, or run this in a terminal",
                sanitize(&options.id, 64)
            ),
        ));
    }
    engine.require_unedited_plan(&before)?;
    let _door = context
        .runs
        .as_ref()
        .map(|runs| context.lock_opening(runs, Some(run.id())))
        .transpose()?;
    if let (Some(runs), true) = (&context.runs, before.parallel.is_some()) {
        context::require_only_parallel_run(runs, Some(run.id()))?;
    }
    context.note_ended_run(&run, &before);
    let verb = if with_passed {
        verbs::reopen_passed_task
    } else {
        verbs::retry_task
    };
    let state = engine.decide(|state| verb(state, &engine.caller, &options.id))?;
    context.note_in_session(&run, &before.holder, &state);
    Ok(state)
}

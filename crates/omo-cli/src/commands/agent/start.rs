//! `omo agent start`: begins a task for a worker, and prints its brief and ticket.

use omo_engine::Run;
use omo_engine::handover::TASKS_PER_WORKER;
use omo_engine::state::RunState;
use omo_state::env::ProcessEnv;

use crate::blocks::parts::LONG_TIMEOUT;
use crate::blocks::task_list_run;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::output::check_progress::TaskCheckProgress;
use crate::output::print_block;
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

pub(crate) fn run(env: &ProcessEnv, options: &StartTaskOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.task.run.run.as_deref(), EndedRuns::Excluded)?;
    let is_of_agent = before.dispatched.as_ref().is_some_and(|out| out.to_agents);
    let follows = if is_of_agent {
        FollowingTasks::AtMost(TASKS_PER_WORKER - 1)
    } else {
        FollowingTasks::None
    };
    let text = begin_task(&context, &run, &before, &options.task.id, follows)?;
    print_block(&text)
}

/// Further tasks for a worker, as the option `--next` of `omo agent done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowingTasks {
    None,
    AtMost(u32),
    Any,
}

impl FollowingTasks {
    fn option(self) -> String {
        match self {
            Self::None | Self::AtMost(0) => String::new(),
            Self::AtMost(most) => format!(" --next {most}"),
            Self::Any => " --next".to_owned(),
        }
    }
}

pub(super) fn begin_task(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    id: &str,
    follows: FollowingTasks,
) -> Result<String, CommandError> {
    let started = context
        .engine(run, before)?
        .start(id, &mut TaskCheckProgress::new())?;
    context.note_in_session(run, &before.holder, &run.state()?);
    let (id, ticket, run) = (&started.task.id, &started.ticket, run.id());
    let end = if before.is_task_list() || started.task.is_verification() {
        task_list_run::how_to_end(&started.task, &before.plan, run, ticket, &follows.option())
    } else {
        how_to_end(
            run,
            ticket,
            before.plan.dialect.unit_word(),
            &follows.option(),
        )
    };
    let attempt = started.attempt;
    let heading = if before.is_ultraplan() {
        format!("Step {id} of {run} is yours. What it asks for:")
    } else {
        format!("Task {id} of {run} is yours, attempt {attempt}. What it asks for:")
    };
    Ok(format!(
        "{heading}\n\n{}\n\n{end}",
        started.brief.trim_end()
    ))
}

fn how_to_end(run: &str, ticket: &str, word: &str, next: &str) -> String {
    format!(
        "When the work is finished:\n  run: omo agent done --run {run} --ticket {ticket}{next} --note \"<what a later {word} should know, one line>\"      {LONG_TIMEOUT}\n\
         If it cannot be done as it is written:\n  run: omo agent fail --run {run} --ticket {ticket} --why \"<one line>\""
    )
}

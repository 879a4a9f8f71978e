//! Execution of a plan or a task list, for `omo run start` and all slash commands.

pub(crate) mod approval;
pub(crate) mod continue_run;
mod dry_run;
mod entry_condition;
mod known_run;
pub(crate) mod line;
mod mode;
mod open_or_continue;
pub(crate) mod open_run;
pub(crate) mod options;
pub(crate) mod plan_file;
pub(crate) mod preflight;
pub(crate) mod refusals;
pub(crate) mod request;
mod retype;
pub(crate) mod task_list;

use std::io::Write;

use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;
use omo_engine::Run;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::RunState;

use crate::blocks::next_at_terminal;
use crate::blocks::parallel_run::next_command;
use crate::commands::agent::next::answer_with_next;
use crate::commands::plan::list::ready_plans;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::continue_run::continue_open_run;
use crate::execute::known_run::{KnownRun, find_run};
use crate::execute::mode::{PickedMode, pick_mode};
use crate::execute::open_or_continue::open_or_continue;
use crate::execute::plan_file::{find_plan_file, read_plan};
use crate::execute::request::{ExecuteRequest, RequestedPlan};
use crate::exit_kind::ExitKind;
use crate::output;

pub(crate) fn execute(
    context: &CommandContext,
    request: ExecuteRequest,
) -> Result<(), CommandError> {
    if let Some(worker) = &context.env.worker {
        let message = format!(
            "this session works on {} of the run {}, and opens no run",
            worker.worker, worker.run
        );
        return Err(CommandError::precondition(
            message,
            "`omo agent next` says what it is to do",
        ));
    }
    match request.source.clone() {
        RequestedPlan::File(path) => execute_file(context, request, &path),
        RequestedPlan::TaskList(session) => {
            task_list::execute(context, &request, session.as_deref())
        }
        RequestedPlan::OpenRun => match continue_open_run(context, request.is_typed) {
            Err(missing) if missing.kind == ExitKind::NotFound => {
                offer_plan(context, &request, missing)
            }
            found => found,
        },
    }
}

/// Offers the only ready plan, where no run is open and no plan is named. Nothing begins.
fn offer_plan(
    context: &CommandContext,
    request: &ExecuteRequest,
    missing: CommandError,
) -> Result<(), CommandError> {
    let ready = ready_plans(context.env, &context.root)?;
    let ([path], true) = (ready.as_slice(), context.is_preview) else {
        return Err(naming_ready_plans(context, request, &ready, missing, ""));
    };
    let named = request.with_file(path);
    let typed = execute_line(context, request, path);
    execute_file(context, named, path)?;
    output::print_block(&format!(
        "[omo] No run is open here. One plan is ready: {}. To execute it, type:\n  {typed}",
        sanitize(path, 200)
    ))?;
    Err(CommandError::already_printed(ExitKind::NotFound))
}

/// The error with a hint that names plans with open tasks behind `before`; with its own hint where there are none.
fn naming_ready_plans(
    context: &CommandContext,
    request: &ExecuteRequest,
    ready: &[String],
    missing: CommandError,
    before: &str,
) -> CommandError {
    const NAMED_PLANS: usize = 5;
    let line = |path: &String| execute_line(context, request, path);
    let hint = match ready {
        [] => return missing,
        [path] => format!("{before}one plan is ready: `{}` executes it", line(path)),
        [..] => {
            let lines: Vec<String> = ready.iter().take(NAMED_PLANS).map(line).collect();
            let more = match ready.len().saturating_sub(NAMED_PLANS) {
                0 => "",
                _ => "\n  … `omo plan list` has all of them",
            };
            format!(
                "{before}{} plans are ready; name one:\n  {}{more}",
                ready.len(),
                lines.join("\n  ")
            )
        }
    };
    CommandError::not_found(missing.message(), hint)
}

/// Command line that executes a plan, as typed in a session or at a terminal.
fn execute_line(context: &CommandContext, request: &ExecuteRequest, path: &str) -> String {
    if !context.env.in_session {
        return format!("omo run start {}", quote_argument(path));
    }
    request.with_file(path).typed()
}

/// Prints the opened run and the next step: in words at a terminal, for a session the answer of `omo agent next`.
pub(crate) fn print_then_next(
    context: &CommandContext,
    run: &Run,
    state: RunState,
    heading: &str,
) -> Result<(), CommandError> {
    let heading = heading.trim_end();
    if context.is_person() && !context.is_agent_verb {
        return output::print_block(&format!("{heading}\n\nNext: {}", next_at_terminal(&state)));
    }
    let then = next_command(&state, context.is_person());
    if context.is_person() || state.parallel.is_some() {
        return output::print_block(&format!("{heading}\n\nDO\n  run: {then}"));
    }
    writeln!(anstream::stdout(), "{heading}\n")?;
    // The run is open even if it cannot go on now; `omo agent next` repeats the error.
    answer_with_next(context, run, state).or_else(|error| {
        output::print_warning(&error.message());
        output::print_block(&format!("DO\n  run: {then}"))
    })
}

fn execute_file(
    context: &CommandContext,
    mut request: ExecuteRequest,
    path: &str,
) -> Result<(), CommandError> {
    while let Some(check) = start_plan(context, &mut request, path)? {
        request.proof.check = vec![check];
    }
    Ok(())
}

/// Opens or continues the run of a plan. A returned check is the user's answer about proof: begin again with it.
fn start_plan(
    context: &CommandContext,
    request: &mut ExecuteRequest,
    path: &str,
) -> Result<Option<String>, CommandError> {
    let file = match find_plan_file(context, path) {
        Err(missing) if missing.kind == ExitKind::NotFound => {
            let ready = ready_plans(context.env, &context.root)?;
            let own = missing.hint().map(|hint| format!("{hint}; "));
            let own = own.unwrap_or_default();
            return Err(naming_ready_plans(context, request, &ready, missing, &own));
        }
        found => found?,
    };
    let known_run = match &context.runs {
        Some(runs) if !request.scope.is_dry_run => find_run(context, runs, &file.path)?,
        _ => KnownRun::Ended(Vec::new()),
    };
    let plan = read_plan(context, request, &file, &known_run)?;
    let PickedMode {
        mode,
        explanation,
        is_own_choice,
    } = pick_mode(request, &known_run, &plan)?;
    request.heading = format!(
        "Mode: {}\nFile: {}\n",
        RunScope::from(&request.scope).describe(),
        sanitize(path, 200)
    );
    request.choice = explanation
        .map(|line| format!("[omo] {}\n", sanitize(&line, 400)))
        .unwrap_or_default();
    open_or_continue(context, request, &plan, mode, known_run).inspect_err(|failure| {
        let is_on_screen = failure.kind == ExitKind::NeedsPerson && context.env.in_session;
        if is_own_choice && !is_on_screen && !failure.is_printed() && !context.is_preview {
            output::print_stderr_line(&request.choice.trim_end());
        }
    })
}

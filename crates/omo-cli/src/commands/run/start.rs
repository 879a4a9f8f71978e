//! `omo run start` and `omo agent open`: a plan becomes a run in the mode that it asks for, or that its user names, or
//! goes on with the run that it has. All slash commands come here, each with its own options and defaults.

mod again;
pub(crate) mod arguments;
pub(crate) mod begin;
mod by_agents;
mod line;

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::RunStore;
use omo_engine::modes::{ExecutionMode, choose};
use omo_engine::request::arguments::{ArgumentError, PlanSelection};
use omo_engine::request::check_target::{PathTarget, check_file, check_selection};
use omo_engine::request::part::requested_strategy;
use omo_engine::state::RunState;
use omo_engine::work::PlanFile;
use omo_plan::dialects::BatchOptions;
use omo_plan::model::Plan;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::sealed_plan_run;

use super::open::{continue_open_run, invalid_plan_error};
use crate::commands::run::{parallel, task_list};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::output::print_block;
use crate::project::Project;
use arguments::{ExecuteCommand, ExecuteRequest, OpenOptions, PlanSource, StartOptions};
use line::Line;

pub(super) use begin::{PAYER, begin, prepare};
pub(crate) use line::message as message_of_clap;

/// `omo run start`.
pub(super) fn start(env: &ProcessEnv, options: StartOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let wrong = |why: String| CommandError::usage(why, "`omo run start --help` names the options");
    execute(&context, &ExecuteRequest::try_from(options).map_err(wrong)?)
}

/// `omo agent open`.
pub(crate) fn open_typed(env: &ProcessEnv, options: OpenOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let command = options.command;
    let (line, is_typed) = match options.line {
        Some(line) => (line, false),
        None => match typed_arguments(&context, command)? {
            Some(line) => (line, true),
            None => return print_block(&nothing_typed(command)),
        },
    };
    match line::read(command, &line)? {
        Line::Help(page) => print_block(&format!("DONE\n  Show the user this page, then end your turn.\n\n{page}")),
        Line::Request(request) => execute(&context, &ExecuteRequest { digest: options.digest, is_typed, ..*request }),
    }
}

/// What the user typed behind the command, where the hook has kept it.
fn typed_arguments(context: &CommandContext, command: ExecuteCommand) -> Result<Option<String>, CommandError> {
    let (Some(id), Some(folder)) = (&context.session, GuardedFolder::open_state(&context.root)?) else {
        return Ok(None);
    };
    Ok(sealed_plan_run::take_arguments(&folder, id, command.name(), Project::state_update(context.env))?)
}

/// The model called the command by itself.
fn nothing_typed(command: ExecuteCommand) -> String {
    let (what, run) = match command {
        ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal => ("the plan", "omo run start '<plan.md>'"),
        ExecuteCommand::ExecutePlan => ("the plan", "omo run start --batches '<plan.md>'"),
        ExecuteCommand::UlwExec => ("the task list", "omo run start --tasks --session ID"),
    };
    format!(
        "DO\n  No arguments were typed for this command. If you called it yourself, run this with {what} that you \
         were asked to execute:\n  run: {run}\n  If you do not know which one is meant, ask the user."
    )
}

fn execute(context: &CommandContext, request: &ExecuteRequest) -> Result<(), CommandError> {
    if let Some(own) = &context.env.worker {
        let message = format!("this session works on {} of the run {}, and opens no run", own.worker, own.run);
        return Err(CommandError::precondition(message, "`omo agent next` says what it is to do"));
    }
    match &request.source {
        PlanSource::OpenRun => continue_open_run(context),
        PlanSource::TaskList(session) => task_list::execute(context, request, session.as_deref()),
        PlanSource::File(path) => execute_file(context, request, path),
    }
}

fn execute_file(context: &CommandContext, request: &ExecuteRequest, path: &str) -> Result<(), CommandError> {
    let plan = read(context, request, path)?;
    let (mode, chosen) = mode_of(context, request, &plan)?;
    let choice = chosen.map(|line| format!("[omo] {}\n", sanitize(&line, 400))).unwrap_or_default();
    let request = &ExecuteRequest { choice, ..request.clone() };
    let done = match mode {
        _ if request.scope.is_dry_run => parallel::print_dry_run(context, request, &plan, mode),
        ExecutionMode::Batches | ExecutionMode::Waves => by_agents::execute(context, request, plan, mode),
        ExecutionMode::Parallel | ExecutionMode::StepByStep => parallel::execute(context, request, &plan, mode),
    };
    // The user who is asked to approve the commands reads as well how they will be run.
    done.inspect_err(|_| {
        if !request.choice.is_empty() {
            crate::output::print_stderr_line(&request.choice.trim_end());
        }
    })
}

/// The plan that is meant, with the part that is asked for in it.
fn read(context: &CommandContext, request: &ExecuteRequest, path: &str) -> Result<Plan, CommandError> {
    let current = std::env::current_dir()?;
    check_file(path, found(&current.join(path))).map_err(refused)?;
    let file = PlanFile::read_anywhere(&context.root, &current, Path::new(path))?;
    let options = request.mode_options();
    let plan = file.plan(BatchOptions::of(options.hub_k, options.batch_size));
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, &file.bytes));
    }
    check_selection(&plan, request.scope.selection).map_err(refused)?;
    Ok(plan)
}

fn found(path: &Path) -> PathTarget {
    match path.metadata() {
        Ok(meta) if meta.is_file() => PathTarget::File,
        Ok(_) => PathTarget::Other,
        // What this user cannot look at is not there for them.
        Err(_) => PathTarget::Nothing,
    }
}

/// What was typed cannot be done.
pub(super) fn refused(error: ArgumentError) -> CommandError {
    let ArgumentError { message, hint, is_missing } = error;
    if is_missing { CommandError::not_found(message, hint) } else { CommandError::usage(message, hint) }
}

/// The mode that a plan is executed in: that of its open run, the one that was named, the command's own, or the one
/// that the plan asks for. With what is said about it, where omo has chosen.
fn mode_of(
    context: &CommandContext,
    request: &ExecuteRequest,
    plan: &Plan,
) -> Result<(ExecutionMode, Option<String>), CommandError> {
    let scope = &request.scope;
    let is_part = scope.selection != PlanSelection::Whole || scope.is_foreground;
    let named = request.mode.or(is_part.then_some(ExecutionMode::StepByStep));
    if request.command == ExecuteCommand::ExecuteLocal {
        let in_sessions = requested_strategy(plan, scope).starts_clients();
        return Ok((if in_sessions { ExecutionMode::Parallel } else { ExecutionMode::StepByStep }, None));
    }
    let known =
        context.runs.as_ref().map(|runs| run_of(context, runs, plan, scope.is_resume, named)).transpose()?.flatten();
    if let (Some((id, state)), false) = (known, scope.is_dry_run) {
        return match named {
            Some(mode) if mode != state.mode => Err(otherwise(&id, &state)),
            _ => Ok((state.mode, None)),
        };
    }
    Ok(match (named, request.command) {
        (Some(mode), _) => (mode, None),
        (None, ExecuteCommand::ExecutePlan) => (ExecutionMode::Batches, None),
        (None, ExecuteCommand::UlwExec) => (ExecutionMode::Waves, None),
        (None, ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal) => {
            let choice = choose(plan);
            (choice.mode, Some(choice.line(&plan.source.path, plan.dialect)))
        }
    })
}

/// The run of a plan that is open here. To resume one, also the last that is over: in the mode that was named, where
/// there is such a run.
fn run_of(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    is_resume: bool,
    named: Option<ExecutionMode>,
) -> Result<Option<(String, RunState)>, CommandError> {
    let is_of_it = |state: &RunState| state.plan.source.path == plan.source.path;
    if let Some((run, state)) = context.open_run(runs)? {
        return Ok(is_of_it(&state).then(|| (run.id().to_owned(), state)));
    }
    if !is_resume {
        return Ok(None);
    }
    let known = runs.list()?.into_iter().filter_map(|listed| Some((listed.id, listed.state.ok()?)));
    let mut over: Vec<_> = known.filter(|(_, state)| context.is_in_this_work_tree(state) && is_of_it(state)).collect();
    let place = over.iter().position(|(_, state)| named.is_none_or(|mode| mode == state.mode)).unwrap_or(0);
    Ok((place < over.len()).then(|| over.swap_remove(place)))
}

/// A run stays in the mode that it was opened in.
pub(super) fn otherwise(id: &str, state: &RunState) -> CommandError {
    let message =
        format!("the run {id} of {} is open, and runs {}", crate::blocks::run_subject(state), state.mode.words());
    CommandError::busy(message, "without another mode this goes on with it; `omo run cancel` ends it first")
}

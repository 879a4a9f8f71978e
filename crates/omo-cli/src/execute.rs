//! A plan or a task list is executed: it becomes a run in the mode that it asks for, or that its user names, or goes on
//! with the run that it has. `omo run start` and all slash commands come here, each with its own options and defaults.

pub(crate) mod approval;
pub(crate) mod continue_run;
mod dry_run;
mod entry_condition;
mod known_run;
pub(crate) mod line;
mod open_or_continue;
pub(crate) mod open_run;
pub(crate) mod options;
pub(crate) mod preflight;
pub(crate) mod refusals;
pub(crate) mod request;
mod retype;
pub(crate) mod task_list;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use omo_core::text::sanitize;
use omo_engine::Run;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::choose;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::check_target::{PathTarget, check_file, check_selection};
use omo_engine::request::part::requested_strategy;
use omo_engine::state::RunState;
use omo_engine::work::PlanFile;
use omo_plan::dialects::{BatchOptions, PlanReading};
use omo_plan::model::{Dialect, Plan};
use omo_plan::project_paths::name_files_from_top;
use omo_plan::proof::find_proofs;

use crate::blocks::next_at_terminal;
use crate::blocks::parallel_run::next_command;
use crate::commands::agent::next::print_answer;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::continue_run::{continue_open_run, known_run_line};
use crate::execute::known_run::{KnownRun, RunQuery, find_run};
use crate::execute::open_or_continue::open_or_continue;
use crate::execute::refusals::{argument_error, invalid_plan_error, other_mode_error};
use crate::execute::request::{ExecuteCommand, ExecuteRequest, PlanSource};
use crate::exit_kind::ExitKind;
use crate::output;

pub(crate) fn execute(context: &CommandContext, request: ExecuteRequest) -> Result<(), CommandError> {
    if let Some(own) = &context.env.worker {
        let message = format!("this session works on {} of the run {}, and opens no run", own.worker, own.run);
        return Err(CommandError::precondition(message, "`omo agent next` says what it is to do"));
    }
    match request.source.clone() {
        PlanSource::OpenRun => continue_open_run(context, request.is_typed),
        PlanSource::TaskList(session) => task_list::execute(context, &request, session.as_deref()),
        PlanSource::File(path) => execute_file(context, request, &path),
    }
}

/// Says that a run is open, and what comes next: to a person at a terminal in words, to a session with the answer of the
/// next command, which saves it a request.
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
    // The run is open whatever keeps it from going on now, which that command says again.
    print_answer(context, run, state).or_else(|error| {
        output::print_warning(&error.message());
        output::print_block(&format!("DO\n  run: {then}"))
    })
}

fn execute_file(context: &CommandContext, mut request: ExecuteRequest, path: &str) -> Result<(), CommandError> {
    while let Some(check) = start_plan(context, &mut request, path)? {
        request.proof.check = vec![check];
    }
    Ok(())
}

/// Opens the run of a plan, or goes on with the one that it has. Where its user has answered what proves its tasks,
/// that is the check to begin with, and nothing was done yet.
fn start_plan(
    context: &CommandContext,
    request: &mut ExecuteRequest,
    path: &str,
) -> Result<Option<String>, CommandError> {
    let is_dry_run = request.scope.is_dry_run;
    let file = find_plan_file(context, path)?;
    let known = find_run(context, context.runs.as_ref().filter(|_| !is_dry_run), &file.path)?;
    let dialect = known.dialect(&file.path, request.dialect)?;
    let plan = read_plan(context, request, &file, dialect)?;
    let PickedMode { mode, line, is_own_choice } = pick_mode(request.command, request.run_query(), &known, &plan)?;
    request.choice = line.map(|line| format!("[omo] {}\n", sanitize(&line, 400))).unwrap_or_default();
    let done = if is_dry_run {
        dry_run::print_dry_run(context, request, &plan, mode).map(|()| None)
    } else {
        open_or_continue(context, request, &plan, mode, known)
    };
    // The user who is asked to approve the commands reads as well how they will be run.
    done.inspect_err(|failure| {
        // The screen of an approval says it itself.
        let is_on_screen = failure.kind == ExitKind::NeedsPerson && context.env.in_session;
        if is_own_choice && !is_on_screen && !failure.is_printed() && !context.is_preview {
            output::print_stderr_line(&request.choice.trim_end());
        }
    })
}

fn find_plan_file(context: &CommandContext, path: &str) -> Result<PlanFile, CommandError> {
    let current = std::env::current_dir().context("the current folder cannot be found")?;
    check_file(path, path_target(&current.join(path))).map_err(argument_error)?;
    Ok(PlanFile::read_anywhere(&context.root, &current, Path::new(path))?)
}

/// The plan in a file, with the part that is asked for in it.
fn read_plan(
    context: &CommandContext,
    request: &ExecuteRequest,
    file: &PlanFile,
    dialect: Option<Dialect>,
) -> Result<Plan, CommandError> {
    let options = request.mode_options();
    let batches = BatchOptions::of(options.hub_k, options.batch_size);
    let plan = name_files_from_top(file.plan(PlanReading { batches, dialect }), &context.root.to_string_lossy());
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, file));
    }
    check_selection(&plan, request.scope.selection).map_err(argument_error)?;
    let mut plan = find_proofs(plan, &request.proof.added_checks());
    plan.policy.requires_checks |= request.proof.require_checks;
    plan.policy.review = request.proof.review.unwrap_or_default();
    Ok(plan)
}

fn path_target(path: &Path) -> PathTarget {
    match path.metadata() {
        Ok(meta) if meta.is_file() => PathTarget::File,
        Ok(meta) if meta.is_dir() => PathTarget::Folder,
        Ok(_) => PathTarget::Other,
        // What this user cannot look at is not there for them.
        Err(_) => PathTarget::Nothing,
    }
}

/// The mode that a plan is executed in.
struct PickedMode {
    mode: ExecutionMode,
    /// What says so, where the command does not.
    line: Option<String>,
    /// omo chose it, by what the plan asks for.
    is_own_choice: bool,
}

impl PickedMode {
    fn given(mode: ExecutionMode, line: Option<String>) -> Self {
        Self { mode, line, is_own_choice: false }
    }
}

/// The mode that a plan is executed in: that of its open run, the one that was named, the command's own, or the one
/// that the plan asks for. With the line that says so.
fn pick_mode(
    command: ExecuteCommand,
    query: RunQuery,
    known: &KnownRun,
    plan: &Plan,
) -> Result<PickedMode, CommandError> {
    if command == ExecuteCommand::ExecuteLocal {
        let in_sessions = requested_strategy(plan, &query.scope).starts_clients();
        let mode = if in_sessions { ExecutionMode::Parallel } else { ExecutionMode::StepByStep };
        return Ok(PickedMode::given(mode, None));
    }
    // The other commands are named after their mode.
    let says_mode = command == ExecuteCommand::Execute;
    let is_part = query.scope.selection != PlanSelection::Whole || query.scope.is_foreground;
    let named = query.named.or(is_part.then_some(ExecutionMode::StepByStep));
    match (known.run_with_mode(&plan.source.path, query.scope.is_resume, named), named, command) {
        (Some((id, state)), Some(mode), _) if mode != state.mode => Err(other_mode_error(id, state)),
        (Some((_, state)), ..) => Ok(PickedMode::given(state.mode, says_mode.then(|| known_run_line(state)))),
        (None, Some(mode), _) => {
            let line = format!("{}: run {}, as you asked", plan.source.path, mode.words());
            Ok(PickedMode::given(mode, says_mode.then_some(line)))
        }
        (None, None, ExecuteCommand::ExecutePlan) => Ok(PickedMode::given(ExecutionMode::Batches, None)),
        (None, None, ExecuteCommand::UlwExec) => Ok(PickedMode::given(ExecutionMode::Waves, None)),
        (None, None, ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal) => {
            let choice = choose(plan);
            let line = Some(choice.line(&plan.source.path));
            Ok(PickedMode { mode: choice.mode, line, is_own_choice: true })
        }
    }
}

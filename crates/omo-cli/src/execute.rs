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
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::choose;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::check_target::{PathTarget, check_file, check_selection};
use omo_engine::request::part::requested_strategy;
use omo_engine::state::RunState;
use omo_engine::work::PlanFile;
use omo_engine::{Run, RunStore};
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
use crate::execute::open_or_continue::open_or_continue;
use crate::execute::refusals::{argument_error, invalid_plan_error, other_mode_error};
use crate::execute::request::{ExecuteCommand, ExecuteRequest, PlanSource};
use crate::exit_kind::ExitKind;
use crate::output;

pub(crate) fn execute(context: &CommandContext, request: &ExecuteRequest) -> Result<(), CommandError> {
    if let Some(own) = &context.env.worker {
        let message = format!("this session works on {} of the run {}, and opens no run", own.worker, own.run);
        return Err(CommandError::precondition(message, "`omo agent next` says what it is to do"));
    }
    match &request.source {
        PlanSource::OpenRun => continue_open_run(context, request.is_typed),
        PlanSource::TaskList(session) => task_list::execute(context, request, session.as_deref()),
        PlanSource::File(path) => execute_file(context, request, path),
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

fn execute_file(context: &CommandContext, request: &ExecuteRequest, path: &str) -> Result<(), CommandError> {
    let plan = read_plan(context, request, path)?;
    let PickedMode { mode, line, is_own_choice } = pick_mode(context, request, &plan)?;
    let choice = line.map(|line| format!("[omo] {}\n", sanitize(&line, 400))).unwrap_or_default();
    let request = &ExecuteRequest { choice, ..request.clone() };
    let done = if request.scope.is_dry_run {
        dry_run::print_dry_run(context, request, &plan, mode).map(|()| None)
    } else {
        open_or_continue(context, request, &plan, mode)
    };
    // The user who is asked to approve the commands reads as well how they will be run.
    let answered = done.inspect_err(|failure| {
        // The screen of an approval says it itself.
        let is_on_screen = failure.kind == ExitKind::NeedsPerson && context.env.in_session;
        if is_own_choice && !is_on_screen && !failure.is_printed() && !context.is_preview {
            output::print_stderr_line(&request.choice.trim_end());
        }
    })?;
    answered.map_or(Ok(()), |request| execute_file(context, &request, path))
}

/// The plan that is meant, with the part that is asked for in it.
fn read_plan(context: &CommandContext, request: &ExecuteRequest, path: &str) -> Result<Plan, CommandError> {
    let current = std::env::current_dir().context("the current folder cannot be found")?;
    check_file(path, path_target(&current.join(path))).map_err(argument_error)?;
    let file = PlanFile::read_anywhere(&context.root, &current, Path::new(path))?;
    let options = request.mode_options();
    let batches = BatchOptions::of(options.hub_k, options.batch_size);
    let plan = file.plan(PlanReading { batches, dialect: pick_dialect(context, request, &file.path)? });
    let plan = name_files_from_top(plan, &context.root.to_string_lossy());
    if !plan.can_run() {
        return Err(invalid_plan_error(&plan, &file));
    }
    check_selection(&plan, request.scope.selection).map_err(argument_error)?;
    let mut plan = find_proofs(plan, &request.proof.added_checks());
    plan.policy.requires_checks |= request.proof.require_checks;
    plan.policy.review = request.proof.review.unwrap_or_default();
    Ok(plan)
}

/// The dialect that was named. While a run of the plan is open it is that of the run, which no other one can be named
/// for.
fn pick_dialect(
    context: &CommandContext,
    request: &ExecuteRequest,
    path: &str,
) -> Result<Option<Dialect>, CommandError> {
    let open = context.runs.as_ref().filter(|_| !request.scope.is_dry_run).map(|runs| context.open_run(runs));
    let of_plan = open.transpose()?.flatten().filter(|(_, state)| state.plan.source.path == path);
    match (of_plan, request.dialect) {
        (Some((run, state)), Some(named)) if named != state.plan.dialect => {
            let word = state.plan.dialect.word();
            let message = format!("the run {} of {} is open, and reads it as {word}", run.id(), sanitize(path, 200));
            Err(CommandError::busy(message, "without --dialect this goes on with it; `omo run cancel` ends it first"))
        }
        (Some((_, state)), _) => Ok(Some(state.plan.dialect)),
        (None, named) => Ok(named),
    }
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
fn pick_mode(context: &CommandContext, request: &ExecuteRequest, plan: &Plan) -> Result<PickedMode, CommandError> {
    let scope = &request.scope;
    // The other commands are named after their mode.
    let says_mode = request.command == ExecuteCommand::Execute;
    let is_part = scope.selection != PlanSelection::Whole || scope.is_foreground;
    let named = request.mode.or(is_part.then_some(ExecutionMode::StepByStep));
    if request.command == ExecuteCommand::ExecuteLocal {
        let in_sessions = requested_strategy(plan, scope).starts_clients();
        let mode = if in_sessions { ExecutionMode::Parallel } else { ExecutionMode::StepByStep };
        return Ok(PickedMode::given(mode, None));
    }
    let known = context
        .runs
        .as_ref()
        .map(|runs| find_run_of_plan(context, runs, plan, scope.is_resume, named))
        .transpose()?
        .flatten();
    if let (Some((id, state)), false) = (known, scope.is_dry_run) {
        return match named {
            Some(mode) if mode != state.mode => Err(other_mode_error(&id, &state)),
            _ => Ok(PickedMode::given(state.mode, says_mode.then(|| known_run_line(&state)))),
        };
    }
    Ok(match (named, request.command) {
        (Some(mode), _) => {
            let line = format!("{}: run {}, as you asked", plan.source.path, mode.words());
            PickedMode::given(mode, says_mode.then_some(line))
        }
        (None, ExecuteCommand::ExecutePlan) => PickedMode::given(ExecutionMode::Batches, None),
        (None, ExecuteCommand::UlwExec) => PickedMode::given(ExecutionMode::Waves, None),
        (None, ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal) => {
            let choice = choose(plan);
            let line = Some(choice.line(&plan.source.path));
            PickedMode { mode: choice.mode, line, is_own_choice: true }
        }
    })
}

/// The run of a plan that is open here. To resume one, also the last that is over: in the mode that was named, where
/// there is such a run.
fn find_run_of_plan(
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

//! Start of a plan's run in a chosen mode, or continuation of the known run.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::arranged;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::RunPhase;
use omo_engine::{ExclusiveGuard, RunStore};
use omo_plan::diagnostic::Code;
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;

use crate::blocks::parallel_run::plan_lines;
use crate::blocks::parts::plan_notes;
use crate::context::{CommandContext, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::continue_run::{Continuing, continue_run};
use crate::execute::dry_run::print_dry_run;
use crate::execute::known_run::{KnownRun, RunQuery, find_run};
use crate::execute::open_run::{ask_for_check, begin, prepare};
use crate::execute::refusals::{require_repository, require_writable_files};
use crate::execute::request::{ExecuteCommand, ExecuteRequest};

const TOLD_ABOVE: [Code; 2] = [Code::MissingOnFailure, Code::MissingVerify];

pub(crate) fn open_or_continue(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
    known: KnownRun,
) -> Result<Option<String>, CommandError> {
    let by_agents = mode.is_done_by_agents();
    let is_dry_run = request.scope.is_dry_run;
    if by_agents && Path::new(&whole.source.path).is_absolute() && !is_dry_run {
        return Err(outside_project_error(&whole.source.path));
    }
    if !is_dry_run {
        require_repository(&context.root)?;
    }
    if let Some(runs) = context.runs.as_ref().filter(|_| !is_dry_run)
        && continue_known_run(context, runs, known, whole, request, mode, &mut None)?
    {
        return Ok(None);
    }
    let scope = (is_dry_run || !by_agents).then(|| RunScope {
        // Work in one place stays there, whatever an edited plan says about sessions.
        is_foreground: mode == ExecutionMode::StepByStep,
        total_tasks: Some(whole.tasks.len()),
        ..RunScope::from(&request.scope)
    });
    let part = scope.map_or_else(|| whole.clone(), |scope| scope.narrow_plan(whole.clone()));
    let plan = arranged(part, mode, &request.mode_options());
    if is_dry_run {
        return print_dry_run(context, request, whole, &plan, mode).map(|()| None);
    }
    if let Some(check) = ask_for_check(context, request, &plan)? {
        return Ok(Some(check));
    }
    let strategy = strategy_of_mode(&plan, mode);
    let head = scope.map(|_| {
        [
            &request.heading,
            &*plan_lines(whole, strategy),
            &plan_notes(&plan, &TOLD_ABOVE),
        ]
        .concat()
    });
    let has_checkpoint = by_agents && plan.dialect.kind() == PlanKind::Tasks;
    let prepared = prepare(
        context,
        request,
        plan,
        mode,
        scope,
        &head.unwrap_or_default(),
    )?;
    // The run must not overwrite the checkpoint of another program.
    let writable = if has_checkpoint {
        require_writable_files(context, whole.dialect)
    } else {
        Ok(())
    };
    if context.is_preview && writable.is_ok() {
        return Ok(None);
    }
    let runs = match &writable {
        Ok(()) => Some(RunStore::create(&context.root, Some(&context.state_home))?),
        Err(_) => RunStore::find(&context.root, Some(&context.state_home))?,
    };
    let Some(runs) = runs else {
        return writable.map(|()| None);
    };
    let mut opening_lock = writable.is_ok().then(|| runs.lock_opening()).transpose()?;
    // Another process may have opened the run meanwhile, and written its files.
    let known = find_run(context, &runs, &whole.source.path)?;
    if continue_known_run(
        context,
        &runs,
        known,
        whole,
        request,
        mode,
        &mut opening_lock,
    )? {
        return Ok(None);
    }
    writable?;
    begin(context, &runs, prepared, Vec::new()).map(|()| None)
}

fn continue_known_run(
    context: &CommandContext,
    runs: &RunStore,
    known: KnownRun,
    plan: &Plan,
    request: &ExecuteRequest,
    mode: ExecutionMode,
    opening_lock: &mut Option<ExclusiveGuard>,
) -> Result<bool, CommandError> {
    let shows_complete = request.command == ExecuteCommand::Execute;
    let query = RunQuery {
        scope: request.scope,
        named: request.mode,
        again: request.again,
        shows_complete,
    };
    let Some((id, state)) = known.run_to_continue(plan, query, mode)? else {
        if mode == ExecutionMode::Parallel {
            require_only_parallel_run(runs, None)?;
        }
        return Ok(false);
    };
    let (run, state) = match state.phase {
        // A leftover client does not hold up an edit of the plan.
        RunPhase::Executing => context.reap_dead_supervisor(runs.get(&id)?, state)?,
        RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => (runs.get(&id)?, state),
    };
    *opening_lock = None;
    continue_run(
        context,
        &run,
        &state,
        &Continuing::of(context, request, mode),
    )
    .map(|()| true)
}

fn outside_project_error(path: &str) -> CommandError {
    CommandError::precondition(
        format!("`{}` is outside of this project", sanitize(path, 200)),
        "a run changes the project that its plan is in: start it there, or copy the plan here",
    )
}

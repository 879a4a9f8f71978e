//! A plan whose mode is known: its run is opened, or goes on.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::arranged;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{Run, RunStore};
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;

use crate::blocks::parallel_run;
use crate::context::{CommandContext, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::approval::ApprovalRequest;
use crate::execute::continue_run::{Continuing, continue_run};
use crate::execute::known_run::{KnownRun, RunQuery, find_run};
use crate::execute::open_run::{ask_for_check, begin, prepare};
use crate::execute::refusals::{require_repository, require_writable_files};
use crate::execute::request::ExecuteRequest;

/// Opens the run of a plan, or goes on with the one that it has. Where its user has answered what proves its tasks,
/// that is the check to begin with, and nothing was done yet.
pub(crate) fn open_or_continue(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
    known: KnownRun,
) -> Result<Option<String>, CommandError> {
    if mode.is_done_by_agents() && Path::new(&whole.source.path).is_absolute() {
        return Err(outside_project_error(&whole.source.path));
    }
    require_repository(&context.root)?;
    let query = request.run_query();
    if let Some(runs) = &context.runs
        && let Some((run, state)) = run_to_continue(context, runs, known, whole, query, mode)?
    {
        return continue_run(context, &run, &state, &Continuing::of(context, request, mode)).map(|()| None);
    }
    let scope = (!mode.is_done_by_agents()).then(|| RunScope {
        // One that is worked on in one place stays there, whatever an edited plan says about sessions.
        is_foreground: mode == ExecutionMode::StepByStep,
        total_tasks: Some(whole.tasks.len()),
        ..RunScope::from(&request.scope)
    });
    let part = scope.map_or_else(|| whole.clone(), |scope| scope.narrow_plan(whole.clone()));
    let plan = arranged(part, mode, &request.mode_options());
    if let Some(check) = ask_for_check(context, request, &plan)? {
        return Ok(Some(check));
    }
    let head = scope.map(|_| {
        let strategy = strategy_of_mode(&plan, mode);
        parallel_run::plan_heading(request, whole, strategy) + &parallel_run::plan_notes(&plan)
    });
    let has_checkpoint = mode.is_done_by_agents() && plan.dialect.kind() == PlanKind::Tasks;
    let about = ApprovalRequest::for_run(&plan, mode, request.typed(&request.source));
    let prepared = prepare(context, request, plan, mode, scope, &about)?.headed(&head.unwrap_or_default());
    // The checkpoint of another program would be lost.
    let is_writable = if has_checkpoint { require_writable_files(context) } else { Ok(()) };
    if context.is_preview && is_writable.is_ok() {
        return Ok(None);
    }
    let runs = match &is_writable {
        Ok(()) => RunStore::create(&context.root, Some(&context.state_home))?,
        Err(_) => match RunStore::find(&context.root, Some(&context.state_home))? {
            Some(runs) => runs,
            None => return is_writable.map(|()| None),
        },
    };
    let door = is_writable.is_ok().then(|| runs.lock_opening()).transpose()?;
    // Another process may have opened the run meanwhile, and have written its files.
    let known = find_run(context, Some(&runs), &whole.source.path)?;
    if let Some((run, state)) = run_to_continue(context, &runs, known, whole, query, mode)? {
        drop(door);
        return continue_run(context, &run, &state, &Continuing::of(context, request, mode)).map(|()| None);
    }
    is_writable?;
    begin(context, &runs, prepared, Vec::new()).map(|()| None)
}

/// The run that the plan goes on with; `None` where a new one may be opened.
fn run_to_continue(
    context: &CommandContext,
    runs: &RunStore,
    known: KnownRun,
    plan: &Plan,
    query: RunQuery,
    mode: ExecutionMode,
) -> Result<Option<(Run, RunState)>, CommandError> {
    let Some((id, state)) = known.run_to_continue(plan, query, mode)? else {
        if mode == ExecutionMode::Parallel {
            require_only_parallel_run(runs, None)?;
        }
        return Ok(None);
    };
    // A client that was left at work holds up no edit of the plan.
    match state.phase {
        RunPhase::Executing => context.reap_dead_supervisor(runs.get(&id)?, state).map(Some),
        RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => Ok(Some((runs.get(&id)?, state))),
    }
}

fn outside_project_error(path: &str) -> CommandError {
    CommandError::precondition(
        format!("`{}` lies outside of this project", sanitize(path, 200)),
        "a run changes the project that its plan lies in: start it there, or copy the plan here",
    )
}

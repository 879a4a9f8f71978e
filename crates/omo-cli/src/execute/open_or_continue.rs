//! A plan whose mode is known: its run is opened, or goes on.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::RunStore;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::arranged;
use omo_engine::request::part::strategy_of_mode;
use omo_engine::request::run_scope::RunScope;
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;

use crate::blocks::parallel_run;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval::ApprovalRequest;
use crate::execute::continue_run::{Continuing, continue_run};
use crate::execute::known_run::find_known_run;
use crate::execute::open_run::{ask_for_check, begin, prepare};
use crate::execute::refusals::{require_repository, require_writable_files};
use crate::execute::request::ExecuteRequest;

/// Opens the run of a plan, or goes on with the one that it has. Where its user has answered what proves its tasks, that
/// is what they ask for now, and nothing was done yet.
pub(crate) fn open_or_continue(
    context: &CommandContext,
    request: &ExecuteRequest,
    whole: &Plan,
    mode: ExecutionMode,
) -> Result<Option<ExecuteRequest>, CommandError> {
    if mode.is_done_by_agents() && Path::new(&whole.source.path).is_absolute() {
        return Err(outside_project_error(&whole.source.path));
    }
    require_repository(&context.root)?;
    if let Some(runs) = &context.runs
        && continue_known_run(context, runs, whole, request, mode)?
    {
        return Ok(None);
    }
    let scope = (!mode.is_done_by_agents()).then(|| RunScope {
        // One that is worked on in one place stays there, whatever an edited plan says about sessions.
        is_foreground: mode == ExecutionMode::StepByStep,
        total_tasks: Some(whole.tasks.len()),
        ..RunScope::from(&request.scope)
    });
    let part = scope.map_or_else(|| whole.clone(), |scope| scope.narrow_plan(whole.clone()));
    let plan = arranged(part, mode, &request.mode_options());
    if let Some(request) = ask_for_check(context, request, &plan)? {
        return Ok(Some(request));
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
    if let Err(failure) = is_writable {
        // Another process may have opened the run meanwhile, and have written its files.
        let runs = RunStore::find(&context.root, Some(&context.state_home))?;
        let continued = runs.map(|runs| continue_known_run(context, &runs, whole, request, mode)).transpose()?;
        return if continued == Some(true) { Ok(None) } else { Err(failure) };
    }
    if context.is_preview {
        return Ok(None);
    }
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some((run, state)) = find_known_run(context, &runs, whole, request, mode)? {
        drop(door);
        return continue_run(context, &run, &state, &Continuing::of(context, request, mode)).map(|()| None);
    }
    begin(context, &runs, prepared, Vec::new()).map(|()| None)
}

/// Goes on with the run that the plan has; `false` where it has none.
fn continue_known_run(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    request: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<bool, CommandError> {
    let Some((run, state)) = find_known_run(context, runs, plan, request, mode)? else { return Ok(false) };
    continue_run(context, &run, &state, &Continuing::of(context, request, mode)).map(|()| true)
}

fn outside_project_error(path: &str) -> CommandError {
    CommandError::precondition(
        format!("`{}` lies outside of this project", sanitize(path, 200)),
        "a run changes the project that its plan lies in: start it there, or copy the plan here",
    )
}

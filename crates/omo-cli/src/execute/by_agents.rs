//! A plan that agents of the session work on, in batches or in waves: its run is opened, or goes on.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::event::RunResult;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::arranged;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{Run, RunStore};
use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;

use crate::blocks;
use crate::context::{CommandContext, another_run_is_open};
use crate::error::CommandError;
use crate::execute::approval::ApprovalRequest;
use crate::execute::continue_run;
use crate::execute::open_run::{ask_for_check, begin, prepare};
use crate::execute::refusals::{require_repository, require_writable_files};
use crate::execute::request::ExecuteRequest;
use crate::output::print_block;

/// Opens the run of a plan, or goes on with the one that it has. Where its user has answered what proves its tasks, that
/// is what they ask for now, and nothing was done yet.
pub(crate) fn execute(
    context: &CommandContext,
    request: &ExecuteRequest,
    plan: Plan,
    mode: ExecutionMode,
) -> Result<Option<ExecuteRequest>, CommandError> {
    if Path::new(&plan.source.path).is_absolute() {
        return Err(outside_project_error(&plan.source.path));
    }
    let plan = arranged(plan, mode, &request.mode_options());
    require_repository(&context.root)?;
    if let Some(known) =
        context.runs.as_ref().map(|runs| find_known_run(context, runs, &plan, request)).transpose()?.flatten()
    {
        return known.go_on(context, request);
    }
    if let Some(request) = ask_for_check(context, request, &plan)? {
        return Ok(Some(request));
    }
    let about = ApprovalRequest::for_plan(&plan.source.path, request.typed(&request.source));
    let prepared = prepare(context, request, plan.clone(), mode, None, &about)?;
    // The checkpoint of another program would be lost.
    let is_writable = if plan.dialect.kind() == PlanKind::Tasks { require_writable_files(context) } else { Ok(()) };
    if let Err(failure) = is_writable {
        // Another process may have opened it meanwhile, and have written its files.
        let runs = RunStore::find(&context.root, Some(&context.state_home))?;
        let known = runs.map(|runs| find_known_run(context, &runs, &plan, request)).transpose()?.flatten();
        return known.map_or(Err(failure), |known| known.go_on(context, request));
    }
    if context.is_preview {
        return Ok(None);
    }
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some(known) = find_known_run(context, &runs, &plan, request)? {
        drop(door);
        return known.go_on(context, request);
    }
    begin(context, &runs, prepared, Vec::new()).map(|()| None)
}

fn outside_project_error(path: &str) -> CommandError {
    CommandError::precondition(
        format!("`{}` lies outside of this project", sanitize(path, 200)),
        "a run changes the project that its plan lies in: start it there, or copy the plan here",
    )
}

enum KnownRun {
    Open(Run, Box<RunState>),
    Complete(Run, Box<RunState>),
}

impl KnownRun {
    fn go_on(self, context: &CommandContext, request: &ExecuteRequest) -> Result<Option<ExecuteRequest>, CommandError> {
        let done = match self {
            Self::Open(run, state) => {
                let is_user = request.is_typed || context.is_person();
                continue_run::continue_run(context, &run, &state, Some(request), request.digest.as_deref(), is_user)
            }
            Self::Complete(..) if context.is_preview => Ok(()),
            Self::Complete(run, state) => print_block(&blocks::complete_already(run.id(), &state, request)),
        };
        done.map(|()| None)
    }
}

/// The run of this plan that there is already. One of another plan must not be open: both would write the
/// same checkpoint.
fn find_known_run(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    request: &ExecuteRequest,
) -> Result<Option<KnownRun>, CommandError> {
    match context.open_run(runs)? {
        Some((run, state)) if state.plan.source.path == plan.source.path => {
            return Ok(Some(KnownRun::Open(run, Box::new(state))));
        }
        Some((run, state)) => return Err(another_run_is_open(run.id(), &state)),
        None => {}
    }
    for listed in runs.list()? {
        let Ok(state) = listed.state else { continue };
        if !context.is_in_this_work_tree(&state) {
            continue;
        }
        let is_same = state.plan.source.path == plan.source.path;
        let run = runs.get(&listed.id)?;
        match &state.phase {
            RunPhase::Ended { result } if is_same && !begins_anew(request, &state) => {
                let is_unchanged = state.has_plan(plan);
                let is_of_mode = request.mode.is_none_or(|mode| mode == state.mode);
                return match result {
                    RunResult::Complete if is_unchanged => Ok(Some(KnownRun::Complete(run, Box::new(state)))),
                    RunResult::CompletedWithFailures | RunResult::Failed if is_of_mode => {
                        Ok(Some(KnownRun::Open(run, Box::new(state))))
                    }
                    RunResult::Complete | RunResult::CompletedWithFailures | RunResult::Failed => Ok(None),
                };
            }
            RunPhase::Executing | RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => {}
        }
    }
    Ok(None)
}

/// Whether `--again` asks for a new run. One in waves that has failed is gone over anew in its place.
fn begins_anew(request: &ExecuteRequest, state: &RunState) -> bool {
    let has_failed = state.phase != (RunPhase::Ended { result: RunResult::Complete });
    request.again && !(has_failed && state.mode == ExecutionMode::Waves)
}

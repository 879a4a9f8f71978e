//! The run that a plan has already, which parallel workers or the session itself work on.

use omo_core::text::command_text::quote_argument;
use omo_engine::event::RunResult;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::ultraplan::{COMMAND, command_for};
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{Run, RunStore};
use omo_plan::model::Plan;

use crate::context::{CommandContext, another_run_is_open, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::refusals;
use crate::execute::request::{ExecuteCommand, ExecuteRequest};
use crate::exit_kind::ExitKind;

/// The run of this plan to go on with; `None` where a new one has to be opened. Refuses where another one is in the
/// way.
pub(crate) fn find_known_run(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    request: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<Option<(Run, RunState)>, CommandError> {
    let is_of_it = |state: &RunState| state.plan.source.path == plan.source.path;
    let resumes = request.scope.is_resume;
    if let Some((run, state)) = context.open_run(runs)? {
        // A client that was left at work holds up no edit of the plan.
        let (run, state) = context.reap_dead_supervisor(run, state)?;
        return match is_of_it(&state) {
            false => Err(another_run_is_open(run.id(), &state)),
            true if is_same_request(&state, request, mode) => Ok(Some((run, state))),
            true => Err(already_open_otherwise(run.id(), &state)),
        };
    }
    if resumes {
        let mut done_in_part = None;
        for listed in runs.list()? {
            let Ok(state) = listed.state else { continue };
            // A run that agents work on goes on by its own commands.
            if !context.is_in_this_work_tree(&state) || !is_of_it(&state) || state.scope.is_none() {
                continue;
            }
            // A part that is done leaves the run of the whole where that was.
            let is_part = state.scope.is_some_and(|asked| asked.selection != PlanSelection::Whole);
            if is_part && state.phase == (RunPhase::Ended { result: RunResult::Complete }) {
                done_in_part.get_or_insert((listed.id, state));
                continue;
            }
            if !is_same_request(&state, request, mode) {
                return Err(must_stay_parallel(&listed.id, &state));
            }
            return Ok(Some((runs.get(&listed.id)?, state)));
        }
        if let Some((id, state)) = done_in_part {
            return Ok(Some((runs.get(&id)?, state)));
        }
    }
    let is_parallel = mode == ExecutionMode::Parallel;
    if (is_parallel || request.command == ExecuteCommand::Execute) && !resumes && !request.again {
        for listed in runs.list()? {
            let Ok(state) = listed.state else { continue };
            if !is_of_it(&state) || !context.is_in_this_work_tree(&state) || !is_same_request(&state, request, mode) {
                continue;
            }
            if state.phase == (RunPhase::Ended { result: RunResult::Complete }) {
                if state.has_plan(plan) {
                    return Ok(Some((runs.get(&listed.id)?, state)));
                }
                // What was done stays done, and the plan says something else now.
                break;
            }
            // A new run would pay once more for what this one has.
            if is_parallel && state.task_counts().passed > 0 {
                return Err(ended_before(&listed.id, &state));
            }
        }
    }
    if mode == ExecutionMode::Parallel {
        require_only_parallel_run(runs, None)?;
    }
    Ok(None)
}

/// Whether what is asked for is what an open run does.
fn is_same_request(state: &RunState, request: &ExecuteRequest, mode: ExecutionMode) -> bool {
    let scope = &request.scope;
    let Some(asked) = state.scope else { return false };
    if scope.is_resume {
        return !(scope.is_foreground && state.mode == ExecutionMode::Parallel);
    }
    asked.selection == scope.selection && mode == state.mode
}

/// A person decides whether an earlier run goes on or all of it is done, and paid for, again.
fn ended_before(id: &str, state: &RunState) -> CommandError {
    let path = quote_argument(&state.plan.source.path);
    let word = match &state.phase {
        RunPhase::Ended { result } => result.word(),
        RunPhase::Cancelled { .. } => "cancelled",
        RunPhase::Executing => "open",
    };
    let counts = state.task_counts();
    let command = command_for(&state.plan);
    // A plan of steps says itself that it is worked on in parallel.
    let option = if command == COMMAND { String::new() } else { format!(" {}", state.mode.option()) };
    CommandError::precondition(
        format!("the run {id} of {path} is {word}, with {} of {} done", counts.passed, counts.total),
        format!("`{command} --resume {path}` goes on with it; `{command}{option} --again {path}` does all of it anew, and pays for it"),
    )
    .with_kind(ExitKind::NeedsPerson)
}

fn already_open_otherwise(id: &str, state: &RunState) -> CommandError {
    let asked = state.scope.map(RunScope::describe).unwrap_or_default();
    let way = match state.mode {
        ExecutionMode::Parallel => "in parallel",
        ExecutionMode::StepByStep => "in one session",
        ExecutionMode::Batches | ExecutionMode::Waves => return refusals::other_mode_error(id, state),
    };
    let path = &state.plan.source.path;
    let message = format!("the run {id} of {path} is open, and was asked for otherwise: {asked}, {way}");
    CommandError::busy(
        message,
        format!(
            "`{} --resume {}` goes on with it; `omo run cancel` ends it first",
            command_for(&state.plan),
            quote_argument(path)
        ),
    )
}

/// What its workers did lies on their branches, where no task that is done here would find it.
fn must_stay_parallel(id: &str, state: &RunState) -> CommandError {
    let (command, path) = (command_for(&state.plan), quote_argument(&state.plan.source.path));
    CommandError::busy(
        format!(
            "the run {id} of {} was begun with parallel workers, and goes on with them alone",
            state.plan.source.path
        ),
        format!("`{command} --resume {path}` goes on with it; `{command} --fg {path}` does all of it anew, here"),
    )
}

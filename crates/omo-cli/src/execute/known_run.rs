//! The run that a plan has already.

use omo_core::text::command_text::quote_argument;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::ultraplan::{COMMAND, command_for};
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{Run, RunStore};
use omo_plan::model::Plan;

use crate::blocks::parts::is_complete;
use crate::context::{CommandContext, another_run_is_open, require_only_parallel_run};
use crate::error::CommandError;
use crate::execute::refusals;
use crate::execute::request::{ExecuteCommand, ExecuteRequest};
use crate::exit_kind::ExitKind;

/// The run of this plan to go on with, or to show where it is complete; `None` where a new one has to be opened.
///
/// # Errors
///
/// Another run is in the way.
pub(crate) fn find_known_run(
    context: &CommandContext,
    runs: &RunStore,
    plan: &Plan,
    request: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<Option<(Run, RunState)>, CommandError> {
    let is_of_it = |state: &RunState| state.plan.source.path == plan.source.path;
    if let Some((run, state)) = context.open_run(runs)? {
        // A client that was left at work holds up no edit of the plan.
        let (run, state) = context.reap_dead_supervisor(run, state)?;
        return match is_of_it(&state) {
            false => Err(another_run_is_open(run.id(), &state)),
            true if mode.is_done_by_agents() || is_same_request(&state, request, mode) => Ok(Some((run, state))),
            true => Err(already_open_otherwise(run.id(), &state)),
        };
    }
    let known = runs.list()?.into_iter().filter_map(|listed| Some((listed.id, listed.state.ok()?)));
    let over = known.filter(|(_, state)| context.is_in_this_work_tree(state) && is_of_it(state));
    let found = if mode.is_done_by_agents() {
        run_of_agents(over, plan, request)
    } else {
        run_of_steps(over, plan, request, mode)?
    };
    if found.is_none() && mode == ExecutionMode::Parallel {
        require_only_parallel_run(runs, None)?;
    }
    found.map(|(id, state)| Ok((runs.get(&id)?, state))).transpose()
}

/// The last run of the plan that came to its end, where that is not begun anew.
fn run_of_agents(
    over: impl Iterator<Item = (String, RunState)>,
    plan: &Plan,
    request: &ExecuteRequest,
) -> Option<(String, RunState)> {
    // `--again` goes over a run in waves that has failed in its place.
    let begins_anew = |state: &RunState| request.again && (is_complete(state) || state.mode != ExecutionMode::Waves);
    let mut ended = over.filter(|(_, state)| matches!(state.phase, RunPhase::Ended { .. }) && !begins_anew(state));
    let is_of_mode = |state: &RunState| request.mode.is_none_or(|mode| mode == state.mode);
    ended.next().filter(|(_, state)| if is_complete(state) { state.has_plan(plan) } else { is_of_mode(state) })
}

/// The run that `--resume` goes on with, or one that a new run would only repeat.
fn run_of_steps(
    mut over: impl Iterator<Item = (String, RunState)>,
    plan: &Plan,
    request: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<Option<(String, RunState)>, CommandError> {
    if request.scope.is_resume {
        let mut part_that_is_done = None;
        // A run that agents work on goes on by its own commands.
        for (id, state) in over.filter(|(_, state)| state.scope.is_some()) {
            // A part that is done leaves the run of the whole where that was.
            let is_part = state.scope.is_some_and(|asked| asked.selection != PlanSelection::Whole);
            if is_part && is_complete(&state) {
                part_that_is_done.get_or_insert((id, state));
                continue;
            }
            if !is_same_request(&state, request, mode) {
                return Err(must_stay_parallel(&id, &state));
            }
            return Ok(Some((id, state)));
        }
        return Ok(part_that_is_done);
    }
    let is_parallel = mode == ExecutionMode::Parallel;
    if request.again || !is_parallel && request.command != ExecuteCommand::Execute {
        return Ok(None);
    }
    let is_repeated = |state: &RunState| is_complete(state) || is_parallel && state.task_counts().passed > 0;
    match over.find(|(_, state)| is_same_request(state, request, mode) && is_repeated(state)) {
        // What was done stays done, where the plan says something else now.
        Some((id, state)) if is_complete(&state) => Ok(state.has_plan(plan).then_some((id, state))),
        // A new run would pay once more for what this one has.
        Some((id, state)) => Err(ended_before(&id, &state)),
        None => Ok(None),
    }
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

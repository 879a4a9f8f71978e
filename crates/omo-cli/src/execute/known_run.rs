//! `KnownRun`: the existing runs of a plan, and the choice of the one to continue.

use omo_core::text::command_text::quote_argument;
use omo_engine::RunStore;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::ultraplan::{EXECUTE_LOCAL, command_for};
use omo_engine::request::arguments::{PlanSelection, RunRequest};
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::{RunPhase, RunState};
use omo_plan::model::Plan;

use crate::blocks::parts::is_complete;
use crate::context::{CommandContext, another_run_is_open};
use crate::error::CommandError;
use crate::execute::refusals;
use crate::exit_kind::ExitKind;

pub(crate) type RunOfPlan = (String, RunState);

pub(crate) enum KnownRun {
    Open(Box<RunOfPlan>),
    Ended(Vec<RunOfPlan>),
}

#[derive(Clone, Copy)]
pub(crate) struct RunQuery {
    pub scope: RunRequest,
    pub named: Option<ExecutionMode>,
    pub again: bool,
    pub shows_complete: bool,
}

/// The open run of this work tree, of any plan, else the ended runs of the plan at `path`.
pub(crate) fn find_run(
    context: &CommandContext,
    runs: &RunStore,
    path: &str,
) -> Result<KnownRun, CommandError> {
    let mut ended = Vec::new();
    for listed in runs.list()? {
        match listed.state {
            Ok(state) if !context.is_in_this_work_tree(&state) => {}
            Ok(state) if state.phase == RunPhase::Executing => {
                return Ok(KnownRun::Open(Box::new((listed.id, state))));
            }
            Ok(state) if is_of_plan(&state, path) => ended.push((listed.id, state)),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(KnownRun::Ended(ended))
}

fn is_of_plan(state: &RunState, path: &str) -> bool {
    state.plan.source.path == path
}

impl KnownRun {
    pub(crate) fn open_run_of(&self, path: &str) -> Option<&RunOfPlan> {
        match self {
            Self::Open(run) => Some(&**run).filter(|(_, state)| is_of_plan(state, path)),
            Self::Ended(_) => None,
        }
    }

    /// The last run of the plan, if cancelled with finished tasks.
    pub(crate) fn cut_short(&self) -> Option<&RunOfPlan> {
        self.ended()
            .first()
            .filter(|(_, state)| is_cut_short(state))
    }

    pub(crate) fn ended(&self) -> &[RunOfPlan] {
        match self {
            Self::Open(_) => &[],
            Self::Ended(runs) => runs,
        }
    }

    /// The run to continue or show; `None` for a new one. Refuses an open run in the way, or asks a person.
    pub(crate) fn run_to_continue(
        self,
        plan: &Plan,
        query: RunQuery,
        mode: ExecutionMode,
    ) -> Result<Option<RunOfPlan>, CommandError> {
        let by_agents = mode.is_done_by_agents();
        match self {
            Self::Open(run) => match *run {
                (id, state) if !is_of_plan(&state, &plan.source.path) => {
                    Err(another_run_is_open(&id, &state))
                }
                (id, state) if by_agents || is_same_request(&state, query, mode) => {
                    Ok(Some((id, state)))
                }
                (id, state) => Err(already_open_otherwise(&id, &state)),
            },
            Self::Ended(mut runs)
                if !query.again
                    && runs.first().is_some_and(|(_, state)| {
                        is_cut_short(state)
                            && state.mode == mode
                            && (by_agents || is_same_request(state, query, mode))
                    }) =>
            {
                Ok(Some(runs.swap_remove(0)))
            }
            Self::Ended(runs) if by_agents => Ok(run_of_agents(runs, plan, query)),
            Self::Ended(runs) if query.scope.is_resume => resumed_run_of_steps(runs, query, mode),
            Self::Ended(runs) => repeated_run_of_steps(runs, plan, query, mode),
        }
    }
}

/// A cancelled run with finished tasks: naming its plan continues it.
fn is_cut_short(state: &RunState) -> bool {
    let counts = state.task_counts();
    matches!(state.phase, RunPhase::Cancelled { .. }) && counts.passed + counts.claimed > 0
}

fn run_of_agents(over: Vec<RunOfPlan>, plan: &Plan, query: RunQuery) -> Option<RunOfPlan> {
    over.into_iter()
        .filter(|(_, state)| matches!(state.phase, RunPhase::Ended { .. }))
        // `--again` repeats a failed run in waves in place.
        .find(|(_, state)| {
            !query.again || !is_complete(state) && state.mode == ExecutionMode::Waves
        })
        .filter(|(_, state)| {
            if is_complete(state) {
                state.has_plan(plan)
            } else {
                query.named.is_none_or(|mode| mode == state.mode)
            }
        })
}

fn resumed_run_of_steps(
    over: Vec<RunOfPlan>,
    query: RunQuery,
    mode: ExecutionMode,
) -> Result<Option<RunOfPlan>, CommandError> {
    let mut part_that_is_done = None;
    // A run of agents has its own commands to go on.
    for (id, state) in over.into_iter().filter(|(_, state)| state.scope.is_some()) {
        // A finished part leaves an unfinished run of the whole alone.
        let is_part = state
            .scope
            .is_some_and(|asked| asked.selection != PlanSelection::Whole);
        if is_part && is_complete(&state) {
            part_that_is_done.get_or_insert((id, state));
            continue;
        }
        if !is_same_request(&state, query, mode) {
            return Err(must_stay_parallel(&id, &state));
        }
        return Ok(Some((id, state)));
    }
    Ok(part_that_is_done)
}

fn repeated_run_of_steps(
    over: Vec<RunOfPlan>,
    plan: &Plan,
    query: RunQuery,
    mode: ExecutionMode,
) -> Result<Option<RunOfPlan>, CommandError> {
    let is_parallel = mode == ExecutionMode::Parallel;
    if query.again || !is_parallel && !query.shows_complete {
        return Ok(None);
    }
    let earlier = over.into_iter().find(|(_, state)| {
        is_same_request(state, query, mode)
            && (is_complete(state) || is_parallel && state.task_counts().passed > 0)
    });
    match earlier {
        // Finished tasks stay done, even where the plan has changed.
        Some((id, state)) if is_complete(&state) => Ok(state.has_plan(plan).then_some((id, state))),
        // A new run would pay again for the same work.
        Some((id, state)) => Err(ended_before(&id, &state)),
        None => Ok(None),
    }
}

fn is_same_request(state: &RunState, query: RunQuery, mode: ExecutionMode) -> bool {
    let scope = query.scope;
    let Some(asked) = state.scope else {
        return false;
    };
    if scope.is_resume {
        return !(scope.is_foreground && state.mode == ExecutionMode::Parallel);
    }
    asked.selection == scope.selection && mode == state.mode
}

fn ended_before(id: &str, state: &RunState) -> CommandError {
    let path = quote_argument(&state.plan.source.path);
    let word = match &state.phase {
        RunPhase::Ended { result } => result.display_word(),
        RunPhase::Cancelled { .. } => "cancelled",
        RunPhase::Executing => "open",
    };
    let counts = state.task_counts();
    let command = command_for(&state.plan);
    // A plan of steps is parallel by itself.
    let option = if command == EXECUTE_LOCAL {
        String::new()
    } else {
        format!(" {}", state.mode.option())
    };
    CommandError::precondition(
        format!("the run {id} of {path} is {word}, with {} of {} done", counts.passed, counts.total),
        format!("`{command} --resume {path}` goes on with it; `{command}{option} --again {path}` starts over, and pays for it"),
    )
    .with_kind(ExitKind::NeedsPerson)
}

fn already_open_otherwise(id: &str, state: &RunState) -> CommandError {
    let asked = state.scope.map(RunScope::describe).unwrap_or_default();
    let mode_option = match state.mode {
        ExecutionMode::Parallel => "in parallel",
        ExecutionMode::StepByStep => "in one session",
        ExecutionMode::Batches | ExecutionMode::Waves => {
            return refusals::other_mode_error(id, state);
        }
    };
    let path = &state.plan.source.path;
    let message = format!(
        "the run {id} of {path} is open, and was asked for otherwise: {asked}, {mode_option}"
    );
    CommandError::busy(
        message,
        format!(
            "`{} --resume {}` goes on with it; `omo run cancel` ends it first",
            command_for(&state.plan),
            quote_argument(path)
        ),
    )
}

/// Work of its workers lies on their branches, where no task in this tree would find it.
fn must_stay_parallel(id: &str, state: &RunState) -> CommandError {
    let (command, path) = (
        command_for(&state.plan),
        quote_argument(&state.plan.source.path),
    );
    CommandError::busy(
        format!(
            "the run {id} of {} was begun with parallel workers, and goes on with them alone",
            state.plan.source.path
        ),
        format!(
            "`{command} --resume {path}` goes on with it; `{command} --fg {path}` starts over, here"
        ),
    )
}

#[cfg(test)]
mod tests {
    use ExecutionMode::{Batches, Parallel, StepByStep, Waves};
    use omo_core::timestamp::Timestamp;
    use omo_engine::event::{EventActor, EventKind, RunEvent, RunResult};
    use omo_engine::request::arguments::RunMode;
    use omo_plan::dialects::{self, BatchOptions};

    use super::*;

    const OPEN: RunPhase = RunPhase::Executing;
    const DONE: RunPhase = RunPhase::Ended {
        result: RunResult::Complete,
    };
    const FAILED: RunPhase = RunPhase::Ended {
        result: RunResult::Failed,
    };
    const CANCELLED: RunPhase = RunPhase::Cancelled { why: String::new() };

    fn plan(path: &str, title: &str) -> Plan {
        let text = format!(
            "### Task 1: {title}\n\n**Verify:**\nRun: `true`\n\n## Verification\n- **Verdict:** Approved\n"
        );
        dialects::read(path, text.as_bytes(), BatchOptions::of(3, 5))
    }

    fn run(
        id: &str,
        path: &str,
        mode: ExecutionMode,
        phase: RunPhase,
        part: PlanSelection,
    ) -> RunOfPlan {
        let scope = RunScope {
            mode: RunMode::Execute,
            selection: part,
            is_foreground: false,
            total_tasks: None,
        };
        let kind = EventKind::RunOpened {
            plan: Box::new(plan(path, "a")),
            approved: String::new(),
            root: "/project".to_owned(),
            worktree: None,
            base: None,
            branch: None,
            scope: (!mode.is_done_by_agents()).then_some(scope),
            mode: Some(mode),
            guard: None,
        };
        let (ts, actor) = (Timestamp::from_millis(0), EventActor::default());
        let state = RunState::from_first_event(&RunEvent {
            seq: 1,
            ts,
            actor,
            kind,
        })
        .unwrap();
        (id.to_owned(), RunState { phase, ..state })
    }

    #[test]
    fn a_run_goes_on_or_a_new_one_is_opened() {
        let query = |is_resume, again, shows_complete| RunQuery {
            scope: RunRequest {
                is_resume,
                ..RunRequest::default()
            },
            named: None,
            again,
            shows_complete,
        };
        let (usual, local) = (query(false, false, true), query(false, false, false));
        let (again, resume) = (query(false, true, true), query(true, false, true));
        let whole = |id, mode, phase| run(id, "p.md", mode, phase, PlanSelection::Whole);
        let (opened, ended) = (|run| KnownRun::Open(Box::new(run)), KnownRun::Ended);
        let part = run("part", "p.md", StepByStep, DONE, PlanSelection::Step(1));
        let by_agents = RunQuery {
            named: Some(Waves),
            ..usual
        };
        for (number, (known, query, mode, expected)) in [
            (ended(vec![]), usual, Waves, "none"),
            (opened(whole("r", Waves, OPEN)), usual, Waves, "r"),
            (opened(whole("r", Parallel, OPEN)), local, Parallel, "r"),
            (
                opened(whole("r", Parallel, OPEN)),
                local,
                StepByStep,
                "was asked for otherwise: execute, in parallel",
            ),
            (
                opened(whole("r", Batches, OPEN)),
                local,
                StepByStep,
                "without another mode this goes on",
            ),
            (opened(whole("r", Parallel, OPEN)), resume, StepByStep, "r"),
            (
                opened(run("r", "q.md", Waves, OPEN, PlanSelection::Whole)),
                usual,
                Waves,
                "one worktree has one run",
            ),
            (ended(vec![whole("r", Batches, DONE)]), usual, Batches, "r"),
            (
                ended(vec![whole("r", Batches, DONE)]),
                again,
                Batches,
                "none",
            ),
            (
                ended(vec![whole("r", Batches, FAILED)]),
                again,
                Batches,
                "none",
            ),
            (ended(vec![whole("r", Waves, FAILED)]), again, Waves, "r"),
            (
                ended(vec![whole("r", Batches, FAILED)]),
                by_agents,
                Waves,
                "none",
            ),
            (
                ended(vec![
                    whole("r", Waves, CANCELLED),
                    whole("s", Waves, FAILED),
                ]),
                usual,
                Waves,
                "s",
            ),
            (
                ended(vec![whole("r", StepByStep, DONE)]),
                local,
                StepByStep,
                "none",
            ),
            (
                ended(vec![whole("r", StepByStep, DONE)]),
                usual,
                StepByStep,
                "r",
            ),
            (
                ended(vec![whole("r", StepByStep, FAILED)]),
                usual,
                StepByStep,
                "none",
            ),
            (
                ended(vec![whole("r", Parallel, FAILED)]),
                usual,
                Parallel,
                "none",
            ),
            (
                ended(vec![whole("r", Parallel, DONE)]),
                local,
                Parallel,
                "r",
            ),
            (
                ended(vec![part.clone(), whole("r", Parallel, FAILED)]),
                resume,
                StepByStep,
                "r",
            ),
            (
                ended(vec![part.clone(), whole("r", Waves, FAILED)]),
                resume,
                StepByStep,
                "part",
            ),
            (ended(vec![part]), local, StepByStep, "none"),
        ]
        .into_iter()
        .enumerate()
        {
            let found = match known.run_to_continue(&plan("p.md", "a"), query, mode) {
                Ok(found) => found.map_or("none".to_owned(), |(id, _)| id),
                Err(refusal) => refusal.to_string(),
            };
            assert!(
                found == expected || expected.contains(' ') && found.contains(expected),
                "{number}: {found}"
            );
        }
    }

    #[test]
    fn a_plan_that_was_edited_since_is_done_again() {
        let query = RunQuery {
            scope: RunRequest::default(),
            named: None,
            again: false,
            shows_complete: true,
        };
        for mode in [Batches, Waves, StepByStep, Parallel] {
            let done = KnownRun::Ended(vec![run("r", "p.md", mode, DONE, PlanSelection::Whole)]);
            assert!(
                done.run_to_continue(&plan("p.md", "b"), query, mode)
                    .unwrap()
                    .is_none(),
                "{mode:?}"
            );
        }
    }
}

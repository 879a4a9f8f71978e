//! Verbs of an attempt at a task: its start, its judgement by measurements, giving it up, and a lost worker.

mod judgement;

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::text::sanitize;
use omo_plan::model::{OnFailure, Task};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use super::{ended_refusal, find_task, lost_worker_event, unanswered_refusal};
use crate::event::{AttemptEnd, EventKind};
use crate::parallel_schedule;
use crate::schedule::{self, NextAction};
use crate::state::{FINAL_CHECKS_ID, MAX_REASON_CHARS, RunState, TaskStanding, TaskStatus};

use judgement::scope_violation;
pub use judgement::{AttemptMeasurement, CommitOutcome, StrayCommit, judge_attempt};

#[derive(Clone, Debug, Default)]
pub struct AttemptStart {
    pub ticket: String,
    pub tree: Option<String>,
    pub protected_files: Vec<(String, String)>,
    pub already_green: Vec<usize>,
    pub snapshot: Option<String>,
    pub head: Option<String>,
}

/// The task, if it may start. An unknown task, one out of turn, one with a worker, or an open question is refused.
pub fn may_start<'a>(state: &'a RunState, id: &str) -> Result<&'a Task, VerbRefusal> {
    let task = find_task(state, id)?;
    match state.standing(id) {
        Some(TaskStanding::Is(TaskStatus::Running)) => {
            let message = format!(
                "a worker is at {} {id} already",
                state.plan.dialect.unit_word()
            );
            let hint =
                format!("let it finish; if that worker is gone: `omo agent fail --lost {id}`");
            return Err(VerbRefusal::new(VerbRefusalKind::Contention, message, hint));
        }
        Some(standing) if standing.is_ended() => {
            let more = match &standing {
                TaskStanding::Blocked { by } => format!(" by {by}"),
                TaskStanding::Is(TaskStatus::Passed) => String::new(),
                TaskStanding::Is(_) => format!("; `omo run retry {id}` has it done again"),
            };
            return Err(out_of_turn(format!("{id} is {}{more}", standing.word())));
        }
        _ => {}
    }
    match schedule::next_action(state) {
        _ if is_next_in_group(state, task) => Ok(task),
        NextAction::Ask(question) => Err(unanswered_refusal(question)),
        NextAction::Start(ready) if ready.iter().any(|task| task.id == id) => Ok(task),
        NextAction::Over => Err(ended_refusal("`omo run resume` goes on with it")),
        _ => Err(out_of_turn(format!("it is not the turn of {id}"))),
    }
}

fn out_of_turn(message: String) -> VerbRefusal {
    VerbRefusal::precondition(message, "`omo agent next` says what comes next")
}

fn is_next_in_group(state: &RunState, task: &Task) -> bool {
    if state.is_over() {
        return false;
    }
    let group = state
        .parallel
        .as_ref()
        .and_then(|known| parallel_schedule::running_group_of(state, known, &task.id));
    group
        .and_then(|group| parallel_schedule::next_task_of(state, group))
        .is_some_and(|next| next.id == task.id)
}

/// The event of a new attempt. Refuses as [`may_start`].
pub fn start_attempt(
    state: &RunState,
    id: &str,
    start: AttemptStart,
) -> Result<EventKind, VerbRefusal> {
    may_start(state, id)?;
    let attempt = state.tasks.get(id).map_or(0, |task| task.attempts) + 1;
    let AttemptStart {
        ticket,
        tree,
        protected_files,
        already_green,
        snapshot,
        head,
    } = start;
    Ok(EventKind::TaskStarted {
        task: id.to_owned(),
        attempt,
        ticket,
        tree,
        protected_files,
        already_green,
        snapshot,
        head,
    })
}

/// The task of a ticket, by its SHA-256. A used ticket, or one of an earlier attempt or another run, is refused.
pub fn task_of_ticket<'a>(state: &'a RunState, ticket: &str) -> Result<&'a Task, VerbRefusal> {
    let id = state
        .running_attempts()
        .find(|(_, running)| running.ticket == ticket)
        .map(|(id, _)| id);
    id.and_then(|id| state.plan.task(id)).ok_or_else(|| {
        let message =
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run";
        VerbRefusal::precondition(
            message,
            "`omo agent next` says what comes next; `omo agent start` gives a new ticket",
        )
    })
}

/// `true` for events that end a task as done: passed, claimed, or unproved where the plan allows it.
pub(crate) fn has_done_task(state: &RunState, events: &[EventKind]) -> bool {
    events.iter().any(|event| match event {
        EventKind::TaskPassed { .. } | EventKind::TaskClaimed { .. } => true,
        EventKind::TaskUnverified { .. } => state.plan.policy.unproved_continues,
        _ => false,
    })
}

/// `true` for events that end a task for good, and whose plan has its changes reverted.
pub fn reverts_changes(state: &RunState, events: &[EventKind]) -> bool {
    events.iter().any(|event| match event {
        EventKind::TaskFailed {
            task,
            is_final: true,
            ..
        } => {
            let baseline = state
                .tasks
                .get(task)
                .and_then(|task| task.baseline.as_ref());
            baseline.is_some_and(|baseline| baseline.snapshot.is_some())
                && state
                    .plan
                    .task(task)
                    .is_some_and(|task| task.on_failure.reverts_changes())
        }
        _ => false,
    })
}

/// The same events, with the snapshot `left` in the one that ends a task for good.
pub fn with_snapshot(events: Vec<EventKind>, left: Option<&String>) -> Vec<EventKind> {
    events
        .into_iter()
        .map(|event| match event {
            EventKind::TaskFailed {
                task,
                is_final: true,
                end,
            } => EventKind::TaskFailed {
                task,
                is_final: true,
                end: AttemptEnd {
                    snapshot: left.cloned(),
                    ..end
                },
            },
            other => other,
        })
        .collect()
}

pub(crate) fn asks_about_commit(events: &[EventKind]) -> bool {
    events
        .iter()
        .any(|event| matches!(event, EventKind::TaskCommitRefused { .. }))
}

fn failure_events(task: &Task, end: AttemptEnd, state: &RunState) -> Vec<EventKind> {
    let id = task.id.clone();
    let before = state
        .tasks
        .get(&task.id)
        .map_or(0, |known| known.attempts_before);
    let is_last = end.attempt.saturating_sub(before) >= task.max_attempts;
    match task.on_failure {
        OnFailure::Skip => {
            let reason = end.evidence.clone();
            vec![
                EventKind::TaskFailed {
                    task: id.clone(),
                    is_final: true,
                    end,
                },
                EventKind::TaskSkipped { task: id, reason },
            ]
        }
        // The question to the user follows from the failed task.
        OnFailure::Escalate => vec![EventKind::TaskFailed {
            task: id,
            is_final: true,
            end,
        }],
        OnFailure::Hold | OnFailure::Revert | OnFailure::Retry => {
            vec![EventKind::TaskFailed {
                task: id,
                is_final: is_last,
                end,
            }]
        }
    }
}

/// Events of an attempt that its worker gives up. Refuses as [`task_of_ticket`].
pub fn give_up_attempt(
    state: &RunState,
    ticket: &str,
    why: &str,
    files: Vec<String>,
) -> Result<Vec<EventKind>, VerbRefusal> {
    end_unjudged_attempt(
        state,
        ticket,
        &format!("given up: {}", sanitize(why, MAX_REASON_CHARS)),
        files,
    )
}

/// Ends an attempt without a judgement, for the reason `why`.
pub(super) fn end_unjudged_attempt(
    state: &RunState,
    ticket: &str,
    why: &str,
    files: Vec<String>,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    let attempt = state.attempt_of(&task.id);
    if let Some(evidence) = scope_violation(state, task, files.iter()) {
        let end = AttemptEnd {
            attempt,
            evidence,
            files,
            ..AttemptEnd::default()
        };
        return Ok(vec![EventKind::TaskFailed {
            task: task.id.clone(),
            is_final: true,
            end,
        }]);
    }
    let evidence = sanitize(why, 320);
    Ok(failure_events(
        task,
        AttemptEnd {
            attempt,
            evidence,
            files,
            ..AttemptEnd::default()
        },
        state,
    ))
}

/// The event of a lost worker. A task without a worker is refused.
pub fn report_lost_worker(state: &RunState, id: &str) -> Result<EventKind, VerbRefusal> {
    let task = find_task(state, id)?;
    if state
        .tasks
        .get(&task.id)
        .is_some_and(|task| task.running.is_some())
    {
        return Ok(lost_worker_event(state, id, "its worker was reported lost"));
    }
    let message = format!("no worker is at {} {id}", state.plan.dialect.unit_word());
    Err(VerbRefusal::precondition(
        message,
        "`omo agent next` says what comes next",
    ))
}

/// Events of the final checks that ran, which are the first ones of the plan, in its order.
pub fn final_check_events(measured: Vec<(TaskCheck, TaskCheckOutcome)>) -> Vec<EventKind> {
    let ran = measured
        .into_iter()
        .enumerate()
        .map(|(place, (check, outcome))| EventKind::CheckRan {
            task: FINAL_CHECKS_ID.to_owned(),
            attempt: 0,
            position: place,
            command: check.command,
            outcome,
        });
    ran.collect()
}

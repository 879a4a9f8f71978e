//! Choice of the tasks that another round of a run does again, and the reason for each.

use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::text::sanitize;
use omo_plan::dialects::PlanKind;
use omo_plan::model::{OnTaskFail, Plan, Task};
use omo_plan::proof::TaskProof;

use crate::event::EventKind;
use crate::execution_mode::ExecutionMode;
use crate::standing::lacks_contract;
use crate::state::{MAX_REASON_CHARS, RunPhase, RunState, TaskState, TaskStatus};

/// Ended tasks to do again: failed or unproved ones that can be proved, those of a red check, and the verification.
pub(crate) fn tasks_to_reopen(state: &RunState) -> Vec<(String, String)> {
    let red = red_checks(state);
    let tasks = state
        .plan
        .tasks
        .iter()
        .filter(|task| !lacks_contract(&state.plan, task));
    let mut reopened: Vec<(String, String)> = tasks
        .filter_map(|task| reason_to_reopen(state, task, &red).map(|why| (task.id.clone(), why)))
        .collect();
    if let (false, Some(verification)) = (reopened.is_empty(), state.plan.verification_task())
        && state
            .tasks
            .get(&verification.id)
            .is_some_and(|task| task.status == TaskStatus::Passed)
        && reopened.iter().all(|(id, _)| *id != verification.id)
    {
        reopened.push((
            verification.id.clone(),
            "what it verified is done again".to_owned(),
        ));
    }
    reopened
}

fn reason_to_reopen(state: &RunState, task: &Task, red: &[(usize, String)]) -> Option<String> {
    let task_state = state.tasks.get(&task.id)?;
    match task_state.status {
        // Another round proves no more.
        TaskStatus::Unverified
            if state.plan.policy.unproved_continues || !can_be_proved(&state.plan, task) =>
        {
            None
        }
        TaskStatus::Failed | TaskStatus::Unverified => Some(failure_reason(task_state)),
        TaskStatus::Passed | TaskStatus::Claimed => {
            let own_red = red.iter().find(|(place, _)| {
                state
                    .plan
                    .final_checks
                    .get(*place)
                    .is_some_and(|check| task.checks.contains(check))
            });
            own_red.map(|(_, why)| why.clone())
        }
        TaskStatus::Pending | TaskStatus::Running | TaskStatus::Held | TaskStatus::Skipped => None,
    }
}

/// `true` if a command can prove the task, or evidence of a task list's worker.
fn can_be_proved(plan: &Plan, task: &Task) -> bool {
    plan.dialect.kind() == PlanKind::TaskList || TaskProof::from(task) != TaskProof::None
}

pub(crate) fn has_failed_verification(state: &RunState) -> bool {
    let reviews = state
        .plan
        .tasks
        .iter()
        .filter(|task| task.is_verification());
    reviews
        .filter_map(|task| state.tasks.get(&task.id))
        .any(|task| task.status == TaskStatus::Failed)
}

/// Events that resume an ended run, its rounds counted anew; the caller sees to the task `except`.
pub(crate) fn resume_events(state: &RunState, except: Option<&str>) -> Vec<EventKind> {
    let mut events = vec![EventKind::RunResumed];
    let is_iterated = state.plan.policy.on_task_fail == OnTaskFail::NextRound;
    if !is_iterated && reopens_failed(state.mode) {
        let over = state
            .tasks
            .iter()
            // Skipped tasks stay skipped.
            .filter(|(id, task)| {
                (matches!(task.status, TaskStatus::Failed | TaskStatus::Unverified))
                    && Some(id.as_str()) != except
            });
        events.extend(over.map(|(id, _)| EventKind::TaskReopened {
            task: id.clone(),
            reason: "the run goes on".to_owned(),
        }));
    }
    if is_iterated && matches!(state.phase, RunPhase::Ended { .. }) {
        let mut reopened = tasks_to_reopen(state);
        reopened.retain(|(id, _)| Some(id.as_str()) != except);
        if !reopened.is_empty() {
            events.push(EventKind::RoundStarted { round: 1, reopened });
        }
    }
    events
}

/// `true` if a resumed run redoes failed tasks by itself; in batches a person names each of them.
fn reopens_failed(mode: ExecutionMode) -> bool {
    match mode {
        ExecutionMode::StepByStep | ExecutionMode::Parallel => true,
        ExecutionMode::Batches | ExecutionMode::Waves => false,
    }
}

/// Red checks of the whole by position, each with its outcome. One that could not be run says nothing about the tasks.
fn red_checks(state: &RunState) -> Vec<(usize, String)> {
    let outcomes = state.final_checks.iter();
    outcomes
        .filter_map(|(place, outcome)| {
            let check = state.plan.final_checks.get(*place);
            let command = check.map_or("", |check| check.command.as_str());
            Some((*place, red_reason(command, outcome)?))
        })
        .collect()
}

/// The outcome of a red check, such as `` `cargo test` failed ``.
pub(crate) fn red_reason(command: &str, outcome: &TaskCheckOutcome) -> Option<String> {
    let is_red = !matches!(
        outcome.verdict,
        TaskCheckVerdict::Green | TaskCheckVerdict::Environment { .. }
    );
    is_red.then(|| {
        let command = sanitize(command, 120).replace('`', "'");
        sanitize(
            &format!("`{command}` {}", outcome.describe()),
            MAX_REASON_CHARS,
        )
    })
}

fn failure_reason(task_state: &TaskState) -> String {
    sanitize(
        &task_state.reason.clone().unwrap_or_else(|| {
            task_state
                .last_end
                .as_ref()
                .map(|end| end.evidence.clone())
                .unwrap_or_default()
        }),
        MAX_REASON_CHARS,
    )
}

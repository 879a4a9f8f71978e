//! JSON files of a task list, updated from a run's state; values that a run does not set stay.

use omo_core::check::printed_output::QUOTED_LINES;
use omo_core::check::task_check::TaskCheckOutcome;
use omo_plan::model::Task;
use omo_plan::task_list::criterion::criterion_text;
use omo_plan::task_list::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase, VERIFY_TASK_ID};
use serde_json::{Value, json};

use crate::event::RunResult;
use crate::schedule::{self, NextAction};
use crate::state::{RunPhase, RunState, TaskStanding, TaskState, TaskStatus};
use crate::task_list_store::{RUN_MEMBER, RunRef};

const EVIDENCE_RUN_MEMBER: &str = "run";

pub fn phase_of_run(state: &RunState) -> TaskListPhase {
    match &state.phase {
        RunPhase::Cancelled { .. } => TaskListPhase::Cancelled,
        RunPhase::Ended {
            result: RunResult::Complete,
        } => TaskListPhase::Complete,
        RunPhase::Ended { .. } => TaskListPhase::Failed,
        RunPhase::Executing if is_verifying(state) => TaskListPhase::Verification,
        RunPhase::Executing => TaskListPhase::Execution,
    }
}

fn is_verifying(state: &RunState) -> bool {
    let running = state.standing(VERIFY_TASK_ID) == Some(TaskStanding::Is(TaskStatus::Running));
    running
        || matches!(schedule::next_action(state), NextAction::Start(ready) if ready.iter().any(|task| task.is_verification()))
}

/// `session.json` of a run, from its present text; `before` is `None` where the file is missing or unreadable.
pub fn session_file(before: Option<TaskListFile>, state: &RunState, run: &str) -> TaskListFile {
    let mut file = before.unwrap_or_else(|| {
        let (id, goal) = (state.task_list_id().to_owned(), state.plan.goal.clone());
        let file = TaskListFile::new(id, state.root.clone(), goal, state.opened_at.to_string());
        TaskListFile {
            exploration_stage: "complete".to_owned(),
            phase: TaskListPhase::Execution,
            ..file
        }
    });
    let phase = phase_of_run(state);
    if phase == TaskListPhase::Cancelled && file.phase != phase {
        file.cancelled_at = Some(state.updated_at.to_string());
    } else if phase != TaskListPhase::Cancelled {
        file.cancelled_at = None;
    }
    file.phase = phase;
    file.iteration = state.round;
    file.options.max_iterations = state.plan.policy.max_rounds;
    file.options.max_workers = state.plan.policy.max_workers;
    file.options.extra.insert(
        "skip_verify".to_owned(),
        json!(state.plan.policy.skips_verification),
    );
    file.verifier_passed =
        state.standing(VERIFY_TASK_ID) == Some(TaskStanding::Is(TaskStatus::Passed));
    let own = RunRef {
        id: run.to_owned(),
        root: state.root.clone().into(),
    };
    file.extra.insert(RUN_MEMBER.to_owned(), json!(own));
    file.updated_at = state.updated_at.to_string();
    file
}

/// Values of `session.json` that a run sets, for a comparison: its time of writing is not among them.
pub(crate) fn session_values_of_run(file: &TaskListFile) -> Value {
    let options = [file.options.max_iterations, file.options.max_workers];
    json!([
        file.phase,
        file.iteration,
        options,
        file.verifier_passed,
        file.extra.get(RUN_MEMBER)
    ])
}

/// `tasks/<id>.json` of a task, from its present text; `before` is `None` where the file is missing or unreadable.
pub fn task_file(before: Option<TaskFile>, task: &Task, state: &RunState, run: &str) -> TaskFile {
    let task_state = state.tasks.get(&task.id);
    let mut file = before.unwrap_or_else(|| new_task_file(task, state));
    let standing = state
        .standing(&task.id)
        .unwrap_or(TaskStanding::Is(TaskStatus::Pending));
    file.id.clone_from(&task.id);
    file.status = task_status(&standing);
    file.retry_count = task_state.map_or(0, |known| known.attempts.saturating_sub(1));
    if !task.is_verification() {
        file.set_dependencies(&task.deps);
    }
    let others = file
        .evidence
        .iter()
        .filter(|piece| piece.get(EVIDENCE_RUN_MEMBER).and_then(Value::as_str) != Some(run));
    let own = task_state
        .map(|task_state| task_evidence(task_state, state, run))
        .unwrap_or_default();
    file.evidence = others.cloned().chain(own).collect();
    if let Some(at) = task_state.and_then(|task_state| task_state.updated_at) {
        file.updated_at = at.to_string();
    }
    file
}

fn new_task_file(task: &Task, state: &RunState) -> TaskFile {
    TaskFile {
        id: task.id.clone(),
        subject: task.title.clone(),
        description: task.body.clone(),
        complexity: task.complexity,
        blocked_by: task.deps.clone(),
        blocked_by_too: task.deps.clone(),
        criteria: task
            .checks
            .iter()
            .map(criterion_text)
            .chain(task.criteria.clone())
            .collect(),
        created_at: state.opened_at.to_string(),
        updated_at: state.opened_at.to_string(),
        ..TaskFile::default()
    }
}

pub(crate) fn task_values_of_run(file: &TaskFile) -> Value {
    json!([
        file.id,
        file.status,
        file.dependencies(),
        file.retry_count,
        file.evidence
    ])
}

pub fn task_status(standing: &TaskStanding) -> TaskFileStatus {
    match standing {
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) => TaskFileStatus::Open,
        TaskStanding::Is(TaskStatus::Running) => TaskFileStatus::InProgress,
        TaskStanding::Is(TaskStatus::Passed | TaskStatus::Claimed) => TaskFileStatus::Resolved,
        TaskStanding::Is(TaskStatus::Failed | TaskStatus::Unverified) => TaskFileStatus::Failed,
        TaskStanding::Is(TaskStatus::Skipped) | TaskStanding::Blocked { .. } => {
            TaskFileStatus::Blocked
        }
    }
}

fn task_evidence(task_state: &TaskState, state: &RunState, run: &str) -> Vec<Value> {
    let checks = task_state
        .checks
        .iter()
        .map(|(command, outcome)| evidence_value(None, command, outcome, run));
    let named = task_state
        .evidence_ids
        .iter()
        .filter_map(|id| state.evidence.iter().find(|evidence| evidence.id == *id));
    let shown = named.map(|evidence| {
        evidence_value(
            Some(&evidence.id),
            &evidence.command,
            &evidence.outcome,
            run,
        )
    });
    checks.chain(shown).collect()
}

fn evidence_value(id: Option<&str>, command: &str, outcome: &TaskCheckOutcome, run: &str) -> Value {
    let lines = outcome.printed.excerpt(QUOTED_LINES);
    let mut piece = json!({
        "command": command,
        "output": lines.join("\n"),
        "description": outcome.describe(),
        "exit": outcome.exit,
        EVIDENCE_RUN_MEMBER: run,
    });
    if let (Some(id), Value::Object(piece)) = (id, &mut piece) {
        piece.insert("id".to_owned(), json!(id));
    }
    piece
}

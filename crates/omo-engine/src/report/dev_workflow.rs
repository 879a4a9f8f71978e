//! Rows and words that the checkpoint and the execution report of a dev-workflow plan share. omo
//! writes both files, and never reads them back as truth.

use crate::state::{RunState, TaskStanding, TaskState, TaskStatus};

pub const CHECKPOINT_PATH: &str = ".claude/execute-plan-checkpoint.json";
pub const REPORT_PATH: &str = "docs/06-plans/execution-report.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    pub id: String,
    pub title: String,
    pub status: EndedStatus,
    pub files_written: Vec<String>,
    pub evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedStatus {
    Done,
    Failed,
    Unproved,
    Blocked,
}

impl EndedStatus {
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unproved => "unproved",
            Self::Blocked => "blocked",
        }
    }

    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "✅",
            Self::Failed => "❌",
            Self::Unproved => "❔",
            Self::Blocked => "⏭️",
        }
    }
}

pub fn ended_tasks(state: &RunState) -> Vec<EndedTask> {
    let ended = state
        .standings()
        .into_iter()
        .filter_map(|(task, standing)| {
            let task_state = state.tasks.get(&task.id);
            let (status, evidence) =
                task_end(&standing, task_state, state.plan.policy.unproved_continues)?;
            let files_written = task_state
                .and_then(|task_state| task_state.last_end.as_ref())
                .map(|end| end.files.clone())
                .unwrap_or_default();
            Some(EndedTask {
                id: task.id.clone(),
                title: task.title.clone(),
                status,
                files_written,
                evidence,
            })
        });
    ended.collect()
}

fn task_end(
    standing: &TaskStanding,
    task_state: Option<&TaskState>,
    lets_be_unproved: bool,
) -> Option<(EndedStatus, String)> {
    let refused = task_state
        .filter(|task| task.status == TaskStatus::Failed && task.refused_as.is_some())
        .and_then(|task| task.reason.clone());
    let evidence = refused
        .or_else(|| Some(task_state?.last_end.as_ref()?.evidence.clone()))
        .unwrap_or_default();
    match standing {
        TaskStanding::Is(TaskStatus::Passed) => Some((EndedStatus::Done, evidence)),
        TaskStanding::Is(TaskStatus::Claimed) => {
            Some((EndedStatus::Done, format!("not checked by omo: {evidence}")))
        }
        TaskStanding::Is(TaskStatus::Unverified) if lets_be_unproved => {
            Some((EndedStatus::Unproved, evidence))
        }
        TaskStanding::Is(TaskStatus::Failed | TaskStatus::Unverified) => {
            Some((EndedStatus::Failed, evidence))
        }
        TaskStanding::Is(TaskStatus::Skipped) => {
            let why = task_state
                .and_then(|task_state| task_state.reason.clone())
                .unwrap_or_default();
            Some((EndedStatus::Blocked, format!("skipped: {why}")))
        }
        TaskStanding::Blocked { by } => Some((
            EndedStatus::Blocked,
            format!("skipped: dependency {by} failed or blocked"),
        )),
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held | TaskStatus::Running) => None,
    }
}

pub(crate) fn run_status(state: &RunState, running: &'static str) -> &'static str {
    use crate::event::RunResult;
    use crate::state::RunPhase;
    match &state.phase {
        RunPhase::Ended {
            result: RunResult::Complete,
        } => "complete",
        RunPhase::Ended {
            result: RunResult::CompletedWithFailures | RunResult::Failed,
        } => "completed_with_failures",
        RunPhase::Executing | RunPhase::Cancelled { .. } => running,
    }
}

//! The resume point of an interrupted run: the step at which it goes on.

use super::outcome::ReportedStatus;
use crate::state::RunState;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedTask {
    pub id: String,
    pub status: ReportedStatus,
    pub is_stale: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumePoint {
    From {
        step: String,
        passed: usize,
        total: usize,
        why: Option<&'static str>,
    },
    Nothing,
}

/// The first step that is neither passed nor skipped, or whose text in the plan has changed since.
pub fn find_resume_point(steps: &[InterruptedTask]) -> ResumePoint {
    let Some(first) = steps.iter().find(|step| {
        step.is_stale
            || !matches!(
                step.status,
                ReportedStatus::Passed | ReportedStatus::Skipped
            )
    }) else {
        return ResumePoint::Nothing;
    };
    let passed = steps
        .iter()
        .filter(|step| step.status == ReportedStatus::Passed && !step.is_stale)
        .count();
    let why = match first.status {
        _ if first.is_stale => Some("it was changed in the plan since it was done"),
        ReportedStatus::Running => {
            Some("it was being worked on; its half-done edits are taken back or looked at first")
        }
        ReportedStatus::Failed => Some("it has failed; its attempts are counted anew"),
        ReportedStatus::Unverified => Some("it was done, and nothing could prove it"),
        ReportedStatus::Pending | ReportedStatus::Passed | ReportedStatus::Skipped => None,
    };
    ResumePoint::From {
        step: first.id.clone(),
        passed,
        total: steps.len(),
        why,
    }
}

pub fn resume_point_of(state: &RunState) -> ResumePoint {
    let left = state
        .standings()
        .into_iter()
        .map(|(task, standing)| InterruptedTask {
            id: task.id.clone(),
            status: ReportedStatus::from(&standing),
            is_stale: state.tasks.get(&task.id).is_some_and(|task| task.is_stale),
        });
    find_resume_point(&left.collect::<Vec<_>>())
}

impl ResumePoint {
    /// The line for the user, such as `Resuming from step 3. 2/3 steps already completed.`
    pub fn summary_line(&self) -> String {
        match self {
            Self::From {
                step,
                passed,
                total,
                why,
            } => {
                let why = why
                    .map(|why| format!(" Step {step}: {why}."))
                    .unwrap_or_default();
                format!("Resuming from step {step}. {passed}/{total} steps already completed.{why}")
            }
            Self::Nothing => "Nothing is left to do.".to_owned(),
        }
    }
}

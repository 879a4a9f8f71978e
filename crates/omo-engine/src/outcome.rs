//! The outcome of an ultraplan run in the words of its progress file: each step, counts by status, and the whole.

use omo_plan::model::{Dialect, OnFailure};
use serde::{Deserialize, Serialize};

use crate::request::arguments::PlanSelection;
use crate::request::part;
use crate::state::{RunState, TaskStanding, TaskStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedStatus {
    Pending,
    Running,
    Passed,
    Failed,
    Skipped,
    /// Done without proof; to readers of a progress file, which has no word for it, the step is pending.
    #[serde(rename = "pending", skip_deserializing)]
    Unverified,
}

impl From<&TaskStanding> for ReportedStatus {
    fn from(standing: &TaskStanding) -> Self {
        match standing {
            TaskStanding::Is(TaskStatus::Running) => Self::Running,
            TaskStanding::Is(TaskStatus::Passed) => Self::Passed,
            TaskStanding::Is(TaskStatus::Failed) => Self::Failed,
            TaskStanding::Is(TaskStatus::Skipped) => Self::Skipped,
            TaskStanding::Is(TaskStatus::Unverified | TaskStatus::Claimed) => Self::Unverified,
            TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held)
            | TaskStanding::Blocked { .. } => Self::Pending,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinalChecksResult {
    #[serde(rename = "pass")]
    Pass,
    #[serde(rename = "fail")]
    Fail,
    #[serde(rename = "skipped")]
    Skipped,
    #[serde(rename = "n/a")]
    None,
}

impl FinalChecksResult {
    pub fn for_run(state: &RunState) -> Self {
        match () {
            () if state.plan.final_checks.is_empty() => Self::None,
            () if state
                .final_outcomes()
                .flatten()
                .any(|outcome| !outcome.is_green()) =>
            {
                Self::Fail
            }
            () if state.final_outcomes().any(|outcome| outcome.is_none()) => Self::Skipped,
            () => Self::Pass,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanOutcome {
    Completed,
    Failed,
    Stopped,
    Partial,
}

impl PlanOutcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Partial => "partial",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedCounts {
    pub total: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub unverified: usize,
    pub not_reached: usize,
}

impl ReportedCounts {
    /// Counts `steps` of a plan of `total`. The others were not reached.
    pub fn count(steps: &[ReportedStatus], total: usize) -> Self {
        let count =
            |wanted: ReportedStatus| steps.iter().filter(|status| **status == wanted).count();
        let counts = Self {
            total,
            passed: count(ReportedStatus::Passed),
            failed: count(ReportedStatus::Failed),
            skipped: count(ReportedStatus::Skipped),
            unverified: count(ReportedStatus::Unverified),
            not_reached: 0,
        };
        let ended = counts.passed + counts.failed + counts.skipped + counts.unverified;
        Self {
            not_reached: total.saturating_sub(ended),
            ..counts
        }
    }
}

/// The outcome by counts of steps, the `OnFailure` of the first failed one, and the final checks.
pub fn plan_outcome(
    counts: ReportedCounts,
    failed_one: Option<OnFailure>,
    closing: FinalChecksResult,
) -> PlanOutcome {
    match failed_one {
        Some(OnFailure::Escalate) => PlanOutcome::Stopped,
        Some(_) => PlanOutcome::Failed,
        None if closing == FinalChecksResult::Fail || counts.total == 0 => PlanOutcome::Failed,
        None if counts.passed == counts.total && closing != FinalChecksResult::Skipped => {
            PlanOutcome::Completed
        }
        None => PlanOutcome::Partial,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeSummary {
    pub tasks: Vec<(String, ReportedStatus)>,
    pub counts: ReportedCounts,
    pub outcome: PlanOutcome,
    pub failed_at: Option<String>,
    pub final_checks: FinalChecksResult,
    /// As [`RunState::is_outside_branch`].
    pub is_not_landed: bool,
}

impl OutcomeSummary {
    /// The outcome of one `part` of a plan. Beside a single step the others count as not reached; a
    /// session is reported without the final checks.
    pub fn for_run(state: &RunState, part: PlanSelection) -> Self {
        let mut units = part::selected_tasks(&state.plan, part);
        units.retain(|task| !task.is_verification());
        let total = match part {
            PlanSelection::Session(_) | PlanSelection::Whole => units.len(),
            PlanSelection::Step(_) => state
                .scope
                .and_then(|asked| asked.total_tasks)
                .unwrap_or(state.plan.tasks.len()),
        };
        let tasks: Vec<(String, ReportedStatus)> = units
            .iter()
            .map(|unit| {
                let standing = state.standing(&unit.id);
                let status = standing
                    .as_ref()
                    .map_or(ReportedStatus::Pending, ReportedStatus::from);
                (unit.id.clone(), status)
            })
            .collect();
        let statuses: Vec<ReportedStatus> = tasks.iter().map(|(_, status)| *status).collect();
        let counts = ReportedCounts::count(&statuses, total);
        let final_checks = if part == PlanSelection::Whole {
            FinalChecksResult::for_run(state)
        } else {
            FinalChecksResult::None
        };
        let failed = units
            .iter()
            .zip(&statuses)
            .find(|(_, status)| **status == ReportedStatus::Failed);
        let failed = failed.map(|(unit, _)| unit);
        let is_not_landed = state.is_outside_branch();
        let outcome = match plan_outcome(counts, failed.map(|unit| unit.on_failure), final_checks) {
            // The user has nothing of it yet.
            PlanOutcome::Completed if is_not_landed => PlanOutcome::Partial,
            other => other,
        };
        Self {
            tasks,
            counts,
            outcome,
            is_not_landed,
            failed_at: failed.map(|unit| unit.id.clone()),
            final_checks,
        }
    }

    /// Result of the exit condition, which only a plan of one session has.
    pub fn exit_condition(&self, dialect: Dialect) -> FinalChecksResult {
        if dialect.rules().is_one_session() {
            self.final_checks
        } else {
            FinalChecksResult::None
        }
    }

    /// Text such as `COMPLETED` or `FAILED at step 2`.
    pub fn describe(&self, dialect: Dialect) -> String {
        match (self.outcome, &self.failed_at) {
            (PlanOutcome::Completed, _) => "COMPLETED".to_owned(),
            (PlanOutcome::Failed, Some(step)) => format!("FAILED at step {step}"),
            (PlanOutcome::Failed, None) => format!(
                "FAILED ({})",
                dialect.rules().final_checks_title().to_lowercase()
            ),
            (PlanOutcome::Stopped, _) => "STOPPED (escalation)".to_owned(),
            (PlanOutcome::Partial, _) => {
                let where_it_is = if self.is_not_landed {
                    ", not in your branch"
                } else {
                    ""
                };
                format!(
                    "PARTIAL ({}/{} passed{where_it_is})",
                    self.counts.passed, self.counts.total
                )
            }
        }
    }
}

//! `.ultraexecute-progress-{slug}.json`: the progress of a run, for people and for tools that know this file.

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_plan::model::Precondition;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::outcome::{FinalChecksResult, OutcomeSummary, PlanOutcome, ReportedStatus};
use crate::report::ultraplan::{file_name, scope_of};
use crate::request::arguments::PlanSelection;
use crate::request::run_scope::RunScope;
use crate::state::{RunPhase, RunState, TaskState};

const ERROR_CHARS: usize = 1_000;

const FILE_PREFIX: &str = ".ultraexecute-progress-";
/// Pattern that hides progress files, and kept copies of edited ones, from `git status`.
pub(crate) const IGNORE_PATTERN: &str = "*.ultraexecute-progress-*";

/// Path of a plan's progress file, beside the plan; a session that runs by itself has one of its own.
pub fn progress_file_path(plan: &str, part: PlanSelection) -> String {
    let name = file_name(plan);
    let folder = plan.strip_suffix(name).unwrap_or_default();
    let slug = name
        .rsplit_once('.')
        .map_or(name, |(slug, _)| if slug.is_empty() { name } else { slug });
    let session = match part {
        PlanSelection::Session(number) => format!("-session-{number}"),
        PlanSelection::Whole | PlanSelection::Step(_) => String::new(),
    };
    format!("{folder}{FILE_PREFIX}{slug}{session}.json")
}

pub(crate) fn progress_path(state: &RunState) -> String {
    progress_file_path(&state.plan.source.path, scope_of(state).selection)
}

/// `true` for the progress file of any run: omo writes it, so that it is no step's change.
pub(crate) fn is_progress_file(path: &str) -> bool {
    file_name(path).starts_with(FILE_PREFIX)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgressFile {
    pub schema_version: &'static str,
    pub plan: String,
    /// `plan` or `session-spec`.
    pub plan_type: &'static str,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// The `RunMode`, as a word.
    pub mode: &'static str,
    pub total_steps: usize,
    /// Number of the running or last step; `0` before the first.
    pub current_step: u64,
    /// `in-progress`, `completed`, `failed` or `stopped`.
    pub status: &'static str,
    #[serde(serialize_with = "as_map")]
    pub steps: Vec<(String, ProgressStep)>,
    pub entry_condition_checked: bool,
    pub exit_condition_checked: bool,
    /// The outcome; `None` before the end.
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgressStep {
    pub status: ReportedStatus,
    pub attempts: u32,
    pub error: Option<String>,
    pub completed_at: Option<Timestamp>,
    pub commit: Option<String>,
}

fn as_map<S: Serializer>(
    steps: &[(String, ProgressStep)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(steps.len()))?;
    for (id, step) in steps {
        map.serialize_entry(id, step)?;
    }
    map.end()
}

/// The progress of the run, or of the part of the plan that `asked` selects.
pub fn progress_file(state: &RunState, asked: RunScope) -> ProgressFile {
    let reached = OutcomeSummary::for_run(state, asked.selection);
    let is_over = state.phase != RunPhase::Executing;
    let has_begun = state.tasks.values().any(|task| task.attempts > 0);
    let has_entry = state
        .plan
        .preconditions
        .iter()
        .any(|precondition| matches!(precondition, Precondition::EntryCondition { .. }));
    let is_one_session = state.plan.dialect.rules().is_one_session();
    let is_waiting = reached.outcome == PlanOutcome::Stopped && state.open_question().is_some();
    let status = match (&state.phase, reached.outcome) {
        (RunPhase::Executing, _) if !is_waiting => "in-progress",
        (RunPhase::Ended { .. }, PlanOutcome::Completed) => "completed",
        (RunPhase::Ended { .. }, PlanOutcome::Failed) => "failed",
        (RunPhase::Executing | RunPhase::Cancelled { .. } | RunPhase::Ended { .. }, _) => "stopped",
    };
    ProgressFile {
        schema_version: "1",
        plan: state.plan.source.path.clone(),
        plan_type: state.plan.dialect.rules().file_type(),
        started_at: state.opened_at,
        updated_at: state.updated_at,
        mode: asked.mode.word(),
        total_steps: if matches!(asked.selection, PlanSelection::Step(_)) {
            reached.tasks.len()
        } else {
            reached.counts.total
        },
        current_step: current_step(state, &reached),
        status,
        steps: reached
            .tasks
            .iter()
            .map(|(id, status)| (id.clone(), progress_step(state.tasks.get(id), *status)))
            .collect(),
        // No step is begun before that.
        entry_condition_checked: is_one_session && has_entry && has_begun,
        exit_condition_checked: is_one_session && reached.final_checks == FinalChecksResult::Pass,
        summary: (is_over || is_waiting).then(|| reached.describe(state.plan.dialect)),
    }
}

fn progress_step(task_state: Option<&TaskState>, status: ReportedStatus) -> ProgressStep {
    let passed = status == ReportedStatus::Passed;
    let end = task_state.and_then(|task_state| task_state.last_end.as_ref());
    let why = task_state.and_then(|task_state| task_state.reason.as_ref());
    let error = why
        .or(end.map(|end| &end.evidence))
        .filter(|_| !passed && status != ReportedStatus::Running);
    ProgressStep {
        status,
        attempts: task_state.map_or(0, |known| known.attempts),
        error: error.map(|error| sanitize(error, ERROR_CHARS)),
        completed_at: task_state
            .and_then(|task_state| task_state.updated_at)
            .filter(|_| passed),
        commit: end.and_then(|end| end.commit.clone()).filter(|_| passed),
    }
}

/// Number of the running step, or of the one with the last event; `0` where none was begun.
fn current_step(state: &RunState, reached: &OutcomeSummary) -> u64 {
    let running = reached
        .tasks
        .iter()
        .find(|(_, status)| *status == ReportedStatus::Running)
        .map(|(id, _)| id);
    let begun = reached.tasks.iter().filter_map(|(id, _)| {
        let known = state.tasks.get(id).filter(|task| task.attempts > 0)?;
        Some((known.updated_at, id))
    });
    let last = begun.max_by_key(|(at, _)| *at).map(|(_, id)| id);
    running
        .or(last)
        .and_then(|id| id.parse().ok())
        .unwrap_or_default()
}

//! The summary of an ended run for machines: the block `ultraexecute_summary`, and one line of statistics.

use omo_core::timestamp::Timestamp;
use serde::Serialize;

use crate::outcome::{FinalChecksResult, OutcomeSummary, PlanOutcome};
use crate::program_files::ultraexecute_progress::progress_file_path;
use crate::report::ultraplan::file_name;
use crate::request::run_scope::RunScope;
use crate::state::RunState;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UltraexecuteSummary {
    pub plan: String,
    /// `plan` or `session-spec`.
    pub plan_type: &'static str,
    pub result: PlanOutcome,
    pub steps_total: usize,
    pub steps_passed: usize,
    pub steps_failed: usize,
    pub steps_skipped: usize,
    #[serde(skip_serializing_if = "is_none")]
    pub steps_unverified: usize,
    pub steps_not_reached: usize,
    pub failed_at_step: Option<u64>,
    pub exit_condition: FinalChecksResult,
    pub progress_file: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct Block {
    ultraexecute_summary: UltraexecuteSummary,
}

pub(crate) fn run_summary(state: &RunState, asked: RunScope) -> UltraexecuteSummary {
    let reached = OutcomeSummary::for_run(state, asked.selection);
    let counts = reached.counts;
    UltraexecuteSummary {
        plan: state.plan.source.path.clone(),
        plan_type: state.plan.dialect.rules().file_type(),
        result: reached.outcome,
        steps_total: counts.total,
        steps_passed: counts.passed,
        steps_failed: counts.failed,
        steps_skipped: counts.skipped,
        steps_unverified: counts.unverified,
        steps_not_reached: counts.not_reached,
        failed_at_step: reached.failed_at.as_ref().and_then(|id| id.parse().ok()),
        exit_condition: reached.exit_condition(state.plan.dialect),
        progress_file: progress_file_path(&state.plan.source.path, asked.selection),
    }
}

/// JSON object whose one key is `ultraexecute_summary`.
pub fn summary_block(state: &RunState, asked: RunScope) -> String {
    serde_json::to_string_pretty(&Block {
        ultraexecute_summary: run_summary(state, asked),
    })
    .unwrap_or_default()
}

pub(crate) const STATS_FILE: &str = "ultraexecute-stats.jsonl";

#[derive(Serialize)]
struct Stats<'a> {
    ts: Timestamp,
    plan: &'a str,
    plan_type: &'a str,
    mode: &'a str,
    result: PlanOutcome,
    steps_total: usize,
    steps_passed: usize,
    steps_failed: usize,
    steps_skipped: usize,
    failed_at_step: Option<u64>,
}

/// The line of a run in `STATS_FILE`, with its line end.
pub fn stats_line(state: &RunState, asked: RunScope, now: Timestamp) -> String {
    let summary = run_summary(state, asked);
    let line = Stats {
        ts: now,
        plan: file_name(&summary.plan),
        plan_type: summary.plan_type,
        mode: asked.mode.word(),
        result: summary.result,
        steps_total: summary.steps_total,
        steps_passed: summary.steps_passed,
        steps_failed: summary.steps_failed,
        steps_skipped: summary.steps_skipped,
        failed_at_step: summary.failed_at_step,
    };
    serde_json::to_string(&line)
        .map(|line| line + "\n")
        .unwrap_or_default()
}

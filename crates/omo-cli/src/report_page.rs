//! What the page of a run shows, taken from what is kept of it: of a run of a plan, and of an ultrawork run. Pure.

pub(crate) mod plan_page;
mod plan_timeline;
#[cfg(test)]
mod tests;
pub(crate) mod ultrawork_page;

use std::collections::BTreeMap;

use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::timestamp::Timestamp;
use omo_engine::event::RunEvent;
use omo_engine::report::RunReport;
use omo_engine::state::RunState;
use omo_report_page::model::{CheckResult, CheckState};

/// Facts of a run of a plan.
pub(crate) struct PlanRecord<'a> {
    /// State of the run.
    pub state: &'a RunState,
    /// Report of the run, with its history.
    pub report: &'a RunReport,
    /// All that happened.
    pub events: &'a [RunEvent],
    /// Differences of its tasks, by their id.
    pub differences: &'a BTreeMap<String, String>,
    /// Next steps.
    pub next_steps: Vec<String>,
    /// Its begin, as its reader's clock shows it.
    pub began: String,
    /// Now.
    pub now: Timestamp,
    /// Time of the day, as its reader's clock shows it.
    pub time_of_day: String,
}

/// A check of a plan, with what came of it.
fn plan_check(command: &str, outcome: Option<&TaskCheckOutcome>, tree: Option<&str>) -> CheckResult {
    CheckResult {
        command: command.to_owned(),
        state: outcome.map_or(CheckState::NotRun, |outcome| plan_check_state(&outcome.verdict)),
        detail: outcome.map(|outcome| outcome.describe().to_owned()).unwrap_or_default(),
        exit: outcome.and_then(|outcome| outcome.exit),
        millis: outcome.map(|outcome| outcome.took_millis),
        tree: tree.map(tree_name),
        output: outcome.map(TaskCheckOutcome::quoted_output).unwrap_or_default(),
    }
}

fn plan_check_state(verdict: &TaskCheckVerdict) -> CheckState {
    match verdict {
        TaskCheckVerdict::Green => CheckState::Green,
        TaskCheckVerdict::Red | TaskCheckVerdict::TimedOut => CheckState::Red,
        TaskCheckVerdict::Environment { .. } | TaskCheckVerdict::NothingRan => CheckState::Unusable,
    }
}

/// The id of a work tree as people see it: that of its files, where it says more.
fn tree_name(tree: &str) -> String {
    let files = serde_json::from_str::<serde_json::Value>(tree).ok();
    let files = files.as_ref().and_then(|id| id.get("tree")?.as_str());
    files.unwrap_or(tree).to_owned()
}

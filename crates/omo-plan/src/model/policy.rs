//! Rules for a run of a plan: handling of failures, parallel workers, batches and reviews.

use omo_core::check::task_check::TaskCheck;
use omo_core::plan_models::PlanModels;
use serde::{Deserialize, Serialize};

/// Rules for a run, from the plan and from options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule that stands alone, by its name in the ledger"
)]
pub struct RunPolicy {
    pub on_task_fail: OnTaskFail,
    pub parallel: Parallelism,
    /// Maximum workers; `0` for no limit.
    pub max_workers: u32,
    pub max_rounds: u32,
    pub batch_size: u32,
    pub requires_contracts: bool,
    /// Number of direct dependents that makes a task a hub.
    pub hub_dependents: u32,
    #[serde(default)]
    pub skips_verification: bool,
    /// `true` where unproved tasks let dependents begin; they are never shown as passed.
    #[serde(default)]
    pub unproved_continues: bool,
    /// `true` where a plan with an unproved task is not run.
    #[serde(default)]
    pub requires_checks: bool,
    /// Time for a review of unproved work.
    #[serde(default)]
    pub review: ReviewTime,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added_checks: Vec<TaskCheck>,
    #[serde(default)]
    pub models: PlanModels,
    /// Pull request to open once the run is complete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pull_request: Option<PullRequestOrder>,
}

/// A pull request that a person asked for when the run was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestOrder {
    /// Program that opens it, such as `gh`.
    pub program: String,
    /// Name of the remote, such as `origin`.
    pub remote: String,
    /// Address of the remote at that time.
    pub address: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTime {
    Tasks,
    /// Review after each wave or batch with an unproved task.
    Waves,
    #[default]
    End,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTaskFail {
    /// Goes on with tasks that do not depend on the failed one.
    Continue,
    Stop,
    /// Goes on with the rest, then tries the failed ones once more.
    NextRound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallelism {
    None,
    Groups,
    Tasks,
}

impl Default for RunPolicy {
    fn default() -> Self {
        Self {
            on_task_fail: OnTaskFail::Continue,
            parallel: Parallelism::None,
            max_workers: 1,
            max_rounds: 1,
            batch_size: 0,
            requires_contracts: false,
            hub_dependents: 0,
            skips_verification: false,
            unproved_continues: false,
            requires_checks: false,
            review: ReviewTime::default(),
            added_checks: Vec::new(),
            models: PlanModels::default(),
            pull_request: None,
        }
    }
}

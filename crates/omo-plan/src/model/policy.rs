//! Policy of a run of a plan.

use omo_core::check::task_check::TaskCheck;
use omo_core::plan_models::PlanModels;
use serde::{Deserialize, Serialize};

/// Policy of a run of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule that stands alone, by its name in the ledger"
)]
pub struct RunPolicy {
    /// Effect of a failed task on the run.
    pub on_task_fail: OnTaskFail,
    /// Unit of parallel work.
    pub parallel: Parallelism,
    /// Maximum parallel tasks; `0` for no limit.
    pub max_workers: u32,
    /// Maximum rounds over the whole plan.
    pub max_rounds: u32,
    /// Tasks in a batch.
    pub batch_size: u32,
    /// `true` where every task needs a Task Contract.
    pub requires_contracts: bool,
    /// Direct dependents that make a task a hub.
    pub hub_dependents: u32,
    /// `true` to end without a verification of the whole.
    #[serde(default)]
    pub skips_verification: bool,
    /// `true` where an unproved task lets its dependents begin. It is never shown as passed.
    #[serde(default)]
    pub unproved_continues: bool,
    /// `true` where a plan with an unproved task is not run.
    #[serde(default)]
    pub requires_checks: bool,
    /// Time of the review of unproved work.
    #[serde(default)]
    pub review: ReviewTime,
    /// Checks of the whole that the user added.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added_checks: Vec<TaskCheck>,
    /// Models of agents that the user named.
    #[serde(default)]
    pub models: PlanModels,
}

/// Time of a review of unproved work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTime {
    /// Behind each such task.
    Tasks,
    /// Behind each wave or batch with such a task.
    Waves,
    /// Once, behind all tasks.
    #[default]
    End,
    /// Never.
    Never,
}

/// Effect of a failed task on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTaskFail {
    /// Tasks that do not depend on the failed one go on.
    Continue,
    /// Nothing more is begun.
    Stop,
    /// The rest goes on, and then the failed ones once more.
    NextRound,
}

/// Unit of parallel work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallelism {
    /// One task after the other.
    None,
    /// Groups, each in a work tree of its own.
    Groups,
    /// Single tasks.
    Tasks,
}

impl Default for RunPolicy {
    /// A single round, one task after the other.
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
        }
    }
}

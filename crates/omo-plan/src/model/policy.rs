//! Policy of a run of a plan.

use omo_core::check::task_check::TaskCheck;
use omo_core::plan_models::PlanModels;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule that stands alone, by its name in the ledger"
)]
pub struct RunPolicy {
    pub on_task_fail: OnTaskFail,
    pub parallel: Parallelism,
    /// `0` for no limit.
    pub max_workers: u32,
    /// Over the whole plan.
    pub max_rounds: u32,
    pub batch_size: u32,
    /// Every task needs a Task Contract.
    pub requires_contracts: bool,
    /// Direct dependents that make a task a hub.
    pub hub_dependents: u32,
    /// Ends without a verification of the whole.
    #[serde(default)]
    pub skips_verification: bool,
    /// Unproved tasks let dependents begin; they are never shown as passed.
    #[serde(default)]
    pub unproved_continues: bool,
    /// A plan with an unproved task is not run.
    #[serde(default)]
    pub requires_checks: bool,
    /// Of unproved work.
    #[serde(default)]
    pub review: ReviewTime,
    /// Checks of the whole from the user.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added_checks: Vec<TaskCheck>,
    /// Models of agents from the user.
    #[serde(default)]
    pub models: PlanModels,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTime {
    /// Behind each unproved task.
    Tasks,
    /// Behind each wave or batch with an unproved task.
    Waves,
    /// Once, behind all tasks.
    #[default]
    End,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTaskFail {
    /// Tasks that do not depend on the failed one go on.
    Continue,
    /// Nothing more is begun.
    Stop,
    /// The rest goes on, then the failed ones once more.
    NextRound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallelism {
    None,
    /// In work trees of their own.
    Groups,
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

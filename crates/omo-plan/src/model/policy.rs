//! How a run of a plan goes.

use omo_core::check::task_check::TaskCheck;
use omo_core::plan_models::PlanModels;
use serde::{Deserialize, Serialize};

/// How a run of a plan goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that stands alone, by its name in the ledger")]
pub struct RunPolicy {
    /// What a task that has failed for good does to the run.
    pub on_task_fail: OnTaskFail,
    /// What is done at the same time.
    pub parallel: Parallelism,
    /// How many tasks at most; 0 for as many as there can be.
    pub max_workers: u32,
    /// How often the whole of it is gone over, where it is.
    pub max_rounds: u32,
    /// Tasks in a batch.
    pub batch_size: u32,
    /// Every task has to have a Task Contract.
    pub requires_contracts: bool,
    /// So many direct dependents make a task a hub.
    pub hub_dependents: u32,
    /// The whole is not verified once its tasks are done.
    #[serde(default)]
    pub skips_verification: bool,
    /// A task that nothing can prove lets those begin that wait for it. It is never shown as passed.
    #[serde(default)]
    pub unproved_continues: bool,
    /// The plan is not run as long as one of its tasks has nothing that proves it.
    #[serde(default)]
    pub requires_checks: bool,
    /// When work that no command proves is reviewed.
    #[serde(default)]
    pub review: ReviewTime,
    /// What its user has added to the checks of the whole.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added_checks: Vec<TaskCheck>,
    /// The models of agents, as far as its user named them.
    #[serde(default)]
    pub models: PlanModels,
}

/// When a reviewer judges work that no command proves.
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
    /// At no time.
    Never,
}

/// What a task that has failed for good does to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTaskFail {
    /// What does not depend on it goes on.
    Continue,
    /// Nothing more is begun.
    Stop,
    /// The rest goes on, and then the failed ones once more.
    NextRound,
}

/// What is done at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallelism {
    /// One task after the other.
    None,
    /// Groups, each in a work tree of its own.
    Groups,
    /// Units.
    Tasks,
}

impl Default for RunPolicy {
    /// One task after the other, and each that can be done is done once.
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

//! Exchange of a run and a worker on another machine by git alone: the branch of the work, and beside it a branch with
//! the brief, which the run pushes, and one with the report, which the worker pushes.

use omo_claude::client_cost::ClientCost;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// Version of [`WorkerBrief`] and [`WorkerReport`]; others are refused.
pub const EXCHANGE_VERSION: u32 = 1;
pub const BRIEF_FILE: &str = "brief.json";
pub const REPORT_FILE: &str = "report.json";

/// Name of the branch with the brief: `BRANCH.brief`.
pub fn brief_branch(branch: &str) -> String {
    format!("{branch}.brief")
}

/// Name of the branch with the report: `BRANCH.report`.
pub fn report_branch(branch: &str) -> String {
    format!("{branch}.report")
}

/// Task and bounds of a worker. No credentials: both ends use their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerBrief {
    /// [`EXCHANGE_VERSION`].
    pub version: u32,
    pub run: String,
    /// Group id of the plan.
    pub group: String,
    /// Commit that the work begins from.
    pub base: String,
    pub prompt: String,
    /// Remaining tasks in order.
    pub tasks: Vec<BriefTask>,
    /// Command that prepares a fresh clone; approved by the user of the run.
    pub setup: Option<String>,
    /// Paths that the plan forbids.
    pub never_touch: Vec<String>,
    /// `--dangerously-skip-permissions`, on request of the user of the run.
    pub skips_permissions: bool,
    /// Rules for `--allowedTools` of the client.
    pub allow: Vec<String>,
    pub model: Option<String>,
    /// In millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// Maximum time of the client.
    pub time_limit_seconds: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BriefTask {
    pub id: String,
    /// Whole commit message, with the trailers that name its run and task.
    pub message: String,
}

/// A worker's words about itself: no proof of any work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerReport {
    /// [`EXCHANGE_VERSION`].
    pub version: u32,
    /// Random letters of this start: of two starts of a job the last one to begin owns the branch.
    pub instance: String,
    pub host: String,
    pub at: Timestamp,
    pub phase: WorkerPhase,
    /// Ids of tasks with pushed commits, in order.
    pub pushed: Vec<String>,
    /// Cost with that of earlier starts; a client at work counts with its whole budget.
    #[serde(flatten)]
    pub cost: ClientCost,
}

impl WorkerReport {
    /// `None` for another form or version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes)
            .ok()
            .filter(|report| report.version == EXCHANGE_VERSION)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPhase {
    /// Cloning, and setting the clone up.
    Preparing,
    Working,
    Ended {
        end: WorkerEnd,
        /// The worker's own words.
        detail: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerEnd {
    /// Every task has a pushed commit.
    Pushed,
    /// The client ended by itself, and a task has no commit.
    TasksLeft,
    /// No clone, no set-up, or no start of the client.
    NotPrepared,
    UsageLimit {
        /// Reset of the limit, where known.
        until: Option<Timestamp>,
    },
    BudgetSpent,
    /// The API refused the client, or failed.
    ApiFailed,
    TimedOut,
    /// Ended on request.
    Stopped,
    Killed,
}

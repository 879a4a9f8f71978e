//! Exchange of a run and a worker on another machine. Nothing but git connects the two, so that all
//! of it is branches of a remote repository: the branch that takes the work, one beside it with the
//! brief, which the run pushes, and one with the report, which the worker pushes.

use omo_claude::client_cost::ClientCost;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// Version of [`WorkerBrief`] and [`WorkerReport`]. Another one is not understood.
pub const EXCHANGE_VERSION: u32 = 1;
/// [`WorkerBrief`] in the one commit of its branch.
pub const BRIEF_FILE: &str = "brief.json";
/// [`WorkerReport`] in the one commit of its branch.
pub const REPORT_FILE: &str = "report.json";

/// `BRANCH.brief`: the branch with the brief.
pub fn brief_branch(branch: &str) -> String {
    format!("{branch}.brief")
}

/// `BRANCH.report`: the branch with the report.
pub fn report_branch(branch: &str) -> String {
    format!("{branch}.report")
}

/// Task and bounds of a worker. No credentials: both ends use their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerBrief {
    /// [`EXCHANGE_VERSION`].
    pub version: u32,
    /// Run id.
    pub run: String,
    /// Group id of the plan.
    pub group: String,
    /// The commit that the work begins from.
    pub base: String,
    /// Prompt of the client.
    pub prompt: String,
    /// The tasks that are left to do, in their order.
    pub tasks: Vec<BriefTask>,
    /// The command that makes a fresh clone ready, which the user of the run approved.
    pub setup: Option<String>,
    /// Paths that are never to be touched, from the plan.
    pub never_touch: Vec<String>,
    /// The client does without any permission; the user of the run asked for that.
    pub skips_permissions: bool,
    /// Permissions of the client without a question, as its rules.
    pub allow: Vec<String>,
    /// The model, where one was named.
    pub model: Option<String>,
    /// Budget of the client, in millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// For how long the client may run, in seconds.
    pub time_limit_seconds: u32,
}

/// Task of a [`WorkerBrief`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BriefTask {
    /// Task id.
    pub id: String,
    /// The whole message of its commit, with the trailers that tell the run of which task it is.
    pub message: String,
}

/// Report of a worker about itself, in `report.json`. Nothing of it is proof of any work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerReport {
    /// [`EXCHANGE_VERSION`].
    pub version: u32,
    /// Random letters of this start of the worker: an engine may run one job twice, and the last one to begin owns the
    /// branch.
    pub instance: String,
    /// The machine that it runs on, as that calls itself.
    pub host: String,
    /// Moment of the report.
    pub at: Timestamp,
    /// Phase of the worker.
    pub phase: WorkerPhase,
    /// The tasks whose commits were pushed, in their order.
    pub pushed: Vec<String>,
    /// Cost of its clients, those of earlier starts included. One that is at work counts with its
    /// budget.
    #[serde(flatten)]
    pub cost: ClientCost,
}

impl WorkerReport {
    /// Report of a worker; `None` for another form.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes)
            .ok()
            .filter(|report| report.version == EXCHANGE_VERSION)
    }
}

/// Phase of a [`WorkerReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPhase {
    /// Cloning, and setting the clone up.
    Preparing,
    /// A client at work.
    Working,
    /// End.
    Ended {
        /// Kind of end.
        end: WorkerEnd,
        /// In words, of the worker's own.
        detail: String,
    },
}

/// End of a worker, in [`WorkerPhase::Ended`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerEnd {
    /// A commit of every task was pushed.
    Pushed,
    /// A client that ended by itself, with a task without a commit.
    TasksLeft,
    /// No clone, no set-up, or no start of the client.
    NotPrepared,
    /// A usage limit of the client.
    UsageLimit {
        /// Reset of the limit, where it was told.
        until: Option<Timestamp>,
    },
    /// Budget of the client spent.
    BudgetSpent,
    /// The API refused its client, or failed.
    ApiFailed,
    /// A timeout.
    TimedOut,
    /// A request to end.
    Stopped,
    /// A killed client.
    Killed,
}

//! What a run and a worker on another machine tell each other. Nothing but git connects the two, so that all of it is
//! branches of a remote repository: the branch that takes the work, one beside it with the brief, which the run pushes,
//! and one with the report, which the worker pushes.

use omo_claude::client_cost::ClientCost;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// The form of the brief and of the report. Another one is not understood.
pub const EXCHANGE_VERSION: u32 = 1;
/// The file of the brief in the one commit of its branch.
pub const BRIEF_FILE: &str = "brief.json";
/// The file of the report in the one commit of its branch.
pub const REPORT_FILE: &str = "report.json";

/// The branch with the brief, beside the branch that takes the work.
pub fn brief_branch(branch: &str) -> String {
    format!("{branch}.brief")
}

/// The branch with the report, beside the branch that takes the work.
pub fn report_branch(branch: &str) -> String {
    format!("{branch}.report")
}

/// What a worker is to do, and within what bounds. It holds no credentials: both ends use what they have of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerBrief {
    /// [`EXCHANGE_VERSION`].
    pub version: u32,
    /// The run.
    pub run: String,
    /// The group of its plan.
    pub group: String,
    /// The commit that the work begins from.
    pub base: String,
    /// What the client is told.
    pub prompt: String,
    /// The tasks that are left to do, in their order.
    pub tasks: Vec<BriefTask>,
    /// The command that makes a fresh clone ready, which the user of the run approved.
    pub setup: Option<String>,
    /// What is never to be touched, as the plan has it.
    pub never_touch: Vec<String>,
    /// The client does without any permission; the user of the run asked for that.
    pub skips_permissions: bool,
    /// What the client may do without being asked, as rules of the client.
    pub allow: Vec<String>,
    /// The model, where one was named.
    pub model: Option<String>,
    /// What the client may spend, in millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// For how long the client may run, in seconds.
    pub time_limit_seconds: u32,
}

/// A task of a brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BriefTask {
    /// The task.
    pub id: String,
    /// The whole message of its commit, with the trailers that tell the run of which task it is.
    pub message: String,
}

/// What a worker says about itself. Nothing of it is proof of any work.
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
    /// When this was said.
    pub at: Timestamp,
    /// How far it is.
    pub phase: WorkerPhase,
    /// The tasks whose commits were pushed, in their order.
    pub pushed: Vec<String>,
    /// What its clients have cost, those of earlier starts included. One that is at work counts with its budget.
    #[serde(flatten)]
    pub cost: ClientCost,
}

impl WorkerReport {
    /// What a worker says; `None` where it is said in another form.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|report| report.version == EXCHANGE_VERSION)
    }
}

/// How far a worker is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPhase {
    /// It clones, and makes the clone ready.
    Preparing,
    /// Its client is at work.
    Working,
    /// It has ended.
    Ended {
        /// How.
        end: WorkerEnd,
        /// In words, of the worker's own.
        detail: String,
    },
}

/// How a worker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerEnd {
    /// A commit of every task was pushed.
    Pushed,
    /// Its client ended by itself, and some task has no commit.
    TasksLeft,
    /// It could not clone, or make the clone ready, or start its client.
    NotPrepared,
    /// Its client met a limit of use, which is reset then, where that was told.
    UsageLimit {
        /// When.
        until: Option<Timestamp>,
    },
    /// Its client had spent what it may.
    BudgetSpent,
    /// The API refused its client, or failed.
    ApiFailed,
    /// Its time was up.
    TimedOut,
    /// It was asked to end.
    Stopped,
    /// Its client was killed.
    Killed,
}

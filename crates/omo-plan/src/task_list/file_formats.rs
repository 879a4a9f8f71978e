//! Files of a task list.
//!
//! Both generations of programs that use them are read: numbers that became texts on a command line, both words for a
//! task that was not begun, both names of its dependencies. Fields that no rule reads are kept.

use std::fmt;

use serde::de::{self, Deserializer, Unexpected};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const TASK_LIST_VERSION: &str = "7.0";
pub(super) const MAX_ROUNDS: u32 = 5;

/// `session.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListFile {
    /// Version of the format.
    #[serde(default = "version")]
    pub version: String,
    /// Id of the session; empty where only its folder says so.
    #[serde(default)]
    pub session_id: String,
    /// Working folder.
    #[serde(default)]
    pub working_dir: String,
    /// Original folder, where a work tree was made.
    #[serde(default)]
    pub original_dir: Option<String>,
    /// Goal of the session.
    #[serde(default)]
    pub goal: String,
    /// Goal in a few words, fit for a name.
    #[serde(default)]
    pub goal_brief: String,
    /// Amount of planning.
    #[serde(default)]
    pub planning_tier: String,
    /// Start in RFC 3339.
    #[serde(default)]
    pub started_at: String,
    /// Last change in RFC 3339.
    #[serde(default)]
    pub updated_at: String,
    /// Phase of the session.
    pub phase: TaskListPhase,
    /// Stage of the exploration.
    #[serde(default)]
    pub exploration_stage: String,
    /// Current round, from 1.
    #[serde(default = "one", deserialize_with = "number")]
    pub iteration: u32,
    /// Design of the session.
    #[serde(default)]
    pub plan: TaskListDesign,
    /// Settings of the session.
    #[serde(default)]
    pub options: TaskListSettings,
    /// Work tree of the session.
    #[serde(default)]
    pub worktree: Value,
    /// `true` after a verifier's approval.
    #[serde(default)]
    pub verifier_passed: bool,
    /// `true` once the documentation is written.
    #[serde(default)]
    pub documenter_completed: bool,
    /// Cancellation in RFC 3339.
    #[serde(default)]
    pub cancelled_at: Option<String>,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskListFile {
    /// A new session.
    pub fn new(session_id: String, working_dir: String, goal: String, started_at: String) -> Self {
        Self {
            version: version(),
            session_id,
            working_dir,
            original_dir: None,
            goal,
            goal_brief: String::new(),
            planning_tier: String::new(),
            updated_at: started_at.clone(),
            started_at,
            phase: TaskListPhase::Planning,
            exploration_stage: String::new(),
            iteration: 1,
            plan: TaskListDesign::default(),
            options: TaskListSettings::default(),
            worktree: Value::Null,
            verifier_passed: false,
            documenter_completed: false,
            cancelled_at: None,
            extra: Map::new(),
        }
    }
}

/// Design of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListDesign {
    /// Approval in RFC 3339.
    #[serde(default)]
    pub approved_at: Option<String>,
    /// File of the design.
    #[serde(default)]
    pub design_doc: Option<String>,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Settings of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListSettings {
    /// Maximum parallel workers; `0` for no limit.
    #[serde(default, deserialize_with = "number")]
    pub max_workers: u32,
    /// Maximum rounds.
    #[serde(default = "max_iterations", deserialize_with = "number")]
    pub max_iterations: u32,
    /// `true` to end with the plan.
    #[serde(default)]
    pub plan_only: bool,
    /// `true` to ask nothing.
    #[serde(default)]
    pub auto_mode: bool,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for TaskListSettings {
    fn default() -> Self {
        Self {
            max_workers: 0,
            max_iterations: MAX_ROUNDS,
            plan_only: false,
            auto_mode: false,
            extra: Map::new(),
        }
    }
}

/// Phase of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskListPhase {
    /// Tasks are being found.
    Planning,
    /// Tasks exist, and none was begun.
    PlanningComplete,
    /// Tasks are worked on.
    Execution,
    /// Work is being verified.
    Verification,
    /// Work is being documented.
    Documentation,
    /// Everything is done.
    Complete,
    /// Cancelled by the user.
    Cancelled,
    /// Unfinished after the last round.
    Failed,
    /// Another word of the programs that write the file.
    #[serde(rename = "unknown")]
    Unknown,
}

impl TaskListPhase {
    /// Phases that can be asked for.
    pub const ALL: [Self; 8] = [
        Self::Planning,
        Self::PlanningComplete,
        Self::Execution,
        Self::Verification,
        Self::Documentation,
        Self::Complete,
        Self::Cancelled,
        Self::Failed,
    ];

    /// Word in the file and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planning => "PLANNING",
            Self::PlanningComplete => "PLANNING_COMPLETE",
            Self::Execution => "EXECUTION",
            Self::Verification => "VERIFICATION",
            Self::Documentation => "DOCUMENTATION",
            Self::Complete => "COMPLETE",
            Self::Cancelled => "CANCELLED",
            Self::Failed => "FAILED",
            Self::Unknown => "unknown",
        }
    }

    /// `true` where nothing more happens by itself.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled | Self::Failed)
    }
}

/// `tasks/<id>.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// A whole number, or `verify`; empty where only the file name says so.
    #[serde(default, deserialize_with = "id")]
    pub id: String,
    /// Title of the task.
    #[serde(default)]
    pub subject: String,
    /// Description of the work.
    #[serde(default)]
    pub description: String,
    /// Difficulty of the task.
    #[serde(default)]
    pub complexity: crate::model::TaskComplexity,
    /// Status of the task.
    #[serde(default)]
    pub status: TaskFileStatus,
    /// Ids of tasks that have to be done before, from either name of the field.
    #[serde(default, deserialize_with = "ids")]
    pub blocked_by: Vec<String>,
    /// `blocked_by` under the name that other programs read.
    #[serde(rename = "blockedBy", default, deserialize_with = "ids")]
    pub blocked_by_too: Vec<String>,
    /// Criteria: commands, or sentences for the verifier.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// Evidence: texts, or objects with a command and its output.
    #[serde(default)]
    pub evidence: Vec<Value>,
    /// Creation in RFC 3339.
    #[serde(default)]
    pub created_at: String,
    /// Last change in RFC 3339.
    #[serde(default)]
    pub updated_at: String,
    /// `tdd` or `standard`, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    /// Restarts after a failure.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "is_zero")]
    pub retry_count: u32,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskFile {
    /// Ids of `blocked_by` and `blocked_by_too`, each once.
    pub fn dependencies(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for id in self.blocked_by.iter().chain(&self.blocked_by_too) {
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
        all
    }

    /// Sets both names of the dependencies.
    pub fn set_dependencies(&mut self, needs: &[String]) {
        self.blocked_by = needs.to_vec();
        self.blocked_by_too = needs.to_vec();
    }
}

/// Status of a task in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskFileStatus {
    /// Not begun.
    #[default]
    #[serde(alias = "pending")]
    Open,
    /// In work.
    InProgress,
    /// Done, by its worker's word.
    Resolved,
    /// Not possible now.
    Blocked,
    /// Tried and not done.
    Failed,
}

impl TaskFileStatus {
    /// Word in the file and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Resolved => "resolved",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }
}

/// `context.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    /// Results of each explorer.
    #[serde(default)]
    pub explorers: Vec<ExplorerEntry>,
    /// `true` once no explorer is at work any more.
    #[serde(default)]
    pub exploration_complete: bool,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Results of an explorer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplorerEntry {
    /// Name of the explorer.
    pub id: String,
    /// Reported fields.
    #[serde(flatten)]
    pub said: Map<String, Value>,
}

fn version() -> String {
    TASK_LIST_VERSION.to_owned()
}

fn one() -> u32 {
    1
}

fn max_iterations() -> u32 {
    MAX_ROUNDS
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands on a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = u32;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number from 0")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<u32, E> {
            u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<u32, E> {
            text.trim()
                .parse()
                .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_any(Visitor)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(u64),
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        match id {
            Id::Text(text) => text,
            Id::Number(number) => number.to_string(),
        }
    }
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Id::deserialize(deserializer).map(String::from)
}

/// A list of ids, or their text with commas between them.
fn ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<Id>),
        Text(String),
        Nothing(()),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::List(ids) => ids.into_iter().map(String::from).collect(),
        Written::Text(text) => text
            .split(',')
            .map(str::trim)
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .collect(),
        Written::Nothing(()) => Vec::new(),
    })
}

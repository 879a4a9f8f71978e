//! File formats of a task list (`session.json`, `tasks/<id>.json`, `context.json`), in old and new
//! spellings: numbers as texts, two words for a status. Unknown fields are kept.

use std::fmt;

use serde::de::{self, Deserializer, Unexpected};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const TASK_LIST_VERSION: &str = "7.0";
pub(super) const MAX_ROUNDS: u32 = 5;

/// `session.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListFile {
    #[serde(default = "version")]
    pub version: String,
    /// Session id; empty where only the folder has it.
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub working_dir: String,
    /// Folder that was worked in before a worktree was made.
    #[serde(default)]
    pub original_dir: Option<String>,
    #[serde(default)]
    pub goal: String,
    #[serde(default)]
    pub goal_brief: String,
    #[serde(default)]
    pub planning_tier: String,
    #[serde(default)]
    pub started_at: String,
    #[serde(default)]
    pub updated_at: String,
    pub phase: TaskListPhase,
    #[serde(default)]
    pub exploration_stage: String,
    /// Number of the round, from 1.
    #[serde(default = "one", deserialize_with = "number")]
    pub iteration: u32,
    #[serde(default)]
    pub plan: TaskListDesign,
    #[serde(default)]
    pub options: TaskListSettings,
    #[serde(default)]
    pub worktree: Value,
    #[serde(default)]
    pub verifier_passed: bool,
    #[serde(default)]
    pub documenter_completed: bool,
    /// Time as of RFC 3339.
    #[serde(default)]
    pub cancelled_at: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskListFile {
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListDesign {
    /// Time as of RFC 3339.
    #[serde(default)]
    pub approved_at: Option<String>,
    #[serde(default)]
    pub design_doc: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListSettings {
    /// Maximum workers; `0` for no limit.
    #[serde(default, deserialize_with = "number")]
    pub max_workers: u32,
    #[serde(default = "max_iterations", deserialize_with = "number")]
    pub max_iterations: u32,
    #[serde(default)]
    pub plan_only: bool,
    #[serde(default)]
    pub auto_mode: bool,
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

/// Phase of a session, from its design to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskListPhase {
    Planning,
    PlanningComplete,
    Execution,
    Verification,
    Documentation,
    Complete,
    Cancelled,
    Failed,
    #[serde(rename = "unknown")]
    Unknown,
}

impl TaskListPhase {
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

    pub fn is_over(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled | Self::Failed)
    }
}

/// `tasks/<id>.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// Whole number, or `verify`; empty where only the file name has it.
    #[serde(default, deserialize_with = "id")]
    pub id: String,
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub complexity: crate::model::TaskComplexity,
    #[serde(default)]
    pub status: TaskFileStatus,
    #[serde(default, deserialize_with = "ids")]
    pub blocked_by: Vec<String>,
    /// The ids of `blocked_by` once more, by the name that other programs read.
    #[serde(rename = "blockedBy", default, deserialize_with = "ids")]
    pub blocked_by_too: Vec<String>,
    /// Commands, or sentences for the verifier.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// Evidence as texts, or as objects with a command and its output.
    #[serde(default)]
    pub evidence: Vec<Value>,
    /// Time as of RFC 3339.
    #[serde(default)]
    pub created_at: String,
    /// Time as of RFC 3339.
    #[serde(default)]
    pub updated_at: String,
    /// `tdd` or `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    #[serde(default, deserialize_with = "number", skip_serializing_if = "is_zero")]
    pub retry_count: u32,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskFile {
    /// Ids in `blocked_by` and `blocked_by_too`, each once.
    pub fn dependencies(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for id in self.blocked_by.iter().chain(&self.blocked_by_too) {
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
        all
    }

    pub fn set_dependencies(&mut self, needs: &[String]) {
        self.blocked_by = needs.to_vec();
        self.blocked_by_too = needs.to_vec();
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskFileStatus {
    #[default]
    #[serde(alias = "pending")]
    Open,
    InProgress,
    /// Finished, as its worker says.
    Resolved,
    Blocked,
    Failed,
}

impl TaskFileStatus {
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
    #[serde(default)]
    pub explorers: Vec<ExplorerEntry>,
    #[serde(default)]
    pub exploration_complete: bool,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplorerEntry {
    pub id: String,
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

/// Ids from a list, or from a text with commas.
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

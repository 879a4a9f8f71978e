//! The files of a task list, in the shapes in which they are written down.
//!
//! Both generations of programs that use them are read: numbers that became texts on a command line, both words for a
//! task that was not begun, both names of what it waits for. What no rule reads is kept.

use std::fmt;

use serde::de::{self, Deserializer, Unexpected};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a new session's file says of its version.
const TASK_LIST_VERSION: &str = "7.0";
/// How often a session goes over its tasks, where nothing else is said.
pub(super) const MAX_ROUNDS: u32 = 5;

/// `session.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListFile {
    /// The version of the shape.
    #[serde(default = "version")]
    pub version: String,
    /// The session. Empty where only its folder says so.
    #[serde(default)]
    pub session_id: String,
    /// The folder that it works in.
    #[serde(default)]
    pub working_dir: String,
    /// The folder that it was begun in, where a work tree was made for it.
    #[serde(default)]
    pub original_dir: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub goal: String,
    /// The same in a few words, fit for a name.
    #[serde(default)]
    pub goal_brief: String,
    /// How much planning it wants.
    #[serde(default)]
    pub planning_tier: String,
    /// When it was begun, in RFC 3339.
    #[serde(default)]
    pub started_at: String,
    /// When it was last changed, in RFC 3339.
    #[serde(default)]
    pub updated_at: String,
    /// Where it stands.
    pub phase: TaskListPhase,
    /// How far its exploration is.
    #[serde(default)]
    pub exploration_stage: String,
    /// How often its tasks were gone over, this time included; from 1.
    #[serde(default = "one", deserialize_with = "number")]
    pub iteration: u32,
    /// Its design.
    #[serde(default)]
    pub plan: TaskListDesign,
    /// How it goes.
    #[serde(default)]
    pub options: TaskListSettings,
    /// The work tree that was made for it.
    #[serde(default)]
    pub worktree: Value,
    /// A verifier has said that all is done.
    #[serde(default)]
    pub verifier_passed: bool,
    /// Its documentation was written.
    #[serde(default)]
    pub documenter_completed: bool,
    /// When it was cancelled, in RFC 3339.
    #[serde(default)]
    pub cancelled_at: Option<String>,
    /// Whatever else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskListFile {
    /// A session at its beginning.
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

/// What a session knows of its design.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListDesign {
    /// When it was approved, in RFC 3339.
    #[serde(default)]
    pub approved_at: Option<String>,
    /// Its file.
    #[serde(default)]
    pub design_doc: Option<String>,
    /// Whatever else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How a session goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListSettings {
    /// How many workers at once; 0 for as many as there can be.
    #[serde(default, deserialize_with = "number")]
    pub max_workers: u32,
    /// How often its tasks are gone over at most.
    #[serde(default = "max_iterations", deserialize_with = "number")]
    pub max_iterations: u32,
    /// It ends with its plan.
    #[serde(default)]
    pub plan_only: bool,
    /// The user is not asked.
    #[serde(default)]
    pub auto_mode: bool,
    /// Whatever else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for TaskListSettings {
    fn default() -> Self {
        Self { max_workers: 0, max_iterations: MAX_ROUNDS, plan_only: false, auto_mode: false, extra: Map::new() }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskListPhase {
    /// Its tasks are being found.
    Planning,
    /// They are there, and none was begun.
    PlanningComplete,
    /// They are worked on.
    Execution,
    /// What was done is being verified.
    Verification,
    /// What was done is being written down.
    Documentation,
    /// All of it is done.
    Complete,
    /// Its user gave it up.
    Cancelled,
    /// It was gone over as often as it may be, and is not done.
    Failed,
    /// None of these, in the words of the programs that write it.
    #[serde(rename = "unknown")]
    Unknown,
}

impl TaskListPhase {
    /// All that can be asked for.
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

    /// The word for it, in the file and for people.
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

    /// Whether nothing more happens by itself.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled | Self::Failed)
    }
}

/// `tasks/<id>.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// What it is called: a whole number, or `verify`. Empty where only the name of its file says so.
    #[serde(default, deserialize_with = "id")]
    pub id: String,
    /// Its title.
    #[serde(default)]
    pub subject: String,
    /// What there is to do.
    #[serde(default)]
    pub description: String,
    /// How hard it is.
    #[serde(default)]
    pub complexity: crate::model::TaskComplexity,
    /// Where it stands.
    #[serde(default)]
    pub status: TaskFileStatus,
    /// The tasks that have to be done before: what either name of it holds.
    #[serde(default, deserialize_with = "ids")]
    pub blocked_by: Vec<String>,
    /// The same, under the name that other programs read.
    #[serde(rename = "blockedBy", default, deserialize_with = "ids")]
    pub blocked_by_too: Vec<String>,
    /// What shows that it is done: commands, or what the verifier has to judge.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// What was put forward for it: texts, or objects with a command and its output.
    #[serde(default)]
    pub evidence: Vec<Value>,
    /// When it was made, in RFC 3339.
    #[serde(default)]
    pub created_at: String,
    /// When it was last changed, in RFC 3339.
    #[serde(default)]
    pub updated_at: String,
    /// `tdd` or `standard`, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    /// How often it was begun anew after it had failed.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "is_zero")]
    pub retry_count: u32,
    /// Whatever else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskFile {
    /// The tasks that have to be done before, each once, whichever of the two names holds them.
    pub fn dependencies(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for id in self.blocked_by.iter().chain(&self.blocked_by_too) {
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
        all
    }

    /// Has it wait for these, under both names.
    pub fn set_dependencies(&mut self, needs: &[String]) {
        self.blocked_by = needs.to_vec();
        self.blocked_by_too = needs.to_vec();
    }
}

/// Where a task stands, as its file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskFileStatus {
    /// It was not begun.
    #[default]
    #[serde(alias = "pending")]
    Open,
    /// A worker is at it.
    InProgress,
    /// It is done, as its worker says.
    Resolved,
    /// It cannot be done now.
    Blocked,
    /// It was tried and is not done.
    Failed,
}

impl TaskFileStatus {
    /// The word for it, in the file and for people.
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
    /// What each explorer found.
    #[serde(default)]
    pub explorers: Vec<ExplorerEntry>,
    /// No explorer is at work any more.
    #[serde(default)]
    pub exploration_complete: bool,
    /// Whatever else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What an explorer found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplorerEntry {
    /// What it is called.
    pub id: String,
    /// What it says.
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands on a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A whole number, or the text of one.
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
            text.trim().parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_any(Visitor)
}

/// What something is called: a text, or a number.
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
        Written::Text(text) => text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        Written::Nothing(()) => Vec::new(),
    })
}

//! A task: what one worker does in one go, and what proves it.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;
use crate::proof::ProofSource;

/// A task or a step: what one worker does in one go, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// What it is called: [`crate::id::is_id`].
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its first and its last line in the file, from 1.
    pub lines: [usize; 2],
    /// The SHA-256 of its text as it would be if it were open, in hexadecimal digits.
    pub body_sha256: String,
    /// Its text as it stands in the file, its heading included.
    pub body: String,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// The other half of a pair of tests and their implementation.
    pub pair: Option<String>,
    /// The tasks that have to have passed before: those that the plan names, and those that follow from its order.
    pub deps: Vec<String>,
    /// Those of [`Task::deps`] that the plan names. `None` where it says nothing about them, which is not the same as
    /// that the task needs none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stated_deps: Option<Vec<String>>,
    /// The title of the phase, story or parent that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<String>,
    /// What the plan says of its state.
    #[serde(default)]
    pub state: PlannedState,
    /// The plan calls it optional.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
    /// How urgent the plan calls it, in the plan's word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<String>,
    /// What it changes.
    pub files: Vec<FileUse>,
    /// Patterns of what it must not change.
    pub never_touch: Vec<String>,
    /// What proves it, in this order.
    pub checks: Vec<TaskCheck>,
    /// What proves it where it has no check of its own: see [`crate::proof`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// What has to fail without the work: a test that is written first.
    pub red_check: Option<TaskCheck>,
    /// What a failure becomes.
    pub on_failure: OnFailure,
    /// The other way that a retry takes.
    pub alternative: Option<String>,
    /// How often it is tried.
    pub max_attempts: u32,
    /// What its changes are committed with, where they are.
    pub commit: Option<TaskCommit>,
    /// The plan marks a stop behind it.
    pub stop_after: bool,
    /// What it is judged by where no command can.
    pub criteria: Vec<String>,
    /// How hard it is.
    pub complexity: TaskComplexity,
    /// The model that should do it.
    pub model: Option<String>,
    /// Its Task Contract; `None` where it has none.
    pub contract: Option<String>,
    /// Labels that no rule reads, with their values.
    pub extra: BTreeMap<String, String>,
}

impl Task {
    /// `true` for the verification of other tasks.
    pub fn is_verification(&self) -> bool {
        self.kind == TaskKind::Verify
    }

    /// A task of which the plan says nothing but its id and its title.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            lines: [1, 1],
            body_sha256: String::new(),
            body: String::new(),
            kind: TaskKind::Impl,
            pair: None,
            deps: Vec::new(),
            stated_deps: None,
            section: None,
            state: PlannedState::Open,
            is_optional: false,
            priority: None,
            files: Vec::new(),
            never_touch: Vec::new(),
            checks: Vec::new(),
            proved_by: None,
            red_check: None,
            on_failure: OnFailure::Hold,
            alternative: None,
            max_attempts: 1,
            commit: None,
            stop_after: false,
            criteria: Vec::new(),
            complexity: TaskComplexity::Standard,
            model: None,
            contract: None,
            extra: BTreeMap::new(),
        }
    }

    /// The same task with this text, which is at these lines of the file.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>, lines: [usize; 2]) -> Self {
        let body = body.into();
        Self { body_sha256: sha256_hex(body.as_bytes()), body, lines, ..self }
    }

    /// The checks that prove it once it was worked on, in their order. Tests are proved by their failure,
    /// as long as what they test is not there; anywhere else that failure is looked for in a copy without
    /// the work, and cannot be there any more when it is done.
    pub fn proving_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        let red = self.red_check.iter().filter(|_| self.kind == TaskKind::Tests);
        red.chain(&self.checks)
    }

    /// Every command of it, in the order in which `TaskState::already_green` of a run counts them: what has to
    /// fail without the work, then its checks.
    pub fn all_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        self.red_check.iter().chain(&self.checks)
    }
}

/// What a plan says of the state of a task, before any run of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedState {
    /// It has to be done.
    #[default]
    Open,
    /// It is checked off.
    Done,
    /// It is not to be done now, or at all. What depends on it goes on without it.
    LeftOut,
}

impl PlannedState {
    /// The state of a task that is checked off, or is not.
    pub(crate) fn checked_off(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::Open }
    }
}

/// What kind of work a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// An implementation.
    #[default]
    Impl,
    /// Tests for something that is not there yet: they have to fail.
    Tests,
    /// A verification of what others did.
    Verify,
    /// Documentation.
    Doc,
}

/// A file that a task names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// Its path, as the plan writes it.
    pub path: String,
    /// What happens to it.
    pub action: FileAction,
    /// The lines that are meant, as the plan writes them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<String>,
    /// The plan names it without saying that it is changed.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
}

impl FileUse {
    /// A file without lines.
    pub fn new(path: impl Into<String>, action: FileAction) -> Self {
        Self { path: path.into(), action, lines: None, is_optional: false }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// It is made.
    Create,
    /// It is changed.
    Modify,
    /// It is a test, made or changed.
    Test,
    /// It is removed.
    Delete,
}

/// What a failed task becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Its changes are taken back after the last attempt, and the run stops.
    Revert,
    /// It is tried another way; then as [`OnFailure::Revert`].
    Retry,
    /// It is left out, and the run goes on.
    Skip,
    /// The run stops at once and waits for a person.
    #[default]
    Escalate,
    /// It stays failed until a person has it tried again; what does not depend on it goes on.
    Hold,
}

impl OnFailure {
    /// Whether the changes of a task that has failed for good, or is left out because of that, are taken back. What
    /// waits for a person stays as it is, for them to see.
    pub fn reverts_changes(self) -> bool {
        match self {
            Self::Revert | Self::Retry | Self::Skip => true,
            Self::Escalate | Self::Hold => false,
        }
    }
}

/// How a task's changes are committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCommit {
    /// The message.
    pub message: String,
}

/// How hard a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskComplexity {
    /// Easy.
    Simple,
    /// As most are.
    #[default]
    Standard,
    /// Hard.
    Complex,
}

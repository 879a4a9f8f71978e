//! Tasks: the unit of work of one worker, with its proof.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;
use crate::proof::ProofSource;

/// A task or a step: the work of one worker in one go, with its proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Id, valid by [`crate::id::is_id`].
    pub id: String,
    /// Title of the task.
    pub title: String,
    /// First and last line in the file, from 1.
    pub lines: [usize; 2],
    /// SHA-256 of the text with the task open, in hexadecimal digits.
    pub body_sha256: String,
    /// Text of the file, heading included.
    pub body: String,
    /// Kind of work.
    pub kind: TaskKind,
    /// Id of the other half of a pair of tests and their implementation.
    pub pair: Option<String>,
    /// Ids of tasks that have to pass before: named ones, and those from the plan's order.
    pub deps: Vec<String>,
    /// The named ones of [`Task::deps`]. `None` for a task without a statement, unlike an empty list.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stated_deps: Option<Vec<String>>,
    /// Title of the phase, story or parent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<String>,
    /// State in the plan.
    #[serde(default)]
    pub state: PlannedState,
    /// `true` for a task that the plan calls optional.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
    /// Priority in the plan's word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<String>,
    /// Changed files.
    pub files: Vec<FileUse>,
    /// Patterns of files that must not change.
    pub never_touch: Vec<String>,
    /// Checks that prove the task, in order.
    pub checks: Vec<TaskCheck>,
    /// Proof of a task without checks: see [`crate::proof`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// Check that has to fail without the work: a test that is written first.
    pub red_check: Option<TaskCheck>,
    /// Consequence of a failure.
    pub on_failure: OnFailure,
    /// Another way for a retry.
    pub alternative: Option<String>,
    /// Maximum attempts.
    pub max_attempts: u32,
    /// Commit of the task's changes, if any.
    pub commit: Option<TaskCommit>,
    /// `true` for a stop behind the task.
    pub stop_after: bool,
    /// Criteria that no command can judge.
    pub criteria: Vec<String>,
    /// Difficulty of the task.
    pub complexity: TaskComplexity,
    /// Model for the worker.
    pub model: Option<String>,
    /// Task Contract, if any.
    pub contract: Option<String>,
    /// Values of labels that no rule reads.
    pub extra: BTreeMap<String, String>,
}

impl Task {
    /// `true` for the verification of other tasks.
    pub fn is_verification(&self) -> bool {
        self.kind == TaskKind::Verify
    }

    /// A task with only an id and a title.
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

    /// The task with this text, at these lines of the file.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>, lines: [usize; 2]) -> Self {
        let body = body.into();
        Self {
            body_sha256: sha256_hex(body.as_bytes()),
            body,
            lines,
            ..self
        }
    }

    /// The checks that prove the task after the work, in order. Tests are proved by their failure, as long as their
    /// subject does not exist; anywhere else that failure is looked for in a copy without the work, and cannot be there
    /// any more after it.
    pub fn proving_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        let red = self
            .red_check
            .iter()
            .filter(|_| self.kind == TaskKind::Tests);
        red.chain(&self.checks)
    }

    /// Every command of the task, in the order in which `TaskState::already_green` of a run counts them: the
    /// `red_check`, then its checks.
    pub fn all_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        self.red_check.iter().chain(&self.checks)
    }
}

/// State of a task in its plan, before any run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedState {
    /// Still to do.
    #[default]
    Open,
    /// Checked off.
    Done,
    /// Not to be done now, or at all. Dependents go on without the task.
    LeftOut,
}

impl PlannedState {
    /// `Done` for a ticked task, else `Open`.
    pub(crate) fn checked_off(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::Open }
    }
}

/// Kind of a task's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// An implementation.
    #[default]
    Impl,
    /// Tests of a missing implementation: they have to fail.
    Tests,
    /// A verification of other tasks.
    Verify,
    /// Documentation.
    Doc,
}

/// A file that a task names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// Path as written in the plan.
    pub path: String,
    /// Action on the file.
    pub action: FileAction,
    /// Lines as written in the plan.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<String>,
    /// `true` for a file that is named, but not said to change.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
}

impl FileUse {
    /// A file without lines.
    pub fn new(path: impl Into<String>, action: FileAction) -> Self {
        Self {
            path: path.into(),
            action,
            lines: None,
            is_optional: false,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Action on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// New file.
    Create,
    /// Changed file.
    Modify,
    /// New or changed test.
    Test,
    /// Removed file.
    Delete,
}

/// Consequence of a task's failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Changes of the task are taken back after the last attempt, and the run stops.
    Revert,
    /// Another way, then [`OnFailure::Revert`].
    Retry,
    /// The task is left out, and the run goes on.
    Skip,
    /// The run stops at once and waits for a person.
    #[default]
    Escalate,
    /// The task stays failed until a person retries it; tasks that do not depend on it go on.
    Hold,
}

impl OnFailure {
    /// `true` where the changes of a task that failed for good are taken back. Work that waits for a person stays, for
    /// them to see.
    pub fn reverts_changes(self) -> bool {
        match self {
            Self::Revert | Self::Retry | Self::Skip => true,
            Self::Escalate | Self::Hold => false,
        }
    }
}

/// Commit of a task's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCommit {
    /// Commit message.
    pub message: String,
}

/// Difficulty of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskComplexity {
    /// Easy.
    Simple,
    /// Like most tasks.
    #[default]
    Standard,
    /// Hard.
    Complex,
}

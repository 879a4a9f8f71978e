//! `Task` of a plan: work for one worker, with the checks that prove it.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;
use crate::proof::ProofSource;

/// Task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Id, valid by [`crate::id::is_id`].
    pub id: String,
    pub title: String,
    /// First and last line in the file, from 1.
    pub lines: [usize; 2],
    /// SHA-256 of the text with the task open, in hexadecimal digits.
    pub body_sha256: String,
    pub body: String,
    pub kind: TaskKind,
    /// Id of the other half of tests and their implementation.
    pub pair: Option<String>,
    /// Ids of tasks that have to pass before, by name or by the plan's order.
    pub deps: Vec<String>,
    /// Stated ids of [`Task::deps`]; `None` without a statement, unlike an empty list.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stated_deps: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<String>,
    /// State in the plan, before any run.
    #[serde(default)]
    pub state: PlannedState,
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<String>,
    pub files: Vec<FileUse>,
    pub never_touch: Vec<String>,
    pub checks: Vec<TaskCheck>,
    /// Kind of proof without checks: see [`crate::proof`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// Check that fails without the work, such as a test that is written first.
    pub red_check: Option<TaskCheck>,
    pub on_failure: OnFailure,
    pub alternative: Option<String>,
    pub max_attempts: u32,
    pub commit: Option<TaskCommit>,
    pub stop_after: bool,
    /// Criteria that no command can judge.
    pub criteria: Vec<String>,
    pub complexity: TaskComplexity,
    pub model: Option<String>,
    pub contract: Option<String>,
    pub extra: BTreeMap<String, String>,
}

impl Task {
    pub fn is_verification(&self) -> bool {
        self.kind == TaskKind::Verify
    }

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

    /// Checks that prove the task after the work, in order. Tests are proved by failing as long as
    /// their subject is missing; elsewhere `red_check` fails only in a copy without the work.
    pub fn proving_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        let red = self
            .red_check
            .iter()
            .filter(|_| self.kind == TaskKind::Tests);
        red.chain(&self.checks)
    }

    /// `red_check`, then `checks`: the order in which a run's `TaskState::already_green` counts.
    pub fn all_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        self.red_check.iter().chain(&self.checks)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedState {
    #[default]
    Open,
    Done,
    /// Task that is not to be done; dependents go on without it.
    LeftOut,
}

impl PlannedState {
    pub(crate) fn checked_off(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::Open }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    #[default]
    Impl,
    /// Tests of a missing implementation, which have to fail.
    Tests,
    Verify,
    Doc,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    pub path: String,
    pub action: FileAction,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<String>,
    /// `true` for a named file that need not change.
    #[serde(skip_serializing_if = "is_false", default)]
    pub is_optional: bool,
}

impl FileUse {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    Create,
    Modify,
    Test,
    Delete,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Undoes changes after the last attempt, and stops the run.
    Revert,
    /// Tries another way, then [`OnFailure::Revert`].
    Retry,
    Skip,
    /// Stops the run at once, to wait for a person.
    #[default]
    Escalate,
    /// Keeps the task failed until a person retries it; tasks that do not depend on it go on.
    Hold,
}

impl OnFailure {
    /// `true` where changes are undone after a final failure. Work that waits for a person stays.
    pub fn reverts_changes(self) -> bool {
        match self {
            Self::Revert | Self::Retry | Self::Skip => true,
            Self::Escalate | Self::Hold => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCommit {
    pub message: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskComplexity {
    Simple,
    #[default]
    Standard,
    Complex,
}

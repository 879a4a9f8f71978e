//! The one model that every dialect of plans is read into.
//!
//! Everything that a run needs is in it, as plain data that goes into the ledger whole: a plan that
//! is edited or deleted afterwards changes nothing about a run that has begun.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::CommandConcern;
use crate::diagnostic::{Diagnostic, has_errors};
use crate::digest::sha256_hex;
use crate::proof::ProofSource;

/// The version of this model, in what is written down.
pub const PLAN_SCHEMA: u32 = 1;
/// A larger plan is refused.
pub const MAX_PLAN_BYTES: u64 = 16 * 1024 * 1024;
/// A plan with more tasks is shown and cannot be run.
pub const MAX_PLAN_TASKS: usize = 10_000;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: u32,
    /// How it is written.
    pub dialect: Dialect,
    /// The file that it was read from.
    pub source: PlanSource,
    /// Its title.
    pub title: String,
    /// What it is for, where it says so.
    pub goal: String,
    /// What a person has to have decided before anything runs.
    pub preconditions: Vec<Precondition>,
    /// Its tasks or steps, in the order in which they are run.
    pub tasks: Vec<Task>,
    /// Its batches or sessions, in their order. Every task of a plan that can be run is in exactly one.
    pub groups: Vec<TaskGroup>,
    /// What is run once all tasks are done.
    pub final_checks: Vec<TaskCheck>,
    /// Checks that stand behind tasks and judge all of the group up to there, each with the task that it stands behind.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checkpoints: Vec<Checkpoint>,
    /// Commands that the plan names as checks and that are not run, each with why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused_checks: Vec<RefusedCheck>,
    /// The plans that have to be done before this one, as it names them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requires_plans: Vec<String>,
    /// How a run of it goes.
    pub policy: RunPolicy,
    /// What was found in it.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a plan is written. What each of them means stands in its file of [`crate::dialects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// `### Task N:` with dependencies and contracts, executed in segments.
    DevWorkflow,
    /// `## Implementation Plan` with `### Step N:`, and sessions in waves.
    Ultraplan,
    /// One session of an ultraplan, with its own entry and exit conditions.
    SessionSpec,
    /// A folder of task files with waves and a verifier.
    TasksJson,
    /// `### Task N:` with steps that are checkboxes.
    Superpowers,
    /// `- [ ] T001 [P] [US1] …` in phases.
    SpecKit,
    /// `- [ ] 1.1 …` below `## 1. …`, with a proposal beside it.
    #[serde(rename = "openspec")]
    OpenSpec,
    /// `- [ ] 1. …` with `- [ ] 1.1 …` below it, and `_Requirements: …_`.
    Kiro,
    /// `tasks.json` with tags and subtasks.
    TaskMaster,
    /// `<task>` elements below `<tasks>`.
    Gsd,
}

/// The file that a plan was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSource {
    /// Its path, as it was given.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// The SHA-256 of its text with every task open; `None` where its dialect keeps no state in its files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256_without_state: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
}

impl PlanSource {
    /// A file without state of its own, by its path, its digest and its bytes.
    pub fn new(path: impl Into<String>, sha256: impl Into<String>, bytes: u64) -> Self {
        Self { path: path.into(), sha256: sha256.into(), sha256_without_state: None, bytes }
    }
}

/// What a person has to have decided before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Precondition {
    /// The plan itself was verified.
    Verification {
        /// Its section says so.
        approved: bool,
    },
    /// A decision of the plan.
    Decision(PlanDecision),
    /// What has to hold before the first step.
    EntryCondition {
        /// In the plan's words.
        text: String,
        /// The commands that show it.
        checks: Vec<TaskCheck>,
    },
}

/// A decision that a plan leaves to its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDecision {
    /// What the plan calls it, such as `DP-001`.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// It is asked about by itself. Those that are not are asked about together.
    pub blocking: bool,
    /// What a person chooses from.
    pub options: Vec<DecisionOption>,
    /// The label of the option that the plan recommends.
    pub recommended: Option<String>,
    /// The label of the option that was chosen, where one was.
    pub chosen: Option<String>,
    /// The bytes of the file that `**Chosen:** Option X` takes the place of: the label of the
    /// recommendation and what stands behind it on its line.
    pub choice_range: Option<std::ops::Range<usize>>,
}

impl PlanDecision {
    /// Whether another reading of the plan asks the same, whatever was chosen in either.
    pub fn is_same_question(&self, other: &Self) -> bool {
        let question = |of: &Self| (of.id.clone(), of.title.clone(), of.blocking, of.options.clone());
        question(self) == question(other)
    }
}

/// One option of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// Its label, such as `A`.
    pub label: String,
    /// What it means, on one line.
    pub text: String,
}

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
    /// What has to fail before the work begins.
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
    /// as long as what they test is not there; anywhere else that failure is looked for before the work
    /// begins, and cannot be there any more when it is done.
    pub fn proving_checks(&self) -> impl Iterator<Item = &TaskCheck> {
        let red = self.red_check.iter().filter(|_| self.kind == TaskKind::Tests);
        red.chain(&self.checks)
    }

    /// Every command of it, in the order in which `TaskState::already_green` of a run counts them: what has to
    /// fail before the work begins, then its checks.
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

/// A batch or a session: tasks that are worked on in one place, one stretch at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGroup {
    /// What it is called.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its tasks, in their order.
    pub tasks: Vec<String>,
    /// The wave or segment that it belongs to, from 0. A stage opens when all groups of the one
    /// before have ended.
    pub wave: usize,
    /// Groups that have to have ended before.
    pub deps: Vec<String>,
    /// Patterns of what it may change; empty for anything.
    pub may_touch: Vec<String>,
    /// Patterns of what it must not change.
    pub never_touch: Vec<String>,
    /// Where it is worked on.
    pub isolation: GroupIsolation,
    /// A person is asked before anything behind it is begun.
    pub hard_stop: bool,
}

/// Where a group is worked on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupIsolation {
    /// In the user's own work tree.
    #[default]
    Shared,
    /// In one of its own.
    Worktree,
}

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

/// A check that stands behind a task and judges the group up to there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The id of the task that it stands behind.
    pub task: String,
    /// The check.
    pub check: TaskCheck,
}

/// A command that a plan names as a check, and that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCheck {
    /// Of which task; `None` for those of the whole plan.
    pub task: Option<String>,
    /// The command, as the plan has it.
    pub command: String,
    /// Why it is not run.
    pub concern: CommandConcern,
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
        }
    }
}

impl Plan {
    /// A plan of this file without anything in it.
    pub fn new(dialect: Dialect, source: PlanSource) -> Self {
        Self {
            schema: PLAN_SCHEMA,
            dialect,
            source,
            title: String::new(),
            goal: String::new(),
            preconditions: Vec::new(),
            tasks: Vec::new(),
            groups: Vec::new(),
            final_checks: Vec::new(),
            checkpoints: Vec::new(),
            refused_checks: Vec::new(),
            requires_plans: Vec::new(),
            policy: RunPolicy::default(),
            diagnostics: Vec::new(),
        }
    }

    /// Whether a run of it may be opened.
    pub fn can_run(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    /// The task of this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The task that verifies all others, where there is one.
    pub fn verification_task(&self) -> Option<&Task> {
        self.tasks.iter().rev().find(|task| task.kind == TaskKind::Verify)
    }

    /// The group that a task belongs to, and its place among the groups.
    pub fn group_of(&self, task: &str) -> Option<(usize, &TaskGroup)> {
        self.groups.iter().enumerate().find(|(_, group)| group.tasks.iter().any(|id| id == task))
    }

    /// Every command that a run of it executes, with the task that it belongs to, in the order of the
    /// plan: what a user approves.
    pub fn labeled_checks(&self) -> impl Iterator<Item = (&str, &TaskCheck)> {
        let of_units = self.tasks.iter().flat_map(|task| task.all_checks().map(|check| (task.id.as_str(), check)));
        let entry = self.preconditions.iter().flat_map(|precondition| match precondition {
            Precondition::EntryCondition { checks, .. } => checks.as_slice(),
            Precondition::Verification { .. } | Precondition::Decision(_) => &[],
        });
        entry
            .map(|check| ("entry", check))
            .chain(of_units)
            .chain(self.final_checks.iter().map(|check| ("final", check)))
    }
}

//! The one model that every dialect of plans is read into.
//!
//! A [`Plan`] holds everything that a run needs, as plain data that goes into the ledger whole: a plan that is edited
//! or deleted afterwards changes nothing about a run that has begun.

mod policy;
mod task;

use std::path::Path;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::CommandConcern;
use crate::diagnostic::{Diagnostic, has_errors};

pub use policy::{OnTaskFail, Parallelism, ReviewTime, RunPolicy};
pub use task::{
    FileAction, FileUse, OnFailure, PlannedState, Task, TaskCommit, TaskComplexity, TaskKind,
};

/// Version of the written model.
pub const PLAN_SCHEMA: u32 = 1;
/// Maximum bytes of a plan file.
pub const MAX_PLAN_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum tasks of a plan that can be run; a larger one is only shown.
pub const MAX_PLAN_TASKS: usize = 10_000;

/// A plan of any dialect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Version: [`PLAN_SCHEMA`].
    pub schema: u32,
    /// Dialect of the file.
    pub dialect: Dialect,
    /// File that the plan was read from.
    pub source: PlanSource,
    /// Title of the plan.
    pub title: String,
    /// Goal; empty where the plan states none.
    pub goal: String,
    /// Decisions of a person before anything runs.
    pub preconditions: Vec<Precondition>,
    /// Tasks or steps, in the order of a run.
    pub tasks: Vec<Task>,
    /// Batches or sessions, in order. Every task of a plan that can be run is in exactly one.
    pub groups: Vec<TaskGroup>,
    /// Checks behind all tasks.
    pub final_checks: Vec<TaskCheck>,
    /// Checks of a group up to a task, each with that task.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checkpoints: Vec<Checkpoint>,
    /// Named checks that are not run, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused_checks: Vec<RefusedCheck>,
    /// Names of the plans that have to be done before.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requires_plans: Vec<String>,
    /// Policy of a run.
    pub policy: RunPolicy,
    /// Findings about the plan.
    pub diagnostics: Vec<Diagnostic>,
}

/// Format of a plan; each is described in its file of [`crate::dialects`].
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
    /// `- [ ] 1. …` below `## TODOs`, as oh-my-opencode plans.
    Sisyphus,
    /// `- [ ] Task: …` in phases.
    Conductor,
    /// `- [ ] Task 1: …` below `## Tasks / Subtasks` of a story.
    Bmad,
    /// `- [ ] 1.1 …` in task groups.
    AgentOs,
    /// A file for each task, with its status in the front matter.
    Backlog,
    /// `prd.json` with user stories that pass or do not.
    Ralph,
}

/// The file that a plan was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSource {
    /// Path as given.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// The SHA-256 of its text with every task open; `None` where its dialect keeps no state in its files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256_without_state: Option<String>,
    /// Number of bytes.
    pub bytes: u64,
}

impl PlanSource {
    /// A file without state of its own, by its path, its digest and its bytes.
    pub fn new(path: impl Into<String>, sha256: impl Into<String>, bytes: u64) -> Self {
        Self {
            path: path.into(),
            sha256: sha256.into(),
            sha256_without_state: None,
            bytes,
        }
    }
}

/// A decision or condition before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Precondition {
    /// Verification of the plan itself.
    Verification {
        /// `true` where the verification section approves the plan.
        approved: bool,
    },
    /// A decision of the plan.
    Decision(PlanDecision),
    /// Condition before the first step.
    EntryCondition {
        /// Condition in the plan's words.
        text: String,
        /// Commands that show the condition.
        checks: Vec<TaskCheck>,
    },
}

/// A decision that a plan leaves to its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDecision {
    /// Name in the plan, such as `DP-001`.
    pub id: String,
    /// Subject of the decision.
    pub title: String,
    /// `true` for a question of its own; the others are asked together.
    pub blocking: bool,
    /// Options to choose from.
    pub options: Vec<DecisionOption>,
    /// Label of the recommended option.
    pub recommended: Option<String>,
    /// Label of the chosen option, if any.
    pub chosen: Option<String>,
    /// Bytes of the file that `**Chosen:** Option X` replaces: the label of the recommendation and the rest of its
    /// line.
    pub choice_range: Option<std::ops::Range<usize>>,
}

impl PlanDecision {
    /// `true` for the same question in another reading of the plan, whatever was chosen in either.
    pub fn is_same_question(&self, other: &Self) -> bool {
        let question = |of: &Self| {
            (
                of.id.clone(),
                of.title.clone(),
                of.blocking,
                of.options.clone(),
            )
        };
        question(self) == question(other)
    }
}

/// One option of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// Label, such as `A`.
    pub label: String,
    /// Meaning, on one line.
    pub text: String,
}

/// A batch or a session: tasks that are worked on in one place, one stretch at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGroup {
    /// Id of the group.
    pub id: String,
    /// Title of the group.
    pub title: String,
    /// Ids of the tasks, in order.
    pub tasks: Vec<String>,
    /// Wave or segment, from `0`. A stage opens when all groups of the one before have ended.
    pub wave: usize,
    /// Groups that have to end before.
    pub deps: Vec<String>,
    /// `true` for complete `deps`, by the plan or by the dependencies of its tasks. Another group without `deps` needs
    /// all earlier stages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_all_deps: bool,
    /// Patterns of files that the group may change; empty for anything.
    pub may_touch: Vec<String>,
    /// Patterns of files that the group must not change.
    pub never_touch: Vec<String>,
    /// Place of the work.
    pub isolation: GroupIsolation,
    /// `true` where a person is asked before anything behind the group is begun.
    pub hard_stop: bool,
}

/// Place of the work on a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupIsolation {
    /// The user's own work tree.
    #[default]
    Shared,
    /// A work tree of the group.
    Worktree,
}

/// A check behind a task that judges the group up to there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Id of the task before the check.
    pub task: String,
    /// Check to run.
    pub check: TaskCheck,
}

/// A named check that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCheck {
    /// Id of the task; `None` for the whole plan.
    pub task: Option<String>,
    /// Command as written in the plan.
    pub command: String,
    /// Reason why the command is not run.
    pub concern: CommandConcern,
}

impl Plan {
    /// Id of the task list behind this plan: the name of its folder.
    pub fn task_list_id(&self) -> &str {
        let name = Path::new(&self.source.path)
            .file_name()
            .and_then(|name| name.to_str());
        name.unwrap_or(&self.source.path)
    }

    /// An empty plan of this file.
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

    /// `true` for a plan of which a run may be opened.
    pub fn can_run(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    /// The task of this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The task that verifies all others, where there is one.
    pub fn verification_task(&self) -> Option<&Task> {
        self.tasks.iter().rev().find(|task| task.is_verification())
    }

    /// Tasks that are work, and not its verification.
    pub fn work_tasks(&self) -> impl Iterator<Item = &Task> + Clone {
        self.tasks.iter().filter(|task| !task.is_verification())
    }

    /// The group that a task belongs to, and its place among the groups.
    pub fn group_of(&self, task: &str) -> Option<(usize, &TaskGroup)> {
        self.groups
            .iter()
            .enumerate()
            .find(|(_, group)| group.tasks.iter().any(|id| id == task))
    }

    /// Every command of a run, with the id of its task, in the order of the plan: a user approves this list.
    pub fn labeled_checks(&self) -> impl Iterator<Item = (&str, &TaskCheck)> {
        let of_units = self
            .tasks
            .iter()
            .flat_map(|task| task.all_checks().map(|check| (task.id.as_str(), check)));
        let entry = self
            .preconditions
            .iter()
            .flat_map(|precondition| match precondition {
                Precondition::EntryCondition { checks, .. } => checks.as_slice(),
                Precondition::Verification { .. } | Precondition::Decision(_) => &[],
            });
        entry
            .map(|check| ("entry", check))
            .chain(of_units)
            .chain(self.final_checks.iter().map(|check| ("final", check)))
    }
}

//! [`Plan`]: the model that every dialect is read into. It is plain data, and a run keeps its own
//! copy, so that later edits of the file change nothing.

mod policy;
mod task;

use std::path::Path;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::CommandConcern;
use crate::diagnostic::{Diagnostic, has_errors};

pub use policy::{OnTaskFail, Parallelism, PullRequestOrder, ReviewTime, RunPolicy};
pub use task::{
    FileAction, FileUse, OnFailure, PlannedState, Task, TaskCommit, TaskComplexity, TaskKind,
};

pub const PLAN_SCHEMA: u32 = 1;
pub const MAX_PLAN_BYTES: u64 = 16 * 1024 * 1024;
pub const MAX_PLAN_TASKS: usize = 10_000;

/// Plan of any dialect, with all that a run needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub schema: u32,
    pub dialect: Dialect,
    pub source: PlanSource,
    pub title: String,
    /// Goal; empty if not stated.
    pub goal: String,
    pub preconditions: Vec<Precondition>,
    pub tasks: Vec<Task>,
    /// Batches or sessions in order. Each task of a plan that can be run is in one.
    pub groups: Vec<TaskGroup>,
    pub final_checks: Vec<TaskCheck>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checkpoints: Vec<Checkpoint>,
    /// Checks in the plan that are not run, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused_checks: Vec<RefusedCheck>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requires_plans: Vec<String>,
    pub policy: RunPolicy,
    pub diagnostics: Vec<Diagnostic>,
}

/// Format of a plan, described in its file of [`crate::dialects`].
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSource {
    pub path: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// Digest with every task open; `None` where no state is kept in files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256_without_state: Option<String>,
    pub bytes: u64,
}

impl PlanSource {
    /// Source without state in its file.
    pub fn new(path: impl Into<String>, sha256: impl Into<String>, bytes: u64) -> Self {
        Self {
            path: path.into(),
            sha256: sha256.into(),
            sha256_without_state: None,
            bytes,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Precondition {
    Verification {
        approved: bool,
    },
    Decision(PlanDecision),
    EntryCondition {
        text: String,
        checks: Vec<TaskCheck>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDecision {
    /// Id such as `DP-001`.
    pub id: String,
    pub title: String,
    /// `true` for a decision that is asked by itself, not together with others.
    pub blocking: bool,
    pub options: Vec<DecisionOption>,
    pub recommended: Option<String>,
    pub chosen: Option<String>,
    /// Bytes that `**Chosen:** Option X` replaces: the recommendation's label and the rest of its line.
    pub choice_range: Option<std::ops::Range<usize>>,
}

impl PlanDecision {
    pub fn is_same_question(&self, other: &Self) -> bool {
        self.id == other.id
            && self.title == other.title
            && self.blocking == other.blocking
            && self.options == other.options
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// Label such as `A`.
    pub label: String,
    pub text: String,
}

/// Batch or session: tasks that are worked on in one place, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGroup {
    pub id: String,
    pub title: String,
    pub tasks: Vec<String>,
    /// Number of the wave, from 0; it begins once all groups of the one before have ended.
    pub wave: usize,
    pub deps: Vec<String>,
    /// `true` where `deps` are complete; otherwise a group without `deps` needs all earlier waves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_all_deps: bool,
    /// Patterns of allowed files; empty for any file.
    pub may_touch: Vec<String>,
    pub never_touch: Vec<String>,
    pub isolation: GroupIsolation,
    pub hard_stop: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupIsolation {
    /// The user's own work tree.
    #[default]
    Shared,
    Worktree,
}

/// Check behind a task that judges its group up to there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub task: String,
    pub check: TaskCheck,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCheck {
    /// Id of the task; `None` for the whole plan.
    pub task: Option<String>,
    pub command: String,
    pub concern: CommandConcern,
}

impl Plan {
    pub fn task_list_id(&self) -> &str {
        let name = Path::new(&self.source.path)
            .file_name()
            .and_then(|name| name.to_str());
        name.unwrap_or(&self.source.path)
    }

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

    pub fn can_run(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Task that verifies all others.
    pub fn verification_task(&self) -> Option<&Task> {
        self.tasks.iter().rev().find(|task| task.is_verification())
    }

    /// All tasks but the verification.
    pub fn work_tasks(&self) -> impl Iterator<Item = &Task> + Clone {
        self.tasks.iter().filter(|task| !task.is_verification())
    }

    pub fn group_of(&self, task: &str) -> Option<(usize, &TaskGroup)> {
        self.groups
            .iter()
            .enumerate()
            .find(|(_, group)| group.tasks.iter().any(|id| id == task))
    }

    /// Commands of a run in order, with task ids: the list that a user approves.
    pub fn labeled_checks(&self) -> impl Iterator<Item = (&str, &TaskCheck)> {
        let task_checks = self
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
            .chain(task_checks)
            .chain(self.final_checks.iter().map(|check| ("final", check)))
    }
}

//! The one model that every dialect of plans is read into.
//!
//! Everything that a run needs is in it, as plain data that goes into the ledger whole: a plan that
//! is edited or deleted afterwards changes nothing about a run that has begun.

mod policy;
mod task;

use std::path::Path;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::CommandConcern;
use crate::diagnostic::{Diagnostic, has_errors};

pub use policy::{OnTaskFail, Parallelism, ReviewTime, RunPolicy};
pub use task::{FileAction, FileUse, OnFailure, PlannedState, Task, TaskCommit, TaskComplexity, TaskKind};

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
    /// No other ones than those: its plan says so, or the dependencies of its tasks do. A group that names none and of
    /// which this is not known needs all of the stages before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_all_deps: bool,
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

impl Plan {
    /// The id of the task list that this plan was made of, which is the name of its folder.
    pub fn task_list_id(&self) -> &str {
        let name = Path::new(&self.source.path).file_name().and_then(|name| name.to_str());
        name.unwrap_or(&self.source.path)
    }

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
        self.tasks.iter().rev().find(|task| task.is_verification())
    }

    /// Tasks that are work, and not its verification.
    pub fn work_tasks(&self) -> impl Iterator<Item = &Task> + Clone {
        self.tasks.iter().filter(|task| !task.is_verification())
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

//! `RunState`: the state of a run as plain data, folded from its ledger (`fold`).

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::task_check::TaskCheckOutcome;
use omo_core::timestamp::Timestamp;
use omo_git::commit::CommitRefusal;
use omo_plan::dialects::PlanKind;
use omo_plan::model::{Plan, PlanDecision, PlannedState, Task};
use omo_plan::proof::ProofSource;
use omo_state::git_worktree::WorktreeIdentity;
use serde::{Deserialize, Serialize};

use crate::commit_guard::KnownGuard;
use crate::event::{
    AttemptEnd, EventActor, Evidence, ImportedStatus, MissingCommit, PlanVerdict,
    PullRequestAttempt, Question, RunEvent, RunResult, TaskNote, UnfinishedLine,
};
use crate::execution_mode::ExecutionMode;
use crate::parallel_state::{GroupState, ParallelState};
use crate::request::run_scope::RunScope;

/// Maximum characters kept of a reason by a worker or a person.
pub(crate) const MAX_REASON_CHARS: usize = 300;
/// Lost workers before a task fails: no task may end one session after the other for ever.
pub const MAX_LOST_WORKERS: u32 = 3;
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    pub plan: Plan,
    /// SHA-256 of the plan's file, renewed where omo writes a tick or an answer into it.
    pub plan_sha256: String,
    pub approved: String,
    #[serde(default)]
    pub root: String,
    /// Identity of the work tree at `root`, the same after a move; `None` without `git`, or in an older ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeIdentity>,
    pub base: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
    pub phase: RunPhase,
    pub holder: EventActor,
    pub tasks: BTreeMap<String, TaskState>,
    pub questions: Vec<QuestionState>,
    /// Tasks before passed stops: a stop counts as passed while all of its batch is here, even in an edited plan.
    #[serde(default)]
    pub reviewed_tasks: BTreeSet<String>,
    /// Result of each final check since the last change, by position in the plan, from `0`.
    pub final_checks: BTreeMap<usize, TaskCheckOutcome>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_commits: Vec<MissingCommit>,
    pub changed_files: Vec<(String, Option<String>)>,
    /// References that keep changes of the user which a commit has displaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<String>,
    #[serde(default)]
    pub guard: Option<KnownGuard>,
    #[serde(default)]
    pub changed_check_files: BTreeMap<String, String>,
    #[serde(default)]
    pub ticked: BTreeSet<String>,
    #[serde(default)]
    pub tick_refusal: Option<String>,
    #[serde(default)]
    pub dispatched: Option<DispatchedTasks>,
    /// Number of this round over the tasks, from `1`.
    #[serde(default = "first")]
    pub round: u32,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    #[serde(default)]
    pub notes: Vec<TaskNote>,
    #[serde(default)]
    pub verdicts: Vec<PlanVerdict>,
    #[serde(default)]
    pub closed_findings: BTreeSet<usize>,
    /// The ordered pull request, once it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestAttempt>,
    #[serde(default)]
    pub first_tree: Option<String>,
    /// Lines such as a `TODO` in the present work tree; `None` where not searched for since the last change.
    #[serde(default)]
    pub unfinished: Option<Vec<UnfinishedLine>>,
    #[serde(default)]
    pub parallel: Option<ParallelState>,
    #[serde(default)]
    pub scope: Option<RunScope>,
    pub mode: ExecutionMode,
    #[serde(default)]
    pub is_stopped: bool,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
    pub seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchedTasks {
    pub tasks: Vec<String>,
    pub at: Timestamp,
    /// `true` where each task went to an agent of its own; `false` where one workflow got all.
    #[serde(default)]
    pub to_agents: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum RunPhase {
    Executing,
    Ended { result: RunResult },
    Cancelled { why: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    pub status: TaskStatus,
    /// Begun attempts that count.
    pub attempts: u32,
    /// Attempts before a person or an edited plan last reopened the task: they count against no limit any more.
    #[serde(default)]
    pub attempts_before: u32,
    pub last_end: Option<AttemptEnd>,
    pub running: Option<RunningAttempt>,
    /// Command and outcome of each check of the last attempt, in order.
    #[serde(default)]
    pub checks: Vec<(String, TaskCheckOutcome)>,
    /// Positions of checks that were green before the work; empty where they are run without it afterwards instead.
    #[serde(default)]
    pub already_green: Vec<usize>,
    pub reason: Option<String>,
    /// Status before a review refused the task; restored where that review judges once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_as: Option<TaskStatus>,
    #[serde(default)]
    pub is_stale: bool,
    #[serde(default)]
    pub lost_workers: u32,
    #[serde(default)]
    pub judgment: Option<String>,
    /// The work tree before the first of the attempts that still count.
    #[serde(default)]
    pub baseline: Option<WorktreeBaseline>,
    /// Changes of its attempts have to be taken back before anything else begins in its work tree.
    #[serde(default)]
    pub is_to_restore: bool,
    #[serde(default)]
    pub not_restored: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
    /// Reference that keeps the changes which were taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<String>,
    /// The attempt whose green work `git` did not commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedAttempt>,
    /// Ids of the evidence that the last worker had run; of a claimed task, those that it cites.
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// Proof other than a check of its own, such as a check of its group. It holds only as long as that is green.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// Work tree at the start of the first attempt in this run; set where checks are run without the work as well.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub work_base: Option<WorkBase>,
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
}

impl TaskState {
    pub(crate) fn is_refused_as(&self, refusal: &CommitRefusal) -> bool {
        let last = self.last_end.as_ref().and_then(|end| end.refusal.as_ref());
        last.is_some_and(|last| last.is_repeated_by(refusal))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeBaseline {
    /// Tree of `git`, to compare with.
    pub tree: Option<String>,
    pub snapshot: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkBase {
    pub tree: Option<String>,
    pub since: Timestamp,
}

fn first() -> u32 {
    1
}

/// Status by the ledger; blocked tasks follow from dependencies: see [`RunState::standing`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    #[default]
    Pending,
    Running,
    /// The worker is gone: the task is begun again, and that does not count as an attempt.
    Held,
    Passed,
    /// Done by the word of another program: its dependents may go on, and it is not shown as passed.
    Claimed,
    /// Done, with nothing to prove it.
    Unverified,
    Failed,
    Skipped,
}

impl TaskStatus {
    /// Nothing more happens to the task by itself.
    pub fn is_ended(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::Claimed | Self::Unverified | Self::Failed | Self::Skipped
        )
    }
}

impl From<ImportedStatus> for TaskStatus {
    fn from(status: ImportedStatus) -> Self {
        match status {
            ImportedStatus::Done => Self::Claimed,
            ImportedStatus::Failed => Self::Failed,
            ImportedStatus::Blocked => Self::Skipped,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStanding {
    Is(TaskStatus),
    Blocked { by: String },
}

impl TaskStanding {
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Is(status) => status.is_ended(),
            Self::Blocked { .. } => true,
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Is(TaskStatus::Pending) => "pending",
            Self::Is(TaskStatus::Running) => "running",
            Self::Is(TaskStatus::Held) => "held",
            Self::Is(TaskStatus::Passed) => "passed",
            Self::Is(TaskStatus::Claimed) => "claimed",
            Self::Is(TaskStatus::Unverified) => "unproved",
            Self::Is(TaskStatus::Failed) => "failed",
            Self::Is(TaskStatus::Skipped) => "skipped",
            Self::Blocked { .. } => "blocked",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningAttempt {
    pub by: EventActor,
    /// SHA-256 of its `ticket`.
    pub ticket: String,
    pub since: Timestamp,
    pub tree: Option<String>,
    #[serde(default)]
    pub protected_files: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedAttempt {
    pub attempt: RunningAttempt,
    #[serde(default)]
    pub kept: Option<String>,
    #[serde(default)]
    pub answer: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionState {
    pub question: Question,
    pub opened_at: Timestamp,
    /// The answer; `None` while the question is open.
    pub answer: Option<QuestionAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    pub option: String,
    pub by: EventActor,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerError {
    pub seq: u64,
    pub problem: String,
}

impl LedgerError {
    pub(crate) fn new(event: &RunEvent, problem: &str) -> Self {
        Self {
            seq: event.seq,
            problem: problem.to_owned(),
        }
    }
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {} of the ledger {}", self.seq, self.problem)
    }
}

impl std::error::Error for LedgerError {}

impl RunState {
    pub fn open_findings(&self) -> impl Iterator<Item = (usize, &str)> {
        let findings = self.verdicts.iter().flat_map(|verdict| &verdict.later);
        let numbered = findings
            .enumerate()
            .map(|(place, text)| (place + 1, text.as_str()));
        numbered.filter(|(number, _)| !self.closed_findings.contains(number))
    }

    pub fn group_state(&self, id: &str) -> Option<&GroupState> {
        self.parallel.as_ref()?.groups.get(id)
    }

    pub fn is_task_list(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::TaskList
    }

    pub fn task_list_id(&self) -> &str {
        self.plan.task_list_id()
    }

    /// `true` where nobody works on the run. After a stop in the user's checkout, the running task still ends first.
    pub fn is_over(&self) -> bool {
        self.phase != RunPhase::Executing || self.is_stopped && self.parallel.is_some()
    }

    /// `true` for the run of an ultraplan or a session spec: its tasks are committed and can be restored.
    pub fn is_ultraplan(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::Steps
    }

    pub fn compare_plan(&self, plan: &Plan) -> PlanDifferences {
        let (before, after) = (task_digests(&self.plan), task_digests(plan));
        let ids_where = |tasks: &[Task], keep: &dyn Fn(&str) -> bool| -> Vec<String> {
            tasks
                .iter()
                // A review task is made by omo, and is not in the plan's file.
                .filter(|task| !task.is_verification() || self.is_task_list())
                .map(|task| &task.id)
                .filter(|id| keep(id))
                .cloned()
                .collect()
        };
        let open = self
            .plan
            .tasks
            .iter()
            .filter(|task| task.state != PlannedState::Done);
        let open: BTreeSet<&str> = open.map(|task| task.id.as_str()).collect();
        PlanDifferences {
            changed: ids_where(&plan.tasks, &|id| {
                before
                    .get(id)
                    .is_some_and(|text| after.get(id) != Some(text))
            }),
            added: ids_where(&plan.tasks, &|id| !before.contains_key(id)),
            removed: ids_where(&self.plan.tasks, &|id| !after.contains_key(id)),
            ticked: plan
                .tasks
                .iter()
                .filter(|task| open.contains(task.id.as_str()) && self.is_ticked_by_hand(task))
                .map(|task| task.id.clone())
                .collect(),
        }
    }

    /// `true` where a person ticked the task in its file. A tick by omo or a worker does not count.
    fn is_ticked_by_hand(&self, task: &Task) -> bool {
        task.state == PlannedState::Done
            && !self.ticked.contains(&task.id)
            && self.tasks.get(&task.id).is_some_and(|task| {
                task.attempts == 0
                    && task.lost_workers == 0
                    && task.last_end.is_none()
                    && matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped)
            })
    }

    /// `true` where `plan`, as read from its file, is the run's plan apart from ticks.
    pub fn has_plan(&self, plan: &Plan) -> bool {
        let without_state = &plan.source.sha256_without_state;
        self.plan_sha256 == plan.source.sha256
            || without_state.is_some() && *without_state == self.plan.source.sha256_without_state
    }
}

pub(crate) fn task_digests(plan: &Plan) -> BTreeMap<&str, &str> {
    plan.tasks
        .iter()
        .map(|task| (task.id.as_str(), task.body_sha256.as_str()))
        .collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifferences {
    pub changed: Vec<String>,
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub ticked: Vec<String>,
}

/// Id of the checks of the whole plan, in place of a task's.
pub const FINAL_CHECKS_ID: &str = "final";

/// The label that an answer chooses for a decision; `None` without a choice.
pub fn chosen_label(decision: &PlanDecision, option: &str) -> Option<String> {
    let named = decision
        .options
        .iter()
        .find(|known| known.label == option)
        .map(|known| known.label.clone());
    named.or_else(|| {
        decision
            .recommended
            .clone()
            .filter(|_| option == ANSWER_ACCEPT_ALL)
    })
}

pub const ANSWER_ACCEPT_ALL: &str = "accept-all";
pub const ANSWER_ONE_BY_ONE: &str = "one-by-one";
pub const ANSWER_CONTINUE: &str = "continue";
pub const ANSWER_STOP: &str = "stop";
/// Option to have all tasks done in the user's session, one after the other.
pub const ANSWER_FOREGROUND: &str = "foreground";
pub const ANSWER_SKIP: &str = "skip";
pub const ANSWER_REDO: &str = "redo";
/// Withdraws a question that has become moot. No question offers it.
pub const ANSWER_WITHDRAWN: &str = "withdrawn";

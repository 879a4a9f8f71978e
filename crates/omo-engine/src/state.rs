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
    AttemptEnd, EventActor, Evidence, ImportedStatus, MissingCommit, PlanVerdict, Question,
    RunResult, TaskNote, UnfinishedLine,
};
use crate::execution_mode::ExecutionMode;
use crate::parallel_state::{GroupState, ParallelState};
use crate::request::run_scope::RunScope;

/// Maximum characters kept of a reason by a worker or a person.
pub(crate) const MAX_REASON_CHARS: usize = 300;
/// Lost workers before a task counts as failed: a session that dies at the same task again and again must not be fed to
/// it for ever.
pub const MAX_LOST_WORKERS: u32 = 3;
/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// The plan, as the run knows it.
    pub plan: Plan,
    /// SHA-256 of the plan's file as the run knows it: an answer of a question may have been written into it since it
    /// was read.
    pub plan_sha256: String,
    /// Digest of exactly the commands that its user approved.
    pub approved: String,
    /// Top of the work tree that it changes.
    #[serde(default)]
    pub root: String,
    /// Identity of that work tree, wherever it lies; `None` without `git`, or in an older ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeIdentity>,
    /// The commit that was checked out at its start.
    pub base: Option<String>,
    /// Full name of the branch that was checked out at its start.
    #[serde(default)]
    pub branch: Option<String>,
    /// Phase of the whole run.
    pub phase: RunPhase,
    /// The holder.
    pub holder: EventActor,
    /// Each task of the plan, by id.
    pub tasks: BTreeMap<String, TaskState>,
    /// The questions, in the order of their opening.
    pub questions: Vec<QuestionState>,
    /// Tasks of passed stops: a stop is passed as long as all tasks of its batch are among them, however an edited plan
    /// numbers its batches.
    #[serde(default)]
    pub reviewed_tasks: BTreeSet<String>,
    /// Result of each final check since the last change, by position in the plan, from `0`.
    pub final_checks: BTreeMap<usize, TaskCheckOutcome>,
    /// The commits of passed tasks that a branch of the user's lacked when the run would end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_commits: Vec<MissingCommit>,
    /// Edited files that omo writes for others, with the path of each backup.
    pub changed_files: Vec<(String, Option<String>)>,
    /// The references that keep changes of the user which commits of the run have displaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<String>,
    /// Judges of commits, where they are compared.
    #[serde(default)]
    pub guard: Option<KnownGuard>,
    /// Changed check files of the plan, with the task that was worked on.
    #[serde(default)]
    pub changed_check_files: BTreeMap<String, String>,
    /// The tasks that omo has ticked in the plan's file.
    #[serde(default)]
    pub ticked: BTreeSet<String>,
    /// Reason why nothing more is ticked there.
    #[serde(default)]
    pub tick_refusal: Option<String>,
    /// The last handout.
    #[serde(default)]
    pub dispatched: Option<DispatchedTasks>,
    /// Rounds over its tasks, this one included.
    #[serde(default = "first")]
    pub round: u32,
    /// Commands that were run as evidence, in order.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Notes for the workers of later tasks, oldest first.
    #[serde(default)]
    pub notes: Vec<TaskNote>,
    /// Verdicts on the whole, in order.
    #[serde(default)]
    pub verdicts: Vec<PlanVerdict>,
    /// Numbers of closed deferred findings.
    #[serde(default)]
    pub closed_findings: BTreeSet<usize>,
    /// The work tree at the start of its first worker.
    #[serde(default)]
    pub first_tree: Option<String>,
    /// Added lines that name unfinished work, in the present work tree; `None` where they were not searched for since
    /// the last change.
    #[serde(default)]
    pub unfinished: Option<Vec<UnfinishedLine>>,
    /// State of its parallel workers, where it has any.
    #[serde(default)]
    pub parallel: Option<ParallelState>,
    /// The `RunScope` of an ultraplan.
    #[serde(default)]
    pub scope: Option<RunScope>,
    /// The mode of its tasks.
    pub mode: ExecutionMode,
    /// A person stopped the run at a question: nothing more is begun.
    #[serde(default)]
    pub is_stopped: bool,
    /// Time of the opening.
    pub opened_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// Number of the last event.
    pub seq: u64,
}

/// Tasks that were handed out together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchedTasks {
    /// Ids of the tasks.
    pub tasks: Vec<String>,
    /// Time of the handout.
    pub at: Timestamp,
    /// An agent of the client got each of them; `false` where a workflow got all.
    #[serde(default)]
    pub to_agents: bool,
}

/// The phase of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum RunPhase {
    /// Tasks are worked on, or wait for a question.
    Executing,
    /// The end of the run.
    Ended {
        /// The result.
        result: RunResult,
    },
    /// A cancelled run.
    Cancelled {
        /// Reason.
        why: String,
    },
}

/// The state of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    /// Status of the task.
    pub status: TaskStatus,
    /// Begun attempts that count.
    pub attempts: u32,
    /// Attempts before a person, or an edited plan, last had it done again: they are not held against it any more.
    #[serde(default)]
    pub attempts_before: u32,
    /// End of the last attempt.
    pub last_end: Option<AttemptEnd>,
    /// The running attempt.
    pub running: Option<RunningAttempt>,
    /// `TaskCheckOutcome` of each check of the last attempt, in order, with its command.
    #[serde(default)]
    pub checks: Vec<(String, TaskCheckOutcome)>,
    /// Positions of checks that were green before the work began, among all commands of the task; of a task list's,
    /// before its first attempt. Where checks also run without the work afterwards, they were not run then.
    #[serde(default)]
    pub already_green: Vec<usize>,
    /// Reason why it was left out, held or reopened.
    pub reason: Option<String>,
    /// Status before the verdict of a review that refused it: restored where that review judges once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_as: Option<TaskStatus>,
    /// The text in the plan has changed since it was done.
    #[serde(default)]
    pub is_stale: bool,
    /// Lost workers since it was last reopened.
    #[serde(default)]
    pub lost_workers: u32,
    /// Answer of a person about its failure.
    #[serde(default)]
    pub judgment: Option<String>,
    /// The work tree before the first of the attempts that still count.
    #[serde(default)]
    pub baseline: Option<WorktreeBaseline>,
    /// Changes of its attempts have to be taken back before anything else begins in its work tree.
    #[serde(default)]
    pub is_to_restore: bool,
    /// Changes of its attempts that could not be taken back, each with its reason.
    #[serde(default)]
    pub not_restored: Vec<String>,
    /// Paths outside of the task that changed meanwhile: they were not taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
    /// The reference that keeps the changes taken back last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<String>,
    /// The attempt whose green work `git` did not commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedAttempt>,
    /// Ids of the evidence that its last worker had run; of a claimed task the cited ones.
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// Proof other than a check of its own, such as a check of its group. It holds only as long as that is green.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// State at the start of the first attempt in this run, where the checks are run without the work as well.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub work_base: Option<WorkBase>,
    /// Time of its last event.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
}

impl TaskState {
    pub(crate) fn is_refused_as(&self, refusal: &CommitRefusal) -> bool {
        let last = self.last_end.as_ref().and_then(|end| end.refusal.as_ref());
        last.is_some_and(|last| last.is_repeated_by(refusal))
    }
}

/// The work tree before the first work on a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeBaseline {
    /// Tree of `git`, to compare with.
    pub tree: Option<String>,
    /// Snapshot, to restore.
    pub snapshot: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Start of the first of those attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// The base of comparison for the work on a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkBase {
    /// Tree of `git` at the start.
    pub tree: Option<String>,
    /// Time of the start.
    pub since: Timestamp,
}

fn first() -> u32 {
    1
}

/// Status of a task by the ledger. A blocked task follows from its dependencies, and is not written down: see
/// [`RunState::standing`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun, or to be done again.
    #[default]
    Pending,
    /// A worker is at the task.
    Running,
    /// The worker is gone: the task is begun again, and that does not count as an attempt.
    Held,
    /// The checks were green.
    Passed,
    /// Done by the word of another program: its dependents may go on, and it is not shown as passed.
    Claimed,
    /// Done, with nothing to prove it.
    Unverified,
    /// Failed for good.
    Failed,
    /// Left out.
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

/// Standing of a task, dependencies included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStanding {
    /// Status by the ledger.
    Is(TaskStatus),
    /// A dependency ended other than passed.
    Blocked {
        /// Id of the nearest such task.
        by: String,
    },
}

impl TaskStanding {
    /// Nothing more happens to the task by itself.
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Is(status) => status.is_ended(),
            Self::Blocked { .. } => true,
        }
    }

    /// The word for it, such as `blocked`.
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

/// An attempt that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningAttempt {
    /// The actor that started it.
    pub by: EventActor,
    /// SHA-256 of its `ticket`.
    pub ticket: String,
    /// Time of the start.
    pub since: Timestamp,
    /// Tree of `git` at the start.
    pub tree: Option<String>,
    /// Files that it must not change, with their digests.
    #[serde(default)]
    pub protected_files: Vec<(String, String)>,
}

/// An attempt with green checks whose commit `git` refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedAttempt {
    /// The attempt as it ran.
    pub attempt: RunningAttempt,
    /// The reference that keeps its work.
    #[serde(default)]
    pub kept: Option<String>,
    /// Answer of its user.
    #[serde(default)]
    pub answer: Option<String>,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionState {
    /// The `Question`.
    pub question: Question,
    /// Time of the opening.
    pub opened_at: Timestamp,
    /// The answer; `None` while the question is open.
    pub answer: Option<QuestionAnswer>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// Id of the option.
    pub option: String,
    /// The actor that gave it.
    pub by: EventActor,
    /// Time of the answer.
    pub at: Timestamp,
}

/// A ledger that cannot be: the event, and its fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerError {
    /// Number of the event.
    pub seq: u64,
    /// Fault of the event.
    pub problem: String,
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {} of the ledger {}", self.seq, self.problem)
    }
}

impl std::error::Error for LedgerError {}

impl RunState {
    /// Open deferred findings, each with its number.
    pub fn open_findings(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.verdicts.iter().flat_map(|verdict| &verdict.later);
        let numbered = all
            .enumerate()
            .map(|(place, text)| (place + 1, text.as_str()));
        numbered.filter(|(number, _)| !self.closed_findings.contains(number))
    }

    /// The state of a session in a work tree.
    pub fn group_state(&self, id: &str) -> Option<&GroupState> {
        self.parallel.as_ref()?.groups.get(id)
    }

    /// `true` for the run of a task list.
    pub fn is_task_list(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::TaskList
    }

    /// Id of the run's task list: the name of its folder.
    pub fn task_list_id(&self) -> &str {
        self.plan.task_list_id()
    }

    /// No part of the run is worked on any more. In the user's checkout a task that is under way at a stop ends first.
    pub fn is_over(&self) -> bool {
        self.phase != RunPhase::Executing || self.is_stopped && self.parallel.is_some()
    }

    /// `true` for the run of an ultraplan or a session spec: its tasks are committed and can be restored.
    pub fn is_ultraplan(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::Steps
    }

    /// Differences between the run's plan and another reading of its file: ids of changed, new and removed tasks.
    pub fn compare_plan(&self, plan: &Plan) -> PlanDifferences {
        let (before, after) = (task_digests(&self.plan), task_digests(plan));
        // A review is made from the plan, and is not in the file.
        let is_in_file = |task: &&Task| !task.is_verification() || self.is_task_list();
        let ids_where = |tasks: &[Task], keep: &dyn Fn(&str) -> bool| -> Vec<String> {
            tasks
                .iter()
                .filter(is_in_file)
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
        let is_ticked =
            |task: &&Task| open.contains(task.id.as_str()) && self.is_ticked_by_hand(task);
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
                .filter(is_ticked)
                .map(|task| task.id.clone())
                .collect(),
        }
    }

    /// Another reading of the plan has a task checked off which omo did not tick and which no worker was ever at: a
    /// worker may tick its own, and that proves nothing.
    fn is_ticked_by_hand(&self, task: &Task) -> bool {
        let is_untouched = |known: &TaskState| {
            known.attempts == 0
                && known.lost_workers == 0
                && known.last_end.is_none()
                && matches!(known.status, TaskStatus::Pending | TaskStatus::Skipped)
        };
        task.state == PlannedState::Done
            && !self.ticked.contains(&task.id)
            && self.tasks.get(&task.id).is_some_and(is_untouched)
    }

    /// A reading of the plan's file is the run's plan, whatever is ticked in it.
    pub fn has_plan(&self, plan: &Plan) -> bool {
        let open = |of: &Plan| of.source.sha256_without_state.clone();
        self.plan_sha256 == plan.source.sha256
            || open(plan).is_some_and(|now| open(&self.plan) == Some(now))
    }
}

/// The digest of each task's text, by its id.
pub(crate) fn task_digests(plan: &Plan) -> BTreeMap<&str, &str> {
    plan.tasks
        .iter()
        .map(|task| (task.id.as_str(), task.body_sha256.as_str()))
        .collect()
}

/// Differences between two readings of a plan, in the order of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifferences {
    /// Ids of changed tasks.
    pub changed: Vec<String>,
    /// Ids of new tasks.
    pub added: Vec<String>,
    /// Ids of removed tasks.
    pub removed: Vec<String>,
    /// Ids of tasks that were checked off by hand.
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

/// Takes the recommendation of every decision of the question.
pub const ANSWER_ACCEPT_ALL: &str = "accept-all";
/// Asks about each decision by itself.
pub const ANSWER_ONE_BY_ONE: &str = "one-by-one";
/// Goes on.
pub const ANSWER_CONTINUE: &str = "continue";
/// Ends the run where it stands.
pub const ANSWER_STOP: &str = "stop";
/// Has all of it done in the user's session, one step after the other.
pub const ANSWER_FOREGROUND: &str = "foreground";
/// Leaves out a task.
pub const ANSWER_SKIP: &str = "skip";
/// Has a session, or a task, done again from the present state of the run.
pub const ANSWER_REDO: &str = "redo";
/// Withdraws a question that has become moot. No question offers it.
pub const ANSWER_WITHDRAWN: &str = "withdrawn";

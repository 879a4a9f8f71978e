//! Where a run stands, as plain data: what its ledger folds to (`fold`).

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
    AttemptEnd, EventActor, Evidence, ImportedStatus, MissingCommit, PlanVerdict, Question, RunResult, TaskNote,
    UnfinishedLine,
};
use crate::execution_mode::ExecutionMode;
use crate::parallel_state::{GroupState, ParallelState};
use crate::request::run_scope::RunScope;

/// The longest reason that is kept of what a worker or a person says, in characters.
pub(crate) const MAX_REASON_CHARS: usize = 300;
/// So often a worker may be lost before the task counts as failed: a session that dies at the same
/// task again and again must not be fed to it for ever.
pub const MAX_LOST_WORKERS: u32 = 3;
/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// Its plan, as the run knows it.
    pub plan: Plan,
    /// The SHA-256 of the plan's file as the run knows it: an answer of a question may have been
    /// written into it since it was read.
    pub plan_sha256: String,
    /// The digest of exactly the commands that its user approved.
    pub approved: String,
    /// The top of the work tree that it changes.
    #[serde(default)]
    pub root: String,
    /// The same work tree, wherever it lies; `None` without git, or in an older ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeIdentity>,
    /// The commit that was checked out at its start.
    pub base: Option<String>,
    /// Full name of the branch that was checked out at its start.
    #[serde(default)]
    pub branch: Option<String>,
    /// Where the run as a whole stands.
    pub phase: RunPhase,
    /// Who it belongs to.
    pub holder: EventActor,
    /// Each task of the plan, by id.
    pub tasks: BTreeMap<String, TaskState>,
    /// The questions, in the order in which they were opened.
    pub questions: Vec<QuestionState>,
    /// Units of batches behind which a person said that it goes on: a stop is passed as long as all of
    /// its batch are among them, however an edited plan numbers its batches.
    #[serde(default)]
    pub reviewed_tasks: BTreeSet<String>,
    /// The result of each final check since anything else was done, by its place in the plan, from 0.
    pub final_checks: BTreeMap<usize, TaskCheckOutcome>,
    /// The commits of passed tasks that a branch of the user's lacked when the run would end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_commits: Vec<MissingCommit>,
    /// Files that omo writes for others and that something else had changed, with where that was put.
    pub changed_files: Vec<(String, Option<String>)>,
    /// The references that keep changes of the user which commits of the run have displaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<String>,
    /// What judges commits, where that is compared.
    #[serde(default)]
    pub guard: Option<KnownGuard>,
    /// The files that checks of the plan run and that were changed, with the task that was worked on.
    #[serde(default)]
    pub changed_check_files: BTreeMap<String, String>,
    /// The tasks that omo has ticked in the plan's file.
    #[serde(default)]
    pub ticked: BTreeSet<String>,
    /// Why nothing more is ticked there.
    #[serde(default)]
    pub tick_refusal: Option<String>,
    /// What was handed out last.
    #[serde(default)]
    pub dispatched: Option<DispatchedTasks>,
    /// How often its tasks were gone over, this time included.
    #[serde(default = "first")]
    pub round: u32,
    /// What was run to show something, in its order.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Notes for the workers of later tasks, oldest first.
    #[serde(default)]
    pub notes: Vec<TaskNote>,
    /// What was said about the whole, in its order.
    #[serde(default)]
    pub verdicts: Vec<PlanVerdict>,
    /// The numbers of the deferred findings that were dealt with.
    #[serde(default)]
    pub closed_findings: BTreeSet<usize>,
    /// The work tree as it was when its first worker began.
    #[serde(default)]
    pub first_tree: Option<String>,
    /// The lines that it added and that say that something is not finished, as they are since anything else was done;
    /// `None` where they were not searched for since.
    #[serde(default)]
    pub unfinished: Option<Vec<UnfinishedLine>>,
    /// What is known of its parallel workers, where it has any.
    #[serde(default)]
    pub parallel: Option<ParallelState>,
    /// How much of an ultraplan was asked for, and in which way.
    #[serde(default)]
    pub scope: Option<RunScope>,
    /// How its tasks are handed out.
    pub mode: ExecutionMode,
    /// A person had it stopped at a question: nothing more is begun.
    #[serde(default)]
    pub is_stopped: bool,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When the last event was written.
    pub updated_at: Timestamp,
    /// The number of that event.
    pub seq: u64,
}

/// Units that were handed out together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchedTasks {
    /// Which ones.
    pub tasks: Vec<String>,
    /// When.
    pub at: Timestamp,
    /// Whether an agent of the client got each of them, and not a workflow all of them.
    #[serde(default)]
    pub to_agents: bool,
}

/// Where a run as a whole stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum RunPhase {
    /// Units are worked on, or wait for a question.
    Executing,
    /// It came to its end.
    Ended {
        /// How.
        result: RunResult,
    },
    /// It was ended before its end.
    Cancelled {
        /// Why.
        why: String,
    },
}

/// Where one task stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    /// Where.
    pub status: TaskStatus,
    /// Attempts that were begun and count.
    pub attempts: u32,
    /// Those of them that were over when a person, or an edited plan, last had it done again: they are
    /// not held against it any more.
    #[serde(default)]
    pub attempts_before: u32,
    /// How the last attempt ended, where one has.
    pub last_end: Option<AttemptEnd>,
    /// The attempt that runs.
    pub running: Option<RunningAttempt>,
    /// What came of each check of the last attempt, in the order in which they ran.
    #[serde(default)]
    pub checks: Vec<(String, TaskCheckOutcome)>,
    /// Checks that were green before the work began, by their place among all commands of the task; of a task
    /// session's, before its first attempt. They were not run then where they are run without the work afterwards.
    #[serde(default)]
    pub already_green: Vec<usize>,
    /// Why it was left out, held or reopened.
    pub reason: Option<String>,
    /// Status before the verdict of a review that refused it: what it is again where that review judges once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_as: Option<TaskStatus>,
    /// The plan says something else about it since it was done.
    #[serde(default)]
    pub is_stale: bool,
    /// How often a worker of it was lost since it was last reopened.
    #[serde(default)]
    pub lost_workers: u32,
    /// What a person answered when its failure was put to them.
    #[serde(default)]
    pub judgment: Option<String>,
    /// The work tree as it was before the first of the attempts that still count.
    #[serde(default)]
    pub baseline: Option<WorktreeBaseline>,
    /// What its attempts have left has to be taken back before anything else is begun in its work tree.
    #[serde(default)]
    pub is_to_restore: bool,
    /// What could not be taken back of what its attempts have left, each with why.
    #[serde(default)]
    pub not_restored: Vec<String>,
    /// Paths that changed while it was worked on and are none of its own: they were not taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
    /// The reference that keeps what was taken back last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<String>,
    /// The attempt whose green work git did not commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedAttempt>,
    /// The ids of the evidence that its last worker had run; of a claimed task those that were put forward.
    #[serde(default)]
    pub evidence_ids: Vec<String>,
    /// What proved it, where that was no check of its own. It is proved only as long as that is green.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proved_by: Option<ProofSource>,
    /// What the first attempt in this run began with, where the checks are run without the work as well.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub work_base: Option<WorkBase>,
    /// When the last event about it was written.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
}

impl TaskState {
    /// Whether git refused its last commit with the same complaint.
    pub(crate) fn is_refused_as(&self, refusal: &CommitRefusal) -> bool {
        let last = self.last_end.as_ref().and_then(|end| end.refusal.as_ref());
        last.is_some_and(|last| last.is_repeated_by(refusal))
    }
}

/// A work tree as it was before the first work on a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeBaseline {
    /// What tells what was changed since.
    pub tree: Option<String>,
    /// What it can be put back to.
    pub snapshot: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// When the first of those attempts began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// What the work on a task is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkBase {
    /// The work tree as it was.
    pub tree: Option<String>,
    /// When that was.
    pub since: Timestamp,
}

fn first() -> u32 {
    1
}

/// What the ledger says of a task. That a task is blocked follows from what it depends on, and is not
/// written down: [`RunState::standing`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// No worker has begun, or it has to be done again.
    #[default]
    Pending,
    /// A worker is at it.
    Running,
    /// Its worker is gone: it is begun again, and that does not count as an attempt.
    Held,
    /// Its checks were green.
    Passed,
    /// Something else than omo says that it was done: what depends on it may go on, and it is not shown as
    /// passed.
    Claimed,
    /// It was done, and nothing could prove it.
    Unverified,
    /// It has failed for good.
    Failed,
    /// It was left out.
    Skipped,
}

impl TaskStatus {
    /// Whether nothing more happens to it by itself.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Passed | Self::Claimed | Self::Unverified | Self::Failed | Self::Skipped)
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

/// Where a task stands, what it depends on included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStanding {
    /// As the ledger says.
    Is(TaskStatus),
    /// Something that it depends on ended other than passed: this one.
    Blocked {
        /// The nearest such task.
        by: String,
    },
}

impl TaskStanding {
    /// Whether nothing more happens to it by itself.
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Is(status) => status.is_ended(),
            Self::Blocked { .. } => true,
        }
    }

    /// The word for it.
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
    /// Who started it.
    pub by: EventActor,
    /// The SHA-256 of its ticket.
    pub ticket: String,
    /// When it began.
    pub since: Timestamp,
    /// The work tree as it was.
    pub tree: Option<String>,
    /// The files that it must not change, with their digests.
    #[serde(default)]
    pub protected_files: Vec<(String, String)>,
}

/// An attempt whose checks are green and whose commit git refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedAttempt {
    /// The attempt as it ran.
    pub attempt: RunningAttempt,
    /// The reference that keeps its work.
    #[serde(default)]
    pub kept: Option<String>,
    /// What its user answered.
    #[serde(default)]
    pub answer: Option<String>,
}

/// A question and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionState {
    /// The question.
    pub question: Question,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// What was answered, by whom, and when.
    pub answer: Option<QuestionAnswer>,
}

/// What was answered at a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// Which option.
    pub option: String,
    /// Whose hand it was.
    pub by: EventActor,
    /// When.
    pub at: Timestamp,
}

/// A ledger that cannot be: what is wrong, and at which event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerError {
    /// The number of the event.
    pub seq: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {} of the ledger {}", self.seq, self.problem)
    }
}

impl std::error::Error for LedgerError {}

impl RunState {
    /// Deferred findings that nobody has dealt with, each with its number.
    pub fn open_findings(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.verdicts.iter().flat_map(|verdict| &verdict.later);
        let numbered = all.enumerate().map(|(place, text)| (place + 1, text.as_str()));
        numbered.filter(|(number, _)| !self.closed_findings.contains(number))
    }

    /// What is known of a session in a work tree.
    pub fn group_state(&self, id: &str) -> Option<&GroupState> {
        self.parallel.as_ref()?.groups.get(id)
    }

    /// Whether this is the run of a task list.
    pub fn is_task_list(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::TaskList
    }

    /// The id of the task list that this run is of, which is the name of its folder.
    pub fn task_list_id(&self) -> &str {
        self.plan.task_list_id()
    }

    /// Whether nothing of it is worked on any more. In the user's checkout a task that is under way at a stop ends first.
    pub fn is_over(&self) -> bool {
        self.phase != RunPhase::Executing || self.is_stopped && self.parallel.is_some()
    }

    /// Whether this is the run of an ultraplan or a session spec: its tasks are committed and can be restored.
    pub fn is_ultraplan(&self) -> bool {
        self.plan.dialect.kind() == PlanKind::Steps
    }

    /// What differs between the plan that the run knows and another reading of its file: the ids of the
    /// tasks that say something else, that are new, and that are gone.
    pub fn compare_plan(&self, plan: &Plan) -> PlanDifferences {
        let (before, after) = (task_digests(&self.plan), task_digests(plan));
        // A review is made of what the plan says, and nothing in the file.
        let is_in_file = |task: &&Task| !task.is_verification() || self.is_task_list();
        let ids_where = |tasks: &[Task], keep: &dyn Fn(&str) -> bool| -> Vec<String> {
            tasks.iter().filter(is_in_file).map(|task| &task.id).filter(|id| keep(id)).cloned().collect()
        };
        let open = self.plan.tasks.iter().filter(|task| task.state != PlannedState::Done);
        let open: BTreeSet<&str> = open.map(|task| task.id.as_str()).collect();
        let is_ticked = |task: &&Task| open.contains(task.id.as_str()) && self.is_ticked_by_hand(task);
        PlanDifferences {
            changed: ids_where(&plan.tasks, &|id| before.get(id).is_some_and(|text| after.get(id) != Some(text))),
            added: ids_where(&plan.tasks, &|id| !before.contains_key(id)),
            removed: ids_where(&self.plan.tasks, &|id| !after.contains_key(id)),
            ticked: plan.tasks.iter().filter(is_ticked).map(|task| task.id.clone()).collect(),
        }
    }

    /// Whether another reading of the plan has a task checked off which omo did not tick and which no worker was ever at:
    /// a worker may tick its own, and that proves nothing.
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

    /// Whether a reading of the plan's file is the plan that this run has, whatever is ticked in it.
    pub fn has_plan(&self, plan: &Plan) -> bool {
        let open = |of: &Plan| of.source.sha256_without_state.clone();
        self.plan_sha256 == plan.source.sha256 || open(plan).is_some_and(|now| open(&self.plan) == Some(now))
    }
}

/// The digest of each task's text, by its id.
pub(crate) fn task_digests(plan: &Plan) -> BTreeMap<&str, &str> {
    plan.tasks.iter().map(|task| (task.id.as_str(), task.body_sha256.as_str())).collect()
}

/// What differs between two readings of a plan, in the order of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifferences {
    /// Units that say something else.
    pub changed: Vec<String>,
    /// Units that are new.
    pub added: Vec<String>,
    /// Units that are gone.
    pub removed: Vec<String>,
    /// Units that were checked off by hand.
    pub ticked: Vec<String>,
}

/// Stands in the place of a task for the checks of the whole plan.
pub const FINAL_CHECKS_ID: &str = "final";

/// The label that an answer chooses for a decision; `None` where it chooses none.
pub fn chosen_label(decision: &PlanDecision, option: &str) -> Option<String> {
    let named = decision.options.iter().find(|known| known.label == option).map(|known| known.label.clone());
    named.or_else(|| decision.recommended.clone().filter(|_| option == ANSWER_ACCEPT_ALL))
}

/// Takes the recommendation of every decision that is asked about.
pub const ANSWER_ACCEPT_ALL: &str = "accept-all";
/// Asks about each of them by itself.
pub const ANSWER_ONE_BY_ONE: &str = "one-by-one";
/// Goes on.
pub const ANSWER_CONTINUE: &str = "continue";
/// Ends the run where it stands.
pub const ANSWER_STOP: &str = "stop";
/// Has all of it done where the user is, one step after the other.
pub const ANSWER_FOREGROUND: &str = "foreground";
/// Leaves out a task.
pub const ANSWER_SKIP: &str = "skip";
/// Has a session, or a task, done again, from where the run is by now.
pub const ANSWER_REDO: &str = "redo";
/// Stands in the place of an answer where something else has made the question moot. No question offers it.
pub const ANSWER_WITHDRAWN: &str = "withdrawn";

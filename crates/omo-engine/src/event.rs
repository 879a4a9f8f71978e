//! Events of a run, each one line of its ledger. Every later version can read them: fields are added with a default
//! and never change their meaning.

mod actor;
mod copied_files;
mod evidence;
mod memory_bound;
mod run_ends;
mod run_event;

use omo_core::check::task_check::TaskCheckOutcome;
use omo_core::timestamp::Timestamp;
use omo_plan::model::{Plan, Task};
use omo_plan::proof::ProofSource;
use omo_state::git_worktree::WorktreeIdentity;
use serde::{Deserialize, Serialize};

use crate::client_policy::{ClientCost, ClientPolicy};
use crate::commit_guard::{CommitGuard, JudgeStates};
use crate::execution_mode::ExecutionMode;
use crate::request::run_scope::RunScope;

pub use self::actor::{EventActor, RecordedProcess};
pub use self::copied_files::CopiedFiles;
pub use self::evidence::{ClosedFinding, Evidence, PlanVerdict, TaskNote, UnfinishedLine};
pub use self::memory_bound::MemoryBound;
pub use self::run_ends::{
    AttemptEnd, HookChanges, ImportedStatus, MissingCommit, PullRequestAttempt, RunResult,
};
pub use self::run_event::RunEvent;
pub use crate::question::{Question, QuestionKind, QuestionOption};
pub use omo_remote::peer::WorkerPeer;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    RunOpened {
        plan: Box<Plan>,
        /// Digest of the commands that the user approved.
        approved: String,
        /// Top of the work tree that the run changes.
        #[serde(default)]
        root: String,
        /// Identity of that work tree, also after a move; `None` without `git`, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        worktree: Option<WorktreeIdentity>,
        base: Option<String>,
        /// Full name of the checked-out branch; `None` without one, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        scope: Option<RunScope>,
        /// The `ExecutionMode`; `None` in an older ledger, where the kind of the plan decides.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mode: Option<ExecutionMode>,
        /// `CommitGuard` of the checkout; `None` in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        guard: Option<CommitGuard>,
    },
    /// The folder of the project was renamed, and the run goes on there.
    RunMoved {
        root: String,
        approved: String,
    },
    /// Another session took the run over, or the same one in another process.
    HolderChanged,
    PlanChanged {
        plan: Box<Plan>,
        approved: String,
    },
    QuestionOpened {
        question: Question,
    },
    QuestionAnswered {
        question: String,
        option: String,
        /// SHA-256 of the plan's file with the answer; `None` where the answer was not written into it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
    },
    TasksDispatched {
        /// Ids of the tasks; empty once their workers are given up.
        tasks: Vec<String>,
        /// `true` where each task went to an agent of the client, `false` where all went to one workflow.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        to_agents: bool,
    },
    TaskStarted {
        task: String,
        /// Number of the attempt, from `1`.
        attempt: u32,
        /// SHA-256 of the worker's ticket.
        ticket: String,
        /// Id of the `git` tree before the work.
        tree: Option<String>,
        /// Files that the worker must not change, each as path and digest.
        #[serde(default)]
        protected_files: Vec<(String, String)>,
        /// Positions of checks that were green before the work began: they prove nothing about it.
        #[serde(default)]
        already_green: Vec<usize>,
        /// Snapshot before the first attempt, to which a failed task is reverted where the plan says so.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
        /// Commit before the first attempt; `None` where commits by the worker itself are not examined.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        head: Option<String>,
    },
    CheckRan {
        /// Id of the `Task`; `final` for checks of the whole plan.
        task: String,
        /// Number of the attempt; `0` for checks of the whole plan, which have none.
        attempt: u32,
        /// Position among the checks of the task, or of the plan, from `0`.
        #[serde(default)]
        position: usize,
        command: String,
        outcome: TaskCheckOutcome,
    },
    TaskPassed {
        task: String,
        #[serde(flatten)]
        end: AttemptEnd,
    },
    TaskFailed {
        task: String,
        /// `true` where no attempt follows, unless a person asks for one.
        is_final: bool,
        #[serde(flatten)]
        end: AttemptEnd,
    },
    TaskUnverified {
        task: String,
        #[serde(flatten)]
        end: AttemptEnd,
    },
    TasksProved {
        tasks: Vec<String>,
        by: ProofSource,
    },
    /// A worker reports a task as done, and cites evidence that has yet to be judged.
    TaskClaimed {
        /// Id of the `Task`.
        task: String,
        /// Ids of the cited evidence, such as `e1`.
        evidence_ids: Vec<String>,
        #[serde(flatten)]
        end: AttemptEnd,
    },
    EvidenceRan {
        #[serde(flatten)]
        evidence: Evidence,
    },
    TaskAdded {
        task: Box<Task>,
    },
    NoteLeft(TaskNote),
    VerdictGiven {
        /// The `PlanVerdict`.
        #[serde(flatten)]
        verdict: PlanVerdict,
    },
    FindingClosed(ClosedFinding),
    UnfinishedSearched {
        unfinished: Vec<UnfinishedLine>,
    },
    RoundStarted {
        /// Number of the round, from `1`.
        round: u32,
        reopened: Vec<(String, String)>,
    },
    /// Another program recorded the end of a task before omo knew of the run.
    TaskImported {
        task: String,
        status: ImportedStatus,
        evidence: String,
        #[serde(default)]
        files: Vec<String>,
    },
    TaskRestored {
        task: String,
        /// Paths that could not be put back, each with its reason; ignored files are not covered.
        #[serde(default)]
        not_restored: Vec<String>,
        /// Changed paths outside of the task, which stay as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_alone: Vec<String>,
        /// Reference that keeps the removed changes, such as `refs/omo/keep/r-1/step-2-attempt-3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    TaskSkipped {
        task: String,
        reason: String,
    },
    /// A worker is gone, or its check could not be run: the attempt does not count.
    TaskHeld {
        task: String,
        attempt: u32,
        reason: String,
        /// `true` for a healthy worker, which is not counted as lost.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        is_pause: bool,
    },
    /// `git` refused to commit the green work of an attempt: the user is asked, and the work stays in the work tree.
    TaskCommitRefused {
        task: String,
        /// Reference that keeps the work; `None` where it could not be kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
        /// `AttemptEnd`; its `refusal` has the reason.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    TaskCommitRetried {
        task: String,
    },
    /// The commit of a task displaced changes of the user, or its hooks were ended before they had put them back.
    ChangesDisplaced {
        kept: String,
    },
    TaskReopened {
        task: String,
        reason: String,
    },
    /// Parallel workers begin on the sessions of the plan, each in its own work tree, or continue after a landing.
    ParallelStarted {
        base: String,
        #[serde(flatten)]
        policy: ClientPolicy,
    },
    BudgetSet {
        /// Budget, in millionths of a US dollar.
        micros: u64,
    },
    TimeLimitSet {
        seconds: u32,
    },
    /// A session gets a work tree and a branch. Written before they are made, so that leftovers of a kill are found.
    GroupPrepared {
        group: String,
        worktree: String,
        branch: String,
        base: String,
    },
    /// The commits of a failed session were merged with the result of the run: the session begins again at `tip`.
    GroupUpdated {
        group: String,
        tip: String,
    },
    /// Judges of commits that were unknown so far: those of a new worktree, or those that the user's answer accepts.
    JudgesFound {
        judges: JudgeStates,
    },
    WorkerStarted {
        group: String,
        process: RecordedProcess,
        /// The budget, in millionths of a US dollar; `None` for no bound.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// A worker is handed to a scheduler. Written before the submission, so that leftovers of a kill are found.
    WorkerSubmitted {
        group: String,
        job: String,
        /// Number of this launch for the session, from `1`.
        launch: u32,
        brief: String,
        /// The budget, in millionths of a US dollar.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    SubmissionRefused {
        group: String,
        how: String,
        /// `true` while other workers of the run are at work there: their ends may make room.
        is_full: bool,
    },
    WorkerBegan {
        group: String,
        host: String,
    },
    WorkerRequeued {
        group: String,
    },
    /// The cost in the last report of a worker. Written before its push is fetched, which removes the report.
    WorkerReported {
        group: String,
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// The scheduler could not cancel a job, which may still be at work.
    WorkerNotCancelled {
        group: String,
        job: String,
        reason: String,
    },
    /// A `WorkerPeer` has not answered for some minutes.
    ContactLost {
        peer: WorkerPeer,
        since: Timestamp,
        reason: String,
    },
    ContactRestored {
        peer: WorkerPeer,
    },
    /// A work tree lacks files that are no part of a checkout, such as those of `.worktreeinclude`.
    GroupFilesMissing {
        group: String,
        files: Vec<String>,
        #[serde(default)]
        more: usize,
    },
    WorkerEnded {
        group: String,
        how: String,
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// A usage limit was met: no client is started before its reset.
    LimitReached {
        /// Id of the `TaskGroup` that met it.
        group: String,
        until: Timestamp,
    },
    GroupStuck {
        group: String,
        reason: String,
    },
    GroupEnded {
        group: String,
        tip: String,
        /// Reason of a failure; `None` for success.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failed: Option<String>,
    },
    GroupMerged {
        group: String,
        tip: String,
    },
    /// Checks of the whole plan after the merges of a wave; the next wave begins at `tip`.
    WaveChecked {
        /// Number of the wave, from `0`.
        wave: usize,
        tip: String,
        tree: String,
        /// `TaskCheckOutcome` of each check of the whole, in the order of the plan.
        outcomes: Vec<TaskCheckOutcome>,
        /// Positions of red checks that were green before: the other red ones may need a later wave.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        broken: Vec<usize>,
        /// Sessions that were merged since the `broken` checks were green.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<String>,
    },
    /// Green checks of the last wave serve as final checks, since the tree is the same.
    WaveCheckReused {
        tree: String,
    },
    GroupRefused {
        group: String,
        files: Vec<String>,
    },
    GroupRemoved {
        group: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rescue_ref: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        copied: Option<CopiedFiles>,
        /// Last commit of the session's branch, from which a new attempt goes on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// Kept work of sessions is released, since the user's branch has it.
    KeptWorkReleased {
        groups: Vec<String>,
    },
    WorktreeLeft {
        group: String,
        reason: String,
    },
    UserCommitsMerged {
        with: String,
        tip: String,
    },
    LandingRefused {
        /// Reason, in one sentence without its full stop.
        reason: String,
        files: Vec<String>,
        /// Ways out, each a sentence with its command.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ways_out: Vec<String>,
        /// The `CommitRefusal`, where hooks refused the landing or were changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<omo_git::commit::CommitRefusal>,
    },
    Landed {
        from: String,
        to: String,
        /// Number of unsigned commits from `from` to `to`, though the user's settings ask for signed ones.
        #[serde(default)]
        unsigned: usize,
        /// Other work trees with the branch checked out; the user let it move nevertheless.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        other_checkouts: Vec<String>,
    },
    /// Ticks that omo itself wrote into the plan's file, as opposed to edits by the user.
    PlanTicked {
        ticked: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        opened: Vec<String>,
        /// SHA-256 of the file after the edit; `None` where the file was not as the run knew it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
        /// Commit with the edit; `None` where the file in the work tree was edited.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    PlanNotTicked {
        reason: String,
    },
    /// Commits of passed tasks that a branch of the user lacks, looked up before the run ends.
    CommitsMissing {
        /// The commits; empty where none is missing any more.
        commits: Vec<MissingCommit>,
    },
    /// The one attempt at the requested pull request of a complete run.
    PullRequestTried {
        /// The `PullRequestAttempt`.
        attempt: PullRequestAttempt,
    },
    /// A file that omo writes for other programs was changed by one of them.
    ProjectionChanged {
        file: String,
        backup: Option<String>,
    },
    RunCancelled {
        reason: String,
    },
    WorkersBounded(MemoryBound),
    RunResumed,
    RunEnded {
        result: RunResult,
    },
}

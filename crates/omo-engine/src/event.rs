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
use crate::commit_guard::{CommitGuard, Judges};
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
        /// Digest of exactly the commands that its user approved.
        approved: String,
        /// Top of the work tree that the run changes.
        #[serde(default)]
        root: String,
        /// Identity of that work tree, wherever it lies; `None` without `git`, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        worktree: Option<WorktreeIdentity>,
        base: Option<String>,
        /// Full name of the branch that was checked out; `None` for none, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        scope: Option<RunScope>,
        /// The `ExecutionMode`; in a ledger that does not say, as its dialect was then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mode: Option<ExecutionMode>,
        /// `CommitGuard` of the checkout; `None` in a ledger of a version that compared nothing.
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
        /// SHA-256 of the plan's file after the answer was written into it, where it was.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
    },
    TasksDispatched {
        /// Ids of the tasks; empty where their workers are not counted on any more.
        tasks: Vec<String>,
        /// An agent of the client got each of them; `false` where a workflow got all.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        to_agents: bool,
    },
    TaskStarted {
        task: String,
        /// Number of the attempt, from `1`.
        attempt: u32,
        /// SHA-256 of its `ticket`.
        ticket: String,
        /// Tree of `git` before the work.
        tree: Option<String>,
        /// Digests of files that the worker must not change, as `path` and `digest`.
        #[serde(default)]
        protected_files: Vec<(String, String)>,
        /// Positions of checks that were green before the work began: they prove nothing about it.
        #[serde(default)]
        already_green: Vec<usize>,
        /// Snapshot before the first attempt, to which the work tree goes back where the plan says so.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
        /// Commit that was checked out before the first attempt, where commits of the worker itself are looked at.
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
        /// There is no further attempt, unless a person asks for one.
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
    /// A task was done, and its evidence has to be judged: its worker cites commands that were run.
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
        /// Paths outside of the task that changed meanwhile: they stay as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_alone: Vec<String>,
        /// The reference that keeps the removed changes, such as `refs/omo/keep/r-1/step-2-attempt-3`.
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
        /// The worker was healthy, and is not counted as lost.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        is_pause: bool,
    },
    /// The work of an attempt is green, and `git` did not commit it: its user is asked, and the work stays where it is.
    TaskCommitRefused {
        task: String,
        /// The reference that keeps the work, where it could be kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
        /// `AttemptEnd`; its `refusal` has the reason.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    TaskCommitRetried {
        task: String,
    },
    /// A commit of a task has displaced changes of the user, or was ended before its hooks had put them back.
    ChangesDisplaced {
        kept: String,
    },
    TaskReopened {
        task: String,
        reason: String,
    },
    /// Parallel workers do the sessions of the plan, each in its own work tree, or go on from what has landed.
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
    /// A session is about to get a work tree and a branch, written first: leftovers of a kill are found by it.
    GroupPrepared {
        group: String,
        worktree: String,
        branch: String,
        base: String,
    },
    /// The commits of a failed session were merged with the result of the run: the session begins again from there.
    GroupUpdated {
        group: String,
        tip: String,
    },
    /// Unknown judges of commits: in a new worktree, or as its user lets them stand with an answer.
    JudgesFound {
        judges: Judges,
    },
    WorkerStarted {
        group: String,
        process: RecordedProcess,
        /// The budget, in millionths of a US dollar; `None` for no bound.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// A worker is handed to a scheduler, written first: leftovers of a kill are found by it.
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
        /// Other workers of the run are at work there: room may come once they have ended.
        is_full: bool,
    },
    WorkerBegan {
        group: String,
        host: String,
    },
    WorkerRequeued {
        group: String,
    },
    /// The cost of a worker by its last report, written before its push is fetched, which removes the report.
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
    /// A work tree lacks files that it should have besides a checkout.
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
    /// All of a wave that can be merged is, and the whole was checked before the next wave begins from it.
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
        /// Sessions that were merged since those were green.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<String>,
    },
    /// The whole has the tree that was checked after its last wave, and all was green: no second check.
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
        /// Last commit of its branch, from which a new attempt goes on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// Kept work of sessions is in the user's branch by now, and is released.
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
        /// Refusal by hooks, or for a change of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<omo_git::commit::CommitRefusal>,
    },
    Landed {
        from: String,
        to: String,
        /// Number of unsigned commits in between, though its user's are to be signed.
        #[serde(default)]
        unsigned: usize,
        /// Other work trees that have the branch checked out, whose user let it move all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        other_checkouts: Vec<String>,
    },
    /// omo ticked tasks in the plan's file: its own edit, and none by the user.
    PlanTicked {
        ticked: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        opened: Vec<String>,
        /// SHA-256 of the file after the edit, where it was as the run knew it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
        /// The commit with the edit, where it was made to a commit and to no file.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    PlanNotTicked {
        reason: String,
    },
    /// Commits of passed tasks that a branch of the user's lacks, looked up when the run would end.
    CommitsMissing {
        /// The commits; empty where none is missing any more.
        commits: Vec<MissingCommit>,
    },
    /// The ordered pull request of a complete run, tried once.
    PullRequestTried {
        /// The `PullRequestAttempt`.
        attempt: PullRequestAttempt,
    },
    /// A file that omo writes for others was changed by something else.
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

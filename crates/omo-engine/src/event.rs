//! Events of a run: one event is one line of its ledger.
//!
//! Every later version can read an event: fields are added with a default and never change their meaning.

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
pub use self::run_ends::{AttemptEnd, HookChanges, ImportedStatus, MissingCommit, RunResult};
pub use self::run_event::RunEvent;
pub use crate::question::{Question, QuestionKind, QuestionOption};
pub use omo_remote::peer::WorkerPeer;

/// The kind of an event, with its facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The run began.
    RunOpened {
        /// The plan, whole.
        plan: Box<Plan>,
        /// Digest of exactly the commands that its user approved.
        approved: String,
        /// Top of the work tree that the run changes.
        #[serde(default)]
        root: String,
        /// Identity of that work tree, wherever it lies; `None` without `git`, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        worktree: Option<WorktreeIdentity>,
        /// The commit that was checked out.
        base: Option<String>,
        /// Full name of the branch that was checked out; `None` for none, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        /// The `RunScope` of an ultraplan.
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
        /// Top of the work tree that the run changes.
        root: String,
        /// Digest of the same commands there.
        approved: String,
    },
    /// Another session took the run over, or the same one in another process.
    HolderChanged,
    /// The plan's file was edited, and the run goes on with the edit.
    PlanChanged {
        /// The edited plan.
        plan: Box<Plan>,
        /// Digest of exactly the commands that its user approved.
        approved: String,
    },
    /// A person has to decide.
    QuestionOpened {
        /// The `Question`.
        question: Question,
    },
    /// A person has decided.
    QuestionAnswered {
        /// Id of the question.
        question: String,
        /// Id of the chosen option.
        option: String,
        /// SHA-256 of the plan's file after the answer was written into it, where it was.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
    },
    /// Units were handed out; their workers have not begun yet.
    TasksDispatched {
        /// Ids of the tasks; empty where their workers are not counted on any more.
        tasks: Vec<String>,
        /// An agent of the client got each of them; `false` where a workflow got all.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        to_agents: bool,
    },
    /// A worker began.
    TaskStarted {
        /// Id of the `Task`.
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
    /// A check of a task ran.
    CheckRan {
        /// Id of the `Task`; `final` for checks of the whole plan.
        task: String,
        /// Number of the attempt; `0` for checks of the whole plan, which have none.
        attempt: u32,
        /// Position among the checks of the task, or of the plan, from `0`.
        #[serde(default)]
        position: usize,
        /// The command.
        command: String,
        /// The `TaskCheckOutcome`.
        outcome: TaskCheckOutcome,
    },
    /// A task was proved.
    TaskPassed {
        /// Id of the `Task`.
        task: String,
        /// Further facts.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// An attempt at a task has failed.
    TaskFailed {
        /// Id of the `Task`.
        task: String,
        /// There is no further attempt, unless a person asks for one.
        is_final: bool,
        /// Further facts.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// A task was done, with nothing to prove it.
    TaskUnverified {
        /// Id of the `Task`.
        task: String,
        /// Further facts.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// Tasks without a check of their own were proved by the check of their group.
    TasksProved {
        /// Ids of the tasks.
        tasks: Vec<String>,
        /// The proof.
        by: ProofSource,
    },
    /// A task was done, and its evidence has to be judged: its worker cites commands that were run.
    TaskClaimed {
        /// Id of the `Task`.
        task: String,
        /// Ids of the cited evidence, such as `e1`.
        evidence_ids: Vec<String>,
        /// Further facts.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// A command was run as evidence.
    EvidenceRan {
        /// The command and its outcome.
        #[serde(flatten)]
        evidence: Evidence,
    },
    /// A task that the plan lacked was added.
    TaskAdded {
        /// The task.
        task: Box<Task>,
    },
    /// A note for the workers of later tasks.
    NoteLeft(TaskNote),
    /// The verifier has judged the whole.
    VerdictGiven {
        /// The `PlanVerdict`.
        #[serde(flatten)]
        verdict: PlanVerdict,
    },
    /// A person has dealt with a deferred finding.
    FindingClosed(ClosedFinding),
    /// All lines that the run added were searched, in the present work tree.
    UnfinishedSearched {
        /// Lines that name unfinished work.
        unfinished: Vec<UnfinishedLine>,
    },
    /// A further round over the tasks began.
    RoundStarted {
        /// Number of the round, from `1`.
        round: u32,
        /// Reopened tasks, each with its reason.
        reopened: Vec<(String, String)>,
    },
    /// Another program recorded the end of a task before omo knew of the run.
    TaskImported {
        /// Id of the `Task`.
        task: String,
        /// The end, as that program says.
        status: ImportedStatus,
        /// The evidence, on one line.
        evidence: String,
        /// Files that it claims to have written.
        #[serde(default)]
        files: Vec<String>,
    },
    /// The changes of an attempt were taken back.
    TaskRestored {
        /// Id of the `Task`.
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
    /// A task is left out.
    TaskSkipped {
        /// Id of the `Task`.
        task: String,
        /// Reason.
        reason: String,
    },
    /// A worker is gone, or its check could not be run: the attempt does not count.
    TaskHeld {
        /// Id of the `Task`.
        task: String,
        /// Number of the attempt.
        attempt: u32,
        /// Reason.
        reason: String,
        /// The worker was healthy, and is not counted as lost.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        is_pause: bool,
    },
    /// The work of an attempt is green, and `git` did not commit it: its user is asked, and the work stays where it is.
    TaskCommitRefused {
        /// Id of the `Task`.
        task: String,
        /// The reference that keeps the work, where it could be kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
        /// `AttemptEnd`; its `refusal` has the reason.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// The commit of such an attempt is tried again.
    TaskCommitRetried {
        /// Id of the `Task`.
        task: String,
    },
    /// A commit of a task has displaced changes of the user, or was ended before its hooks had put them back.
    ChangesDisplaced {
        /// The reference that keeps those changes.
        kept: String,
    },
    /// A task that had ended is done again.
    TaskReopened {
        /// Id of the `Task`.
        task: String,
        /// Reason.
        reason: String,
    },
    /// Parallel workers do the sessions of the plan, each in its own work tree, or go on from what has landed.
    ParallelStarted {
        /// The commit that they begin from.
        base: String,
        /// The `ClientPolicy` of the workers.
        #[serde(flatten)]
        policy: ClientPolicy,
    },
    /// A new budget for all clients of the run together, earlier costs included.
    BudgetSet {
        /// Budget, in millionths of a US dollar.
        micros: u64,
    },
    /// A new time limit for clients that start from now on.
    TimeLimitSet {
        /// Limit, in seconds.
        seconds: u32,
    },
    /// A session is about to get a work tree and a branch, written first: leftovers of a kill are found by it.
    GroupPrepared {
        /// Id of the `TaskGroup`.
        group: String,
        /// Folder of the work tree.
        worktree: String,
        /// Name of the branch.
        branch: String,
        /// The commit that it begins from.
        base: String,
    },
    /// The commits of a failed session were merged with the result of the run: the session begins again from there.
    GroupUpdated {
        /// Id of the `TaskGroup`.
        group: String,
        /// The commit that holds both.
        tip: String,
    },
    /// Unknown judges of commits: in a new worktree, or as its user lets them stand with an answer.
    JudgesFound {
        /// State of each judge, by name.
        judges: Judges,
    },
    /// A client works on a session.
    WorkerStarted {
        /// Id of the `TaskGroup`.
        group: String,
        /// The client's process.
        process: RecordedProcess,
        /// The budget, in millionths of a US dollar; `None` for no bound.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// A worker is handed to a scheduler, written first: leftovers of a kill are found by it.
    WorkerSubmitted {
        /// Id of the `TaskGroup`.
        group: String,
        /// Name of the job there.
        job: String,
        /// Number of this launch for the session, from `1`.
        launch: u32,
        /// The commit that holds its brief.
        brief: String,
        /// The budget, in millionths of a US dollar.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// The scheduler refused the job.
    SubmissionRefused {
        /// Id of the `TaskGroup`.
        group: String,
        /// Reason, in words.
        how: String,
        /// Other workers of the run are at work there: room may come once they have ended.
        is_full: bool,
    },
    /// A queued worker has begun.
    WorkerBegan {
        /// Id of the `TaskGroup`.
        group: String,
        /// Host name of its machine, as that calls itself.
        host: String,
    },
    /// The scheduler has requeued a worker.
    WorkerRequeued {
        /// Id of the `TaskGroup`.
        group: String,
    },
    /// The cost of a worker by its last report, written before its push is fetched, which removes the report.
    WorkerReported {
        /// Id of the `TaskGroup`.
        group: String,
        /// The cost.
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// The scheduler could not cancel a job, which may still be at work.
    WorkerNotCancelled {
        /// Id of the `TaskGroup`.
        group: String,
        /// Name of the job there.
        job: String,
        /// Reason.
        reason: String,
    },
    /// A `WorkerPeer` has not answered for some minutes.
    ContactLost {
        /// The silent peer.
        peer: WorkerPeer,
        /// Time of the first failure.
        since: Timestamp,
        /// The answer of the peer, or its error.
        reason: String,
    },
    /// A `WorkerPeer` answers again.
    ContactRestored {
        /// The peer.
        peer: WorkerPeer,
    },
    /// A work tree lacks files that it should have besides a checkout.
    GroupFilesMissing {
        /// Id of the `TaskGroup`.
        group: String,
        /// Paths of the first of them.
        files: Vec<String>,
        /// Number of further files.
        #[serde(default)]
        more: usize,
    },
    /// A client has ended.
    WorkerEnded {
        /// Id of the `TaskGroup`.
        group: String,
        /// The exit, in words.
        how: String,
        /// The cost.
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// A usage limit was met: no client is started before its reset.
    LimitReached {
        /// Id of the `TaskGroup` that met it.
        group: String,
        /// Time of the reset.
        until: Timestamp,
    },
    /// A stuck session: a person is asked.
    GroupStuck {
        /// Id of the `TaskGroup`.
        group: String,
        /// Reason.
        reason: String,
    },
    /// A session has ended, complete or with a reason.
    GroupEnded {
        /// Id of the `TaskGroup`.
        group: String,
        /// Last commit of its branch.
        tip: String,
        /// Reason of a failure; `None` for success.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failed: Option<String>,
    },
    /// A session was merged into the result of the run.
    GroupMerged {
        /// Id of the `TaskGroup`.
        group: String,
        /// Commit of the result.
        tip: String,
    },
    /// All of a wave that can be merged is, and the whole was checked before the next wave begins from it.
    WaveChecked {
        /// Number of the wave, from `0`.
        wave: usize,
        /// The checked commit: the result of the run so far.
        tip: String,
        /// The tree.
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
        /// The tree.
        tree: String,
    },
    /// A session conflicts with the work of others.
    GroupRefused {
        /// Id of the `TaskGroup`.
        group: String,
        /// Conflicting files.
        files: Vec<String>,
    },
    /// A work tree was removed.
    GroupRemoved {
        /// Id of the `TaskGroup`.
        group: String,
        /// The reference that keeps unmerged work, where there was some.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rescue_ref: Option<String>,
        /// Files that no commit can keep.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        copied: Option<CopiedFiles>,
        /// Last commit of its branch, from which a new attempt goes on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// Kept work of sessions is in the user's branch by now, and is released.
    KeptWorkReleased {
        /// Ids of each `TaskGroup`.
        groups: Vec<String>,
    },
    /// A work tree stays in place: removal would lose something.
    WorktreeLeft {
        /// Id of the `TaskGroup`.
        group: String,
        /// Reason, with the folder.
        reason: String,
    },
    /// Commits that the user made meanwhile were merged.
    UserCommitsMerged {
        /// Tip of the user's branch.
        with: String,
        /// Commit of the result.
        tip: String,
    },
    /// The user's branch cannot move to the result: a person is asked.
    LandingRefused {
        /// Reason, in one sentence without its full stop.
        reason: String,
        /// Files in the way.
        files: Vec<String>,
        /// Ways out, each a sentence with its command.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ways_out: Vec<String>,
        /// Refusal by hooks, or for a change of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<omo_git::commit::CommitRefusal>,
    },
    /// The user's branch has moved to the result.
    Landed {
        /// Commit before the move.
        from: String,
        /// Commit after the move.
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
        /// Ids of tasks ticked as done.
        ticked: Vec<String>,
        /// Ids of tasks marked as open again.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        opened: Vec<String>,
        /// SHA-256 of the file after the edit, where it was as the run knew it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
        /// The commit with the edit, where it was made to a commit and to no file.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// The plan's file cannot be ticked, and is left as it is.
    PlanNotTicked {
        /// Reason.
        reason: String,
    },
    /// Commits of passed tasks that a branch of the user's lacks, looked up when the run would end.
    CommitsMissing {
        /// The commits; empty where none is missing any more.
        commits: Vec<MissingCommit>,
    },
    /// A file that omo writes for others was changed by something else.
    ProjectionChanged {
        /// The file.
        file: String,
        /// Backup of the changed file.
        backup: Option<String>,
    },
    /// The run was cancelled.
    RunCancelled {
        /// Reason.
        reason: String,
    },
    /// Free memory bounds the workers.
    WorkersBounded(MemoryBound),
    /// An ended run goes on.
    RunResumed,
    /// The run ended.
    RunEnded {
        /// The `RunResult`.
        result: RunResult,
    },
}

//! What happens in a run: one event is one line of its ledger.
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

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The run began.
    RunOpened {
        /// Its plan, whole.
        plan: Box<Plan>,
        /// The digest of exactly the commands that its user approved.
        approved: String,
        /// The top of the work tree that it changes.
        #[serde(default)]
        root: String,
        /// The same work tree, wherever it lies; `None` without git, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        worktree: Option<WorktreeIdentity>,
        /// The commit that was checked out.
        base: Option<String>,
        /// Full name of the branch that was checked out; `None` for none, or in an older ledger.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        /// How much of an ultraplan was asked for, and in which way.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        scope: Option<RunScope>,
        /// How its tasks are handed out; in a ledger that does not say, as its dialect was then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mode: Option<ExecutionMode>,
        /// `CommitGuard` of the checkout; `None` in a ledger of a version that compared nothing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        guard: Option<CommitGuard>,
    },
    /// The folder of the project was renamed, and the run goes on where it is now.
    RunMoved {
        /// The top of the work tree that it changes.
        root: String,
        /// The digest of the same commands there.
        approved: String,
    },
    /// Another session took the run over, or the same one in another process.
    HolderChanged,
    /// The plan's file was edited, and the run goes on with what it says now.
    PlanChanged {
        /// The plan as it is now.
        plan: Box<Plan>,
        /// The digest of exactly the commands that its user approved.
        approved: String,
    },
    /// A person has to decide something.
    QuestionOpened {
        /// What.
        question: Question,
    },
    /// It was decided.
    QuestionAnswered {
        /// Which question.
        question: String,
        /// Which option of it.
        option: String,
        /// The SHA-256 of the plan's file after the answer was written into it, where it was.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
    },
    /// Units were handed out; their workers have not begun yet.
    TasksDispatched {
        /// Which ones; none where the workers that have them are not counted on any more.
        tasks: Vec<String>,
        /// Whether an agent of the client got each of them, and not a workflow all of them.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        to_agents: bool,
    },
    /// A worker began.
    TaskStarted {
        /// On which task.
        task: String,
        /// Which attempt it is, from 1.
        attempt: u32,
        /// The SHA-256 of its ticket.
        ticket: String,
        /// The work tree as it was.
        tree: Option<String>,
        /// The digests of the files that it must not change, each as `path` and `digest`.
        #[serde(default)]
        protected_files: Vec<(String, String)>,
        /// The places of its checks that were green before the work began: they prove nothing about it.
        #[serde(default)]
        already_green: Vec<usize>,
        /// What the work tree is put back to where the plan says so: kept before its first attempt.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
        /// The commit that was checked out before its first attempt, where what the worker commits itself is looked at.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        head: Option<String>,
    },
    /// A check of a task ran.
    CheckRan {
        /// Of which task; `final` for those of the whole plan.
        task: String,
        /// In which attempt; 0 for those of the whole plan, which have none.
        attempt: u32,
        /// Its place among the checks that prove the task, or the plan, from 0.
        #[serde(default)]
        position: usize,
        /// Its command.
        command: String,
        /// What came of it.
        outcome: TaskCheckOutcome,
    },
    /// A task was proved.
    TaskPassed {
        /// Which one.
        task: String,
        /// What else is known about it.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// An attempt at a task has failed.
    TaskFailed {
        /// Which one.
        task: String,
        /// There is no further attempt, unless a person asks for one.
        is_final: bool,
        /// What else is known about it.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// A task was done, and there was nothing to prove it with.
    TaskUnverified {
        /// Which one.
        task: String,
        /// What else is known about it.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// Tasks that were done without a check of their own were proved by what judges their group.
    TasksProved {
        /// Which ones.
        tasks: Vec<String>,
        /// What has proved them.
        by: ProofSource,
    },
    /// A task was done, and its evidence has to be judged: its worker has put forward commands that were run.
    TaskClaimed {
        /// Which one.
        task: String,
        /// The ids of the evidence that was put forward.
        evidence_ids: Vec<String>,
        /// What else is known about it.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// A command was run to show something.
    EvidenceRan {
        /// What came of it.
        #[serde(flatten)]
        evidence: Evidence,
    },
    /// A task that the plan did not have was added.
    TaskAdded {
        /// The task.
        task: Box<Task>,
    },
    /// A note for the workers of later tasks.
    NoteLeft(TaskNote),
    /// The verifier has judged the whole.
    VerdictGiven {
        /// What was judged.
        #[serde(flatten)]
        verdict: PlanVerdict,
    },
    /// A person has dealt with a deferred finding.
    FindingClosed(ClosedFinding),
    /// All lines that the run added were looked through, as the work tree is now.
    UnfinishedSearched {
        /// Those that say that something is not finished.
        unfinished: Vec<UnfinishedLine>,
    },
    /// The tasks are gone over once more.
    RoundStarted {
        /// Which time it is, from 1.
        round: u32,
        /// The tasks that had ended and are done again, each with why.
        reopened: Vec<(String, String)>,
    },
    /// Another program wrote down how a task ended, before omo knew of the run.
    TaskImported {
        /// Which one.
        task: String,
        /// How it ended, as that program says.
        status: ImportedStatus,
        /// What that program says about it, on one line.
        evidence: String,
        /// The files that it says were written.
        #[serde(default)]
        files: Vec<String>,
    },
    /// What an attempt at a task has left was taken back.
    TaskRestored {
        /// Which task.
        task: String,
        /// What could not be put back, each with why; what git ignores is not covered.
        #[serde(default)]
        not_restored: Vec<String>,
        /// Paths that changed meanwhile, and are none of the task's: they stay as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_alone: Vec<String>,
        /// The reference that keeps what was taken back, such as `refs/omo/keep/r-1/step-2-attempt-3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    /// A task is left out.
    TaskSkipped {
        /// Which one.
        task: String,
        /// Why.
        reason: String,
    },
    /// A worker is gone, or its check could not be run: the attempt does not count.
    TaskHeld {
        /// Which task.
        task: String,
        /// Which attempt.
        attempt: u32,
        /// Why.
        reason: String,
        /// Nothing was wrong with its worker, which is not counted as lost.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        is_pause: bool,
    },
    /// The work of an attempt is green, and git did not commit it: its user is asked, and the work stays where it is.
    TaskCommitRefused {
        /// Id of the task.
        task: String,
        /// The reference that keeps the work, where it could be kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<String>,
        /// Result of the attempt; `refusal` has the reason.
        #[serde(flatten)]
        end: AttemptEnd,
    },
    /// The commit of such an attempt is tried again.
    TaskCommitRetried {
        /// Id of the task.
        task: String,
    },
    /// A commit of a task has displaced changes of the user, or was ended before its hooks had put them back.
    ChangesDisplaced {
        /// The reference that keeps them.
        kept: String,
    },
    /// A task that had ended is done again.
    TaskReopened {
        /// Which one.
        task: String,
        /// Why.
        reason: String,
    },
    /// Parallel workers do the sessions of the plan, each in its own work tree, or go on with what has landed.
    ParallelStarted {
        /// The commit that they begin from.
        base: String,
        /// What they are started with.
        #[serde(flatten)]
        policy: ClientPolicy,
    },
    /// All clients of the run together may cost so much from now on, what they have cost so far included.
    BudgetSet {
        /// In millionths of a US dollar.
        micros: u64,
    },
    /// Each client that is started from now on may run for so long.
    TimeLimitSet {
        /// In seconds.
        seconds: u32,
    },
    /// A session is about to get a work tree and a branch, written down first: what a kill leaves is found by it.
    GroupPrepared {
        /// Which session.
        group: String,
        /// The work tree.
        worktree: String,
        /// The branch.
        branch: String,
        /// The commit that it begins from.
        base: String,
    },
    /// What a failed session has is brought together with what the run has come to since: it begins again from there.
    GroupUpdated {
        /// Which session.
        group: String,
        /// The commit that holds both.
        tip: String,
    },
    /// What judges commits and was not known: in a new worktree, or as its user lets it stand with an answer.
    JudgesFound {
        /// The state of each, by name.
        judges: Judges,
    },
    /// A client works on a session.
    WorkerStarted {
        /// Which session.
        group: String,
        /// The client's process.
        process: RecordedProcess,
        /// What it may spend, in millionths of a US dollar; without one nothing bounds it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// A worker is handed to an engine, written down first: what a kill leaves is found by it.
    WorkerSubmitted {
        /// Which session.
        group: String,
        /// What the worker is called there.
        job: String,
        /// So many times a worker was handed over for the session, this one included.
        launch: u32,
        /// The commit that holds its brief.
        brief: String,
        /// What it may spend, in millionths of a US dollar.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        budget_micros: Option<u64>,
    },
    /// The engine did not take it.
    SubmissionRefused {
        /// Which session.
        group: String,
        /// Why, in words.
        how: String,
        /// Other workers of the run are at work there, so that there may be room once they have ended.
        is_full: bool,
    },
    /// A worker has begun that waited in the queue of its engine.
    WorkerBegan {
        /// Which session.
        group: String,
        /// The machine that it runs on, as that calls itself.
        host: String,
    },
    /// The engine has put a worker back into its queue.
    WorkerRequeued {
        /// Which session.
        group: String,
    },
    /// What a worker has cost, by its last report. Written down before what it pushed is fetched, which removes the report.
    WorkerReported {
        /// Which session.
        group: String,
        /// What it has cost.
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// The engine could not be made to end a worker that may still be at work there.
    WorkerNotCancelled {
        /// Which session.
        group: String,
        /// What the worker is called there.
        job: String,
        /// Why.
        reason: String,
    },
    /// What the run asks about its workers has not answered for some minutes.
    ContactLost {
        /// Which of the two.
        peer: WorkerPeer,
        /// Since when.
        since: Timestamp,
        /// What was said instead of an answer.
        reason: String,
    },
    /// It answers again.
    ContactRestored {
        /// Which of the two.
        peer: WorkerPeer,
    },
    /// Something that a work tree should have besides a checkout is not in it.
    GroupFilesMissing {
        /// Which session.
        group: String,
        /// What, by its path: the first of them.
        files: Vec<String>,
        /// How much more.
        #[serde(default)]
        more: usize,
    },
    /// That client has ended.
    WorkerEnded {
        /// Which session.
        group: String,
        /// How, in words.
        how: String,
        /// What it has cost.
        #[serde(flatten)]
        cost: ClientCost,
    },
    /// A limit of use was met: no client is started before then.
    LimitReached {
        /// Which session met it.
        group: String,
        /// When it is reset.
        until: Timestamp,
    },
    /// A session cannot go on by itself: a person is asked.
    GroupStuck {
        /// Which session.
        group: String,
        /// Why.
        reason: String,
    },
    /// A session has ended: all of it is done, or why not.
    GroupEnded {
        /// Which session.
        group: String,
        /// The last commit of its branch.
        tip: String,
        /// Why it has failed; `None` where it has not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failed: Option<String>,
    },
    /// A session is part of what the run has come to.
    GroupMerged {
        /// Which session.
        group: String,
        /// The commit that the run has come to.
        tip: String,
    },
    /// All of a wave that can be merged is, and the whole was checked before the next wave begins from it.
    WaveChecked {
        /// Which wave, from 0.
        wave: usize,
        /// The commit that was checked: what the run has come to.
        tip: String,
        /// Its tree.
        tree: String,
        /// What came of each check of the whole, in the order of the plan.
        outcomes: Vec<TaskCheckOutcome>,
        /// The red ones that were green before, by their places: with the others a later wave may be what they need.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        broken: Vec<usize>,
        /// The sessions that were merged since those were green.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        groups: Vec<String>,
    },
    /// The whole has the tree that was checked behind its last wave, and all was green: it is not checked again.
    WaveCheckReused {
        /// The tree.
        tree: String,
    },
    /// A session cannot be brought together with what others did.
    GroupRefused {
        /// Which session.
        group: String,
        /// The files that stand in the way.
        files: Vec<String>,
    },
    /// The work tree of a session is gone.
    GroupRemoved {
        /// Which session.
        group: String,
        /// The reference that keeps what was never merged, where something was not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rescue_ref: Option<String>,
        /// Files that no commit can keep.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        copied: Option<CopiedFiles>,
        /// The last commit of its branch, from which it goes on where it is begun again.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// What was kept of sessions is in the user's branch by now, and is kept no longer.
    KeptWorkReleased {
        /// Which sessions.
        groups: Vec<String>,
    },
    /// The work tree of a session stays where it is: it could not be removed without losing something.
    WorktreeLeft {
        /// Which session.
        group: String,
        /// Why, with the folder.
        reason: String,
    },
    /// What its user committed meanwhile is part of what the run has come to.
    UserCommitsMerged {
        /// Where the user's branch is.
        with: String,
        /// The commit that the run has come to.
        tip: String,
    },
    /// The user's branch cannot move to what the run has come to: a person is asked.
    LandingRefused {
        /// Why, in one sentence without its end.
        reason: String,
        /// The files that stand in the way.
        files: Vec<String>,
        /// Commands that get it on, each in a sentence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ways_out: Vec<String>,
        /// What its hooks, or a change of them, have to do with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<omo_git::commit::CommitRefusal>,
    },
    /// The user's branch has moved to what the run has come to.
    Landed {
        /// The commit that it was at.
        from: String,
        /// The commit that it is at.
        to: String,
        /// Commits in between that are not signed, though its user's are to be.
        #[serde(default)]
        unsigned: usize,
        /// Other work trees that have the branch checked out, whose user let it move all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        other_checkouts: Vec<String>,
    },
    /// The plan's file was made to say what is done: omo's own edit, which is no edit by its user.
    PlanTicked {
        /// The tasks that it says are done by now.
        ticked: Vec<String>,
        /// The tasks that it says are open again.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        opened: Vec<String>,
        /// The SHA-256 of the file after that, where it was as the run knew it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        plan_sha256: Option<String>,
        /// The commit that the run has come to with it, where it was made to a commit and to no file.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tip: Option<String>,
    },
    /// The plan's file cannot be made to say what is done, and is left as it is.
    PlanNotTicked {
        /// Why.
        reason: String,
    },
    /// The commits of passed tasks that a branch of the user's lacks, looked up when the run would end.
    CommitsMissing {
        /// The commits; empty where none is missing by now.
        commits: Vec<MissingCommit>,
    },
    /// A file that omo writes for others was changed by something else.
    ProjectionChanged {
        /// Which file.
        file: String,
        /// Where the changed one was put.
        backup: Option<String>,
    },
    /// The run was ended before its end.
    RunCancelled {
        /// Why.
        reason: String,
    },
    /// Free memory bounds the workers.
    WorkersBounded(MemoryBound),
    /// A run that had ended goes on.
    RunResumed,
    /// The run came to its end.
    RunEnded {
        /// How.
        result: RunResult,
    },
}

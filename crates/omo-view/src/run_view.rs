//! All that is shown of a run, of a plan or of ultrawork, as plain data: every renderer takes this and nothing else.
//!
//! Texts are hostile: nothing here is escaped or cut. No colour stands here: it follows from these facts (`tone`). As JSON it
//! is what `omo report --format json` prints.

mod standing;
mod timeline;

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_core::timestamp::Timestamp;
use serde::Serialize;

pub use standing::Standing;
pub use timeline::{Lane, Mark, MarkKind, Span, SpanKind, Timeline};

/// Value of `schema` in the JSON.
pub const SCHEMA: u32 = 1;

/// Everything shown of a run, built once from its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Run id of a plan, or `SessionId` of an ultrawork run.
    pub run: String,
    /// Path of the plan as it was given.
    pub plan: String,
    /// SHA-256 of the plan's file as the run knows it.
    pub plan_sha256: String,
    /// Title of the plan, or first line of the request.
    pub title: String,
    /// Dialect of the plan.
    pub dialect: &'static str,
    /// Result, such as `InProgress`.
    pub result: RunResultWord,
    /// State or end in one sentence, such as `Complete, 2 of 5 tasks unproved`.
    pub heading: String,
    /// Mode in words.
    pub mode: &'static str,
    /// Reason of a cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// Actor that drives the run.
    pub holder: ActorView,
    pub opened_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// Commit that was checked out at the start.
    pub base: Option<String>,
    /// Cost of the clients as far as they told it, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Most that killed clients may have cost beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untold_cost_micros: Option<u64>,
    pub counts: TaskCounts,
    /// Tasks in the order of the plan; of an ultrawork run its claim.
    pub tasks: Vec<TaskView>,
    /// Checks of the whole.
    pub final_checks: Vec<CheckView>,
    /// Tasks and checks of the whole without a proof.
    pub not_verified: Vec<UnprovedView>,
    /// Questions in the order in which they were asked.
    pub questions: Vec<QuestionView>,
    /// Files of omo that something else changed.
    pub drift: Vec<DriftView>,
    /// Findings beside the states of the tasks, a line each.
    pub findings: Vec<String>,
    /// Uncommitted work, where that was looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutView>,
    /// Command that goes on from here; `None` where nothing is left to do.
    pub next_command: Option<String>,
    #[serde(skip)]
    pub subject: Subject,
    #[serde(skip)]
    pub end: RunEnd,
    /// `true` where the exit status says so.
    #[serde(skip)]
    pub is_complete: bool,
    /// Path of the plan, or session of a task list; empty for an ultrawork run.
    #[serde(skip)]
    pub about: String,
    /// Word of the plan for a task.
    #[serde(skip)]
    pub task_word: &'static str,
    /// Counted tasks in words, such as `2 of 5 tasks done, 1 failed`; empty for an ultrawork run.
    #[serde(skip)]
    pub progress: String,
    /// Time of the end.
    #[serde(skip)]
    pub ended_at: Option<Timestamp>,
    /// Labels and values that identify the run, in their order.
    #[serde(skip)]
    pub facts: Vec<(&'static str, String)>,
    /// All of the request, where that is more than the title.
    #[serde(skip)]
    pub request: String,
    #[serde(skip)]
    pub reviews: Vec<ReviewView>,
    /// Changes after which a claim proves less.
    #[serde(skip)]
    pub weakened: Vec<WeakeningView>,
    /// Parallel workers.
    #[serde(skip)]
    pub workers: Vec<WorkerView>,
    /// Lines about branches and workers.
    #[serde(skip)]
    pub worker_notes: Vec<String>,
    /// Bounds and what is left of them.
    #[serde(skip)]
    pub bounds: Vec<Bound>,
    /// Further lines for a reader who waits for the end.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Time of this view on the clock of its reader; empty where the run has ended.
    #[serde(skip)]
    pub as_of: String,
    /// Next steps of a person, each a sentence or a command.
    #[serde(skip)]
    pub next_steps: Vec<String>,
    /// Checks that run now, each with its task; an empty one stands for the whole.
    #[serde(skip)]
    pub running_checks: Vec<(String, CheckView)>,
    #[serde(skip)]
    pub timeline: Timeline,
}

/// Kind of a run: `Plan` or `Ultrawork`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// One execution of a plan.
    #[default]
    Plan,
    Ultrawork,
}

/// State or end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    #[default]
    Running,
    /// Waiting for a person.
    Waiting,
    /// Each task and the whole have passed.
    Complete,
    /// All of it was done, and some of it is not proved.
    Unproved,
    /// Some of it was not done.
    Incomplete,
    Failed,
    /// Ended by a person.
    Cancelled,
}

/// Result of a run in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResultWord {
    #[default]
    InProgress,
    Waiting,
    Complete,
    CompletedWithFailures,
    Failed,
    Cancelled,
}

/// Number of tasks in each `Standing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskCounts {
    pub total: usize,
    /// Proved.
    pub passed: usize,
    /// Done, as something else than omo says.
    pub claimed: usize,
    /// Failed for good.
    pub failed: usize,
    /// Done without a proof.
    pub unproved: usize,
    /// Blocked or left out.
    pub blocked: usize,
    /// Not ended.
    pub pending: usize,
}

/// Task of a plan, or the claim of an ultrawork run (`Subject`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskView {
    pub id: String,
    pub title: String,
    pub standing: Standing,
    /// Task that it waits for in vain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The plan says something else about it since it was done.
    pub is_stale: bool,
    /// Attempts that count.
    pub attempts: u32,
    /// All attempts; empty where the events were not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<AttemptView>,
    /// Checks of the last attempt.
    pub checks: Vec<CheckView>,
    /// Proof or fault on one line.
    pub evidence: String,
    /// Ids of the evidence that was put forward.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_ids: Vec<String>,
    /// Files that the last attempt changed.
    pub files: Vec<String>,
    /// Changed files that the task does not name.
    pub out_of_scope: Vec<String>,
    /// Commands of checks that were green before the work.
    pub already_green: Vec<String>,
    /// Results of the checks without the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_work: Vec<CheckCounterfactual>,
    /// Note of the worker for later tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The verification of all others.
    #[serde(skip)]
    pub is_verification: bool,
    /// Work that was asked for.
    #[serde(skip)]
    pub goal: String,
    /// Places of the tasks that have to have passed before.
    #[serde(skip)]
    pub needs: Vec<usize>,
    /// Proof other than a check of its own.
    #[serde(skip)]
    pub proved_by: Option<String>,
    /// Commands and results of the evidence, a line each.
    #[serde(skip)]
    pub evidence_lines: Vec<String>,
    /// Commit of the work.
    #[serde(skip)]
    pub commit: Option<String>,
    /// Difference as git prints it.
    #[serde(skip)]
    pub diff: String,
    /// Attempt that runs.
    #[serde(skip)]
    pub running: Option<RunningTask>,
    #[serde(skip)]
    pub max_attempts: u32,
    /// Pending, with nothing left to wait for.
    #[serde(skip)]
    pub is_next: bool,
    /// Time of its last event.
    #[serde(skip)]
    pub updated_at: Option<Timestamp>,
}

/// An attempt that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTask {
    pub since: Timestamp,
    /// Worker, such as `Session 1`, `session 0b7f2a9c…` or `a terminal`.
    pub worker: String,
    /// State of its process, where that has ended, such as `its client has ended`.
    pub gone: Option<&'static str>,
}

/// Attempt at a task, with its `Standing`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptView {
    pub since: Timestamp,
    /// Time of its end; `None` while it runs.
    pub until: Option<Timestamp>,
    /// `passed`, `failed`, `unproved`, `claimed` or `interrupted`; `None` while it runs.
    pub end: Option<&'static str>,
    /// Proof or fault on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Check with its `CheckState`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckView {
    pub command: String,
    /// Result in a word; `None` where it did not run.
    pub verdict: Option<&'static str>,
    /// Result in a few words.
    pub detail: String,
    /// Exit status of a check that ended by itself.
    pub exit: Option<i32>,
    /// Duration in milliseconds.
    pub duration_millis: Option<u64>,
    #[serde(skip)]
    pub state: CheckState,
    /// Id of the files that it ran on.
    #[serde(skip)]
    pub tree: Option<String>,
    /// Lines of its output that matter.
    #[serde(skip)]
    pub output: Vec<String>,
    /// Path of the whole output.
    #[serde(skip)]
    pub log: Option<String>,
}

/// Worth of a check, from `Green` to `NotRun`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckState {
    Running,
    Green,
    /// Green without the work, too.
    AlreadyGreen,
    /// Red, or out of time.
    Red,
    /// Could not be run, or ran no test.
    Unusable,
    #[default]
    NotRun,
}

/// A task or a check of the whole (`task` is `None`) without a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnprovedView {
    pub task: Option<String>,
    pub reason: String,
}

/// Question to a person, for `omo answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuestionView {
    pub id: String,
    pub question: String,
    /// Ids of the possible answers.
    pub options: Vec<String>,
    /// Answer; `None` where the question is open or was taken back.
    pub answer: Option<String>,
    /// Moot before it was answered.
    pub is_withdrawn: bool,
    /// Actor who answered, or made it moot.
    pub by: Option<ActorView>,
    pub at: Option<Timestamp>,
    /// The run waits for its answer.
    #[serde(skip)]
    pub is_open: bool,
    /// Texts of the possible answers.
    #[serde(skip)]
    pub option_texts: Vec<String>,
    /// Commands that get the run on, beside the answers.
    #[serde(skip)]
    pub ways_out: Vec<String>,
}

/// Actor of a run: a session, a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "hand", rename_all = "snake_case")]
pub enum ActorView {
    /// A session of the client.
    Session { id: String },
    /// A terminal of the user.
    #[default]
    Terminal,
}

/// A file of omo that something else changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriftView {
    pub file: String,
    /// Copy of the changed file.
    pub backup: Option<String>,
}

/// Checkout of a run beside its base.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckoutView {
    /// Commits since the base; `None` where that is not known.
    pub commits: Option<usize>,
    /// Uncommitted files that a task changed.
    pub uncommitted: Vec<String>,
    /// Other uncommitted files, without those that omo writes.
    pub other_uncommitted: Vec<String>,
}

/// Review with its `ReviewEnd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewView {
    pub reviewer: String,
    pub verdict: ReviewEnd,
    /// Time of its end.
    pub at: Option<Timestamp>,
    /// Id of the reviewed files.
    pub tree: Option<String>,
    /// Words of the reviewer.
    pub words: String,
}

/// Verdict of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewEnd {
    Agreed,
    /// Rejected the work as it was then; the end of the run tells whether that was answered.
    Rejected,
    /// No verdict, or none that counts.
    Unclear,
    /// Wanted, and none came.
    Missing,
}

/// A change after which a claim proves less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakeningView {
    pub at: Option<Timestamp>,
    pub by: String,
    pub what: String,
}

/// Parallel worker, a row under `WORKER_HEADS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerView {
    pub name: String,
    /// Wave, from 1.
    pub wave: usize,
    /// Ids of its tasks.
    pub tasks: Vec<String>,
    /// State in a word or two.
    pub status: String,
    /// Decision of a person before it goes on; empty where it goes on by itself.
    pub need: String,
    /// Task that it is at and the attempt, or how many are over.
    pub at: String,
    /// Result of its last check.
    pub check: String,
    /// Time for which its task has been worked on.
    pub time: String,
    /// Cost in millionths of a US dollar; 0 where that is not known.
    pub cost_micros: u64,
    /// Good or bad end; `None` before that.
    pub is_success: Option<bool>,
}

/// A bound with what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Words(String),
    /// Milliseconds that were left `at` a time; `None` where the clock stands still.
    Time {
        left_millis: i64,
        at: Option<Timestamp>,
    },
}

impl RunView {
    /// Title, or what else names the run.
    pub fn shown_title(&self) -> &str {
        if self.title.is_empty() {
            &self.about
        } else {
            &self.title
        }
    }

    /// Tasks of a plan; a claim is none.
    pub fn listed_tasks(&self) -> &[TaskView] {
        if self.subject == Subject::Plan {
            &self.tasks
        } else {
            &[]
        }
    }

    /// `true` for a run that goes on or waits.
    pub fn is_open(&self) -> bool {
        matches!(self.end, RunEnd::Running | RunEnd::Waiting)
    }
}

impl WorkerView {
    /// The decision of a person that it waits for, which is asked once no other worker can go on.
    pub fn need_line(&self) -> Option<String> {
        (!self.need.is_empty()).then(|| {
            format!(
                "{}: {}; asked once the others are done",
                self.name, self.need
            )
        })
    }
}

impl TaskView {
    /// Title, also of a verification without one.
    pub fn shown_title(&self) -> &str {
        if self.is_verification && self.title.is_empty() {
            "Verification of all tasks"
        } else {
            &self.title
        }
    }

    /// State in words, such as `blocked by 3`.
    pub fn standing_words(&self) -> String {
        match &self.blocked_by {
            Some(task) => format!("blocked by {task}"),
            None => self.standing.word().to_owned(),
        }
    }

    /// Milliseconds of work up to now.
    pub fn worked_millis(&self, now: Timestamp) -> u64 {
        self.history.iter().map(|attempt| attempt.millis(now)).sum()
    }
}

impl AttemptView {
    /// Milliseconds that it took, or has taken up to now.
    pub fn millis(&self, now: Timestamp) -> u64 {
        let millis = self
            .until
            .unwrap_or(now)
            .millis_since(self.since)
            .unwrap_or_default();
        u64::try_from(millis).unwrap_or_default()
    }

    /// `Standing` by the word of its end.
    pub fn standing(&self) -> Standing {
        match self.end {
            None => Standing::Running,
            Some("passed") => Standing::Passed,
            Some("failed") => Standing::Failed,
            Some("unproved") => Standing::Unproved,
            Some("claimed") => Standing::Claimed,
            Some(_) => Standing::Interrupted,
        }
    }
}

impl CheckView {
    /// Word, such as `green without the work, too`.
    pub fn word(&self) -> &'static str {
        match self.state {
            CheckState::Running => "runs",
            CheckState::AlreadyGreen => "green without the work, too",
            CheckState::NotRun => "not run",
            CheckState::Green => self.verdict.unwrap_or("green"),
            CheckState::Red => self.verdict.unwrap_or("red"),
            CheckState::Unusable => self.verdict.unwrap_or("says nothing"),
        }
    }
}

impl ActorView {
    /// Words for people, such as `a terminal`.
    pub fn describe(&self) -> String {
        match self {
            Self::Session { id } => format!("session {id}"),
            Self::Terminal => "a terminal".to_owned(),
        }
    }
}

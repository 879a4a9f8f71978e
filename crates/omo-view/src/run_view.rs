//! All that is shown of a run as plain data, the input of every renderer and of `omo report --format json`.
//!
//! Texts are hostile: nothing here is escaped or cut.

mod standing;
mod timeline;

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_core::timestamp::Timestamp;
use serde::Serialize;

pub use standing::Standing;
pub use timeline::{Lane, Mark, MarkKind, Span, SpanKind, Timeline};

pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunView {
    pub schema: u32,
    /// Run id of a plan, or `SessionId` of an ultrawork run.
    pub run: String,
    /// Path as it was given.
    pub plan: String,
    /// SHA-256 of the plan file as the run read it.
    pub plan_sha256: String,
    /// Title of the plan, or first line of the request.
    pub title: String,
    pub dialect: &'static str,
    pub result: RunResultWord,
    /// State or end in one sentence, such as `Complete, 2 of 5 tasks unproved`.
    pub heading: String,
    /// Words for the mode.
    pub mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    pub holder: ActorView,
    pub opened_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// Commit that was checked out at the start.
    pub base: Option<String>,
    /// Cost of the clients as far as they told it, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Maximum cost of killed clients beside `cost_micros`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untold_cost_micros: Option<u64>,
    pub counts: TaskCounts,
    /// In the order of the plan; the claim of an ultrawork run.
    pub tasks: Vec<TaskView>,
    /// Checks of the whole.
    pub final_checks: Vec<CheckView>,
    /// Tasks and checks of the whole without a proof.
    pub not_verified: Vec<UnprovedView>,
    /// In the order in which they were asked.
    pub questions: Vec<QuestionView>,
    pub drift: Vec<DriftView>,
    /// Findings beside the states of the tasks, a line each.
    pub findings: Vec<String>,
    /// `None` where git was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutView>,
    /// Command that goes on from here, if anything is left to do.
    pub next_command: Option<String>,
    #[serde(skip)]
    pub subject: Subject,
    #[serde(skip)]
    pub end: RunEnd,
    #[serde(skip)]
    pub is_complete: bool,
    /// Path of the plan, or session of a task list; empty for an ultrawork run.
    #[serde(skip)]
    pub about: String,
    /// The plan's noun, such as `task`.
    #[serde(skip)]
    pub task_word: &'static str,
    /// Such as `2 of 5 tasks done, 1 failed`; empty for an ultrawork run.
    #[serde(skip)]
    pub progress: String,
    #[serde(skip)]
    pub ended_at: Option<Timestamp>,
    /// Labels and values that identify the run, in their order.
    #[serde(skip)]
    pub facts: Vec<(&'static str, String)>,
    /// The whole request where it is longer than the title.
    #[serde(skip)]
    pub request: String,
    #[serde(skip)]
    pub reviews: Vec<ReviewView>,
    #[serde(skip)]
    pub weakened: Vec<WeakeningView>,
    #[serde(skip)]
    pub workers: Vec<WorkerView>,
    #[serde(skip)]
    pub worker_notes: Vec<String>,
    #[serde(skip)]
    pub bounds: Vec<Bound>,
    /// Lines for a person who waits for the end.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Moment of this view on the reader's clock; empty after the end.
    #[serde(skip)]
    pub as_of: String,
    /// Next steps of a person, each a sentence or a command.
    #[serde(skip)]
    pub next_steps: Vec<String>,
    /// Running checks by task id; the id of a check of the whole is empty.
    #[serde(skip)]
    pub running_checks: Vec<(String, CheckView)>,
    #[serde(skip)]
    pub timeline: Timeline,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    #[default]
    Plan,
    Ultrawork,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    #[default]
    Running,
    Waiting,
    /// Each task and the whole have passed.
    Complete,
    /// All done, some of it without proof.
    Unproved,
    /// Some of it not done.
    Incomplete,
    Failed,
    Cancelled,
}

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskCounts {
    pub total: usize,
    pub passed: usize,
    /// Done by word of something else than omo.
    pub claimed: usize,
    /// Failed for good.
    pub failed: usize,
    pub unproved: usize,
    /// Blocked or left out.
    pub blocked: usize,
    pub pending: usize,
}

/// Task of a plan, or the claim of an ultrawork run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskView {
    pub id: String,
    pub title: String,
    pub standing: Standing,
    /// Failed task that keeps it from starting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The plan changed it after it was done.
    pub is_stale: bool,
    /// Attempts that count against the bound.
    pub attempts: u32,
    /// Empty where the events were not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<AttemptView>,
    /// Those of the last attempt.
    pub checks: Vec<CheckView>,
    /// Proof or fault on one line.
    pub evidence: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_ids: Vec<String>,
    pub files: Vec<String>,
    pub out_of_scope: Vec<String>,
    /// Commands that were green before the work.
    pub already_green: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_work: Vec<CheckCounterfactual>,
    /// The worker's note for later tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Marks the task that verifies all others.
    #[serde(skip)]
    pub is_verification: bool,
    /// Requested work.
    #[serde(skip)]
    pub goal: String,
    /// Indices of required tasks.
    #[serde(skip)]
    pub needs: Vec<usize>,
    /// Proof other than its own checks.
    #[serde(skip)]
    pub proved_by: Option<String>,
    /// Commands and results, a line each.
    #[serde(skip)]
    pub evidence_lines: Vec<String>,
    #[serde(skip)]
    pub commit: Option<String>,
    /// Output of `git diff`.
    #[serde(skip)]
    pub diff: String,
    #[serde(skip)]
    pub running: Option<RunningTask>,
    #[serde(skip)]
    pub max_attempts: u32,
    /// Pending, with nothing left to wait for.
    #[serde(skip)]
    pub is_next: bool,
    #[serde(skip)]
    pub updated_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTask {
    pub since: Timestamp,
    /// Such as `Session 1`, `session 0b7f2a9c…` or `a terminal`.
    pub worker: String,
    /// Ended process in words, such as `its client has ended`.
    pub ended: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptView {
    pub since: Timestamp,
    pub until: Option<Timestamp>,
    /// `passed`, `failed`, `unproved`, `claimed` or `interrupted`; `None` while it runs.
    pub end: Option<&'static str>,
    /// Proof or fault on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckView {
    pub command: String,
    /// Result in a word; `None` if it did not run.
    pub verdict: Option<&'static str>,
    pub detail: String,
    pub exit: Option<i32>,
    pub duration_millis: Option<u64>,
    #[serde(skip)]
    pub state: CheckState,
    /// Id of the checked files.
    #[serde(skip)]
    pub tree: Option<String>,
    /// Shown part of the output.
    #[serde(skip)]
    pub output: Vec<String>,
    /// Path of the output in full.
    #[serde(skip)]
    pub log: Option<String>,
}

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuestionView {
    pub id: String,
    pub question: String,
    /// Ids of the answers.
    pub options: Vec<String>,
    /// `None` if open or withdrawn.
    pub answer: Option<String>,
    /// Withdrawn before an answer.
    pub is_withdrawn: bool,
    /// Actor who answered or withdrew it.
    pub by: Option<ActorView>,
    pub at: Option<Timestamp>,
    /// The run waits for its answer.
    #[serde(skip)]
    pub is_open: bool,
    #[serde(skip)]
    pub option_texts: Vec<String>,
    #[serde(skip)]
    pub ways_out: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "hand", rename_all = "snake_case")]
pub enum ActorView {
    Session {
        id: String,
    },
    #[default]
    Terminal,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriftView {
    pub file: String,
    pub backup: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckoutView {
    /// Commits since the base, if known.
    pub commits: Option<usize>,
    /// Files that a task changed.
    pub uncommitted: Vec<String>,
    /// Without omo's own files.
    pub other_uncommitted: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewView {
    pub reviewer: String,
    pub verdict: ReviewEnd,
    pub at: Option<Timestamp>,
    /// Id of the reviewed files.
    pub tree: Option<String>,
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewEnd {
    Agreed,
    /// Rejected the work as it was then; the end of the run tells if that was answered.
    Rejected,
    /// No verdict, or none that counts.
    Unclear,
    /// Required and missing.
    Missing,
}

/// A change after which a claim proves less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakeningView {
    pub at: Option<Timestamp>,
    pub by: String,
    pub what: String,
}

/// Row below `WORKER_HEADS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerView {
    pub name: String,
    pub wave: usize,
    pub tasks: Vec<String>,
    pub status: String,
    /// Decision that a person owes it; empty for none.
    pub need: String,
    /// Current task with its attempt, or the number of finished ones.
    pub at: String,
    pub check: String,
    /// Time since its task began.
    pub time: String,
    /// Cost in millionths of a US dollar; 0 for unknown.
    pub cost_micros: u64,
    /// Kind of its end; `None` before that.
    pub is_success: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Words(String),
    /// Milliseconds left at `at`; `None` stops the clock.
    Time {
        left_millis: i64,
        at: Option<Timestamp>,
    },
}

impl RunView {
    pub fn shown_title(&self) -> &str {
        if self.title.is_empty() {
            &self.about
        } else {
            &self.title
        }
    }

    pub fn listed_tasks(&self) -> &[TaskView] {
        if self.subject == Subject::Plan {
            &self.tasks
        } else {
            &[]
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.end, RunEnd::Running | RunEnd::Waiting)
    }
}

impl WorkerView {
    /// Line about `need`, which is asked once no other worker can go on.
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
    /// Title, with words for a verification without one.
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

    pub fn worked_millis(&self, now: Timestamp) -> u64 {
        self.history.iter().map(|attempt| attempt.millis(now)).sum()
    }
}

impl AttemptView {
    pub fn millis(&self, now: Timestamp) -> u64 {
        let millis = self
            .until
            .unwrap_or(now)
            .millis_since(self.since)
            .unwrap_or_default();
        u64::try_from(millis).unwrap_or_default()
    }

    /// `Standing` by the word of `end`.
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
    pub fn describe(&self) -> String {
        match self {
            Self::Session { id } => format!("session {id}"),
            Self::Terminal => "a terminal".to_owned(),
        }
    }
}

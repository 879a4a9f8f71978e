//! What is shown of a run that is watched, as plain data. What comes from outside is made harmless where it is drawn.

use omo_core::timestamp::Timestamp;
use omo_engine::parallel::WorkerRow;

/// How something is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// It went well.
    Good,
    /// It did not.
    Bad,
    /// It asks for its reader.
    Attention,
    /// It is at work.
    AtWork,
}

/// How a run stands for a person who waits for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// It goes on.
    AtWork,
    /// It waits for a person.
    Waiting,
    /// It came to a good end.
    Complete,
    /// It ended in another way.
    Ended,
}

/// What is shown of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunView {
    /// What it is for.
    pub title: String,
    /// What it is, in a few words: `plan run, waves`.
    pub kind: String,
    /// How it stands.
    pub status: RunStatus,
    /// The same in words.
    pub sentence: String,
    /// How the words are shown.
    pub tone: Tone,
    /// When it began.
    pub began: Option<Timestamp>,
    /// When it ended, where it has.
    pub ended: Option<Timestamp>,
    /// What a person is asked, and how it is answered; empty where there is no question.
    pub question: Vec<String>,
    /// Parallel workers.
    pub workers: Vec<WorkerRow>,
    /// Its tasks, in the order of the plan.
    pub tasks: Vec<TaskView>,
    /// What a task is called in such a plan.
    pub task_word: &'static str,
    /// Its checks: those that run first, then those that ran last.
    pub checks: Vec<CheckView>,
    /// What is left of its bounds.
    pub bounds: Vec<Bound>,
    /// What else has to be known.
    pub notes: Vec<String>,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskView {
    /// What it is called.
    pub id: String,
    /// The sign of how it stands.
    pub mark: char,
    /// How it stands, in words.
    pub words: String,
    /// How that is shown.
    pub tone: Tone,
    /// How much it matters now.
    pub rank: TaskRank,
    /// For how long it was worked on in attempts that are over, in milliseconds.
    pub worked_millis: u64,
    /// Since when it is worked on, where it is.
    pub since: Option<Timestamp>,
    /// Who works on it.
    pub worker: String,
    /// What it is about, and what was wrong.
    pub about: String,
}

/// How much a task matters to a person who looks on: where not all of them have room, the first are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TaskRank {
    /// It is worked on.
    AtWork,
    /// It has failed.
    Failed,
    /// It comes next.
    Next,
    /// It has not begun.
    Later,
    /// It is over.
    Over,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckView {
    /// The task that it is of; empty for one of the whole.
    pub of: String,
    /// Its command.
    pub command: String,
    /// How it stands, in words.
    pub words: String,
    /// How that is shown.
    pub tone: Tone,
    /// The last line that it printed.
    pub last_line: String,
}

/// What is left of a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// In words.
    Words(String),
    /// Time, of which this is left at that moment, in milliseconds; it gets less by itself.
    Time {
        /// So much was left.
        left_millis: i64,
        /// Then; `None` where the time stands still.
        at: Option<Timestamp>,
    },
}

//! What a page shows, as plain data. Every text in it may be hostile: nothing here is escaped or cut.
//!
//! No colour stands here: what is shown as proved follows from these facts alone (`tone`).

use omo_core::timestamp::Timestamp;

/// How a page renews itself while its run goes on and its file is written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// After so many seconds it is loaded again.
    pub seconds: u32,
}

/// The page of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What the run was about: the title of its plan, or the first line of what was asked for.
    pub title: String,
    /// Which kind of run it was.
    pub subject: Subject,
    /// How it stands or has ended, in one sentence, as the terminal says it.
    pub sentence: String,
    /// The same as data.
    pub end: RunEnd,
    /// When it stood so, as its reader's clock shows it; empty where the run has ended.
    pub as_of: String,
    /// What else identifies it, each with its label.
    pub facts: Vec<(String, String)>,
    /// All that was asked for, where that is more than the title.
    pub request: String,
    /// The checks that judge the whole.
    pub checks: Vec<CheckResult>,
    /// The reviews of the whole, in their order.
    pub reviews: Vec<Review>,
    /// What nothing has proved.
    pub unproved: Vec<Unproved>,
    /// What was weakened or accepted since the run began.
    pub weakened: Vec<Weakening>,
    /// What was found beside that.
    pub findings: Vec<String>,
    /// What to do next, each a sentence or a command.
    pub next_steps: Vec<String>,
    /// When what happened.
    pub timeline: Timeline,
    /// A card for each task, or one for the claim.
    pub cards: Vec<Card>,
}

/// Which kind of run a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One execution of a plan.
    Plan,
    /// An ultrawork run.
    Ultrawork,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It goes on.
    Running,
    /// It waits for a person.
    Waiting,
    /// It came to its end, and says that all of it is done.
    Finished,
    /// It came to its end, and some of it was not done or not proved.
    Unfinished,
    /// It came to its end with a failure.
    Failed,
    /// A person ended it before its end.
    Stopped,
}

/// One check, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Its command.
    pub command: String,
    /// What it was worth.
    pub state: CheckState,
    /// The same in a few words.
    pub detail: String,
    /// The exit status, where it ended by itself.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub millis: Option<u64>,
    /// The work tree that it ran in, by its id.
    pub tree: Option<String>,
    /// The lines of its output that matter.
    pub output: Vec<String>,
}

/// What a check was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// It proves what it is for.
    Green,
    /// It is green, and so it is without the work: it proves nothing about that.
    AlreadyGreen,
    /// It says that the work is wrong, or did not end in time.
    Red,
    /// It says nothing: it could not be run, or ran no test.
    Unusable,
    /// It did not run.
    NotRun,
}

/// A review, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Who gave it.
    pub reviewer: String,
    /// What it came to.
    pub verdict: ReviewEnd,
    /// When it ended.
    pub at: Option<Timestamp>,
    /// The work tree that was reviewed, by its id.
    pub tree: Option<String>,
    /// The reviewer's own words.
    pub words: String,
}

/// What a review came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewEnd {
    /// It agreed that the work is done.
    Agreed,
    /// It rejected the work as it was then. Whether that was answered, the end of the run tells.
    Rejected,
    /// It came to no verdict, or to none that counts.
    Unclear,
    /// It was wanted and did not come.
    Missing,
}

/// Something that nothing has proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// The id of its task; `None` where it is about the whole.
    pub task: Option<String>,
    /// Why.
    pub reason: String,
}

/// A change after which a claim proves less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// When.
    pub at: Option<Timestamp>,
    /// Who made it.
    pub by: String,
    /// What was changed.
    pub what: String,
}

/// When what happened, for each worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// When the run began.
    pub began: Timestamp,
    /// When it ended; while it goes on, now.
    pub until: Timestamp,
    /// A lane for each worker.
    pub lanes: Vec<Lane>,
}

/// What one worker did, or waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Who it is.
    pub name: String,
    /// What took time.
    pub spans: Vec<Span>,
    /// What happened at once.
    pub marks: Vec<Mark>,
}

/// Something that took time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub from: Timestamp,
    /// When it ended; `None` while it goes on.
    pub until: Option<Timestamp>,
    /// What it was.
    pub kind: SpanKind,
    /// What it says.
    pub label: String,
}

/// What takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An attempt at the task of this card, by its place.
    Attempt {
        /// The card.
        card: usize,
        /// How it ended.
        end: Standing,
    },
    /// A turn of the session.
    Turn,
    /// A review.
    Review,
    /// A wait for work in the background.
    Background,
    /// A wait for a person.
    Person,
}

/// Something that happened at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// What it was.
    pub kind: MarkKind,
    /// What it says.
    pub label: String,
}

/// What happens at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A check was green.
    Green,
    /// A check was not.
    Red,
    /// A claim, a review or a verdict.
    Review,
    /// A Stop was turned into going on.
    Continuation,
    /// A person was asked, or said something.
    Person,
}

/// What is known of a task, or of the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What it is called.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub standing: Standing,
    /// What it was to do.
    pub goal: String,
    /// The cards that have to have passed before, by their place.
    pub needs: Vec<usize>,
    /// What proved it, where that was no check of its own.
    pub proved_by: Option<String>,
    /// Every attempt at it.
    pub attempts: Vec<Attempt>,
    /// Each check of its last attempt.
    pub checks: Vec<CheckResult>,
    /// What shows it, or what was wrong.
    pub evidence: Vec<String>,
    /// The files that were changed.
    pub files: Vec<String>,
    /// Those of them that it does not name.
    pub out_of_scope: Vec<String>,
    /// What was changed, as git prints a difference; empty where it is not known.
    pub diff: String,
    /// What its worker left for those who come after it.
    pub note: String,
}

/// An attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub from: Timestamp,
    /// When it ended; `None` while it runs.
    pub until: Option<Timestamp>,
    /// How it ended.
    pub end: Standing,
    /// Why.
    pub why: String,
}

/// Where a task, or an attempt at it, stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its checks were green.
    Passed,
    /// Something else than omo says that it was done, or a verifier judged it.
    Claimed,
    /// It was done, and nothing has proved it.
    Unproved,
    /// It has failed.
    Failed,
    /// The plan leaves it out.
    LeftOut,
    /// It was skipped.
    Skipped,
    /// What it needs has not passed.
    Blocked,
    /// A worker is at it.
    Running,
    /// Its worker is gone, or it was interrupted.
    Interrupted,
    /// It was not begun.
    Pending,
}

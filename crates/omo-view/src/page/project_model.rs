//! What the page of all runs of a project shows, as plain data.

use omo_core::timestamp::Timestamp;

use crate::run_view::{RunView, Standing, Subject, TaskView};
use crate::tone::Tone;

/// All runs of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPage {
    /// What the project is called.
    pub title: String,
    /// Which runs these are, in one sentence.
    pub scope: String,
    /// When they stood so, as its reader's clock shows it.
    pub as_of: String,
    /// The same as data.
    pub now: Timestamp,
    /// The runs, in any order: they are shown with the newest first.
    pub runs: Vec<RunSummary>,
    /// So many older ones were not looked at.
    pub unread: usize,
    /// What could not be read, and why.
    pub problems: Vec<String>,
}

/// A run in short. How it ended, and whether that is proved, is taken from its own page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub(crate) subject: Subject,
    pub(crate) title: String,
    pub(crate) request: String,
    pub(crate) sentence: String,
    pub(crate) tone: Tone,
    pub(crate) began: Timestamp,
    pub(crate) until: Timestamp,
    pub(crate) tasks: TaskTally,
    pub(crate) details: RunDetails,
}

/// What its own page does not tell of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDetails {
    /// When it began, as its reader's clock shows it.
    pub began: String,
    /// How its work was handed out; empty where that says nothing.
    pub mode: String,
    /// How often something was tried, in words.
    pub effort: String,
    /// What it cost; empty where that is not known.
    pub cost: String,
    /// The file of its own page, where that lies in the same folder.
    pub page_file: Option<String>,
}

/// How many tasks of a plan stand how. Those that the plan leaves out are not counted, and a claim is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskTally {
    pub all: usize,
    pub done: usize,
    pub proved: usize,
}

impl RunSummary {
    /// A run of which this is the page.
    pub fn new(page: &RunView, details: RunDetails) -> Self {
        let mut tasks = TaskTally::default();
        let is_task = |card: &&TaskView| page.subject == Subject::Plan && card.standing != Standing::LeftOut;
        for card in page.tasks.iter().filter(is_task) {
            let is_done = matches!(card.standing, Standing::Passed | Standing::Claimed | Standing::Unproved);
            tasks.all += 1;
            tasks.done += usize::from(is_done);
            tasks.proved += usize::from(card.tone() == Tone::Proved);
        }
        Self {
            subject: page.subject,
            title: page.shown_title().to_owned(),
            request: page.request.clone(),
            sentence: page.heading.clone(),
            tone: page.tone(),
            began: page.timeline.began,
            until: page.timeline.until,
            tasks,
            details,
        }
    }

    /// When it began.
    pub fn began(&self) -> Timestamp {
        self.began
    }
}

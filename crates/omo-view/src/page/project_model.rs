//! Page of all runs of a project, as plain data.

use omo_core::timestamp::Timestamp;

use crate::run_view::{RunView, Standing, Subject, TaskView};
use crate::tone::Tone;

/// All runs of a project, as `render_project` shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPage {
    /// Title: the project.
    pub title: String,
    /// Scope of the list, in one sentence.
    pub scope: String,
    /// Moment of the list, as its reader's clock shows it.
    pub as_of: String,
    /// Moment of the list.
    pub now: Timestamp,
    /// The runs, in any order: they are shown with the newest first.
    pub runs: Vec<ProjectRun>,
    /// Older runs that were not looked at.
    pub unread: usize,
    /// Unreadable runs, with the reason.
    pub problems: Vec<String>,
}

/// Summary of a run. End and proof come from its own `RunView`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRun {
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

/// Facts about a run that its own page does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDetails {
    /// Start, as its reader's clock shows it.
    pub began: String,
    /// Mode of the work; empty where that says nothing.
    pub mode: String,
    /// Number of tries, in words.
    pub effort: String,
    /// Cost; empty where it is not known.
    pub cost: String,
    /// The file of its own page, where that lies in the same folder.
    pub page_file: Option<String>,
}

/// Tasks of a plan by standing. Left-out tasks are not counted, and a claim is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskTally {
    pub all: usize,
    pub done: usize,
    pub proved: usize,
}

impl ProjectRun {
    /// Summary of `page`.
    pub fn new(page: &RunView, details: RunDetails) -> Self {
        let mut tasks = TaskTally::default();
        let is_task =
            |card: &&TaskView| page.subject == Subject::Plan && card.standing != Standing::LeftOut;
        for card in page.tasks.iter().filter(is_task) {
            let is_done = matches!(
                card.standing,
                Standing::Passed | Standing::Claimed | Standing::Unproved
            );
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

    /// Start of the run.
    pub fn began(&self) -> Timestamp {
        self.began
    }
}

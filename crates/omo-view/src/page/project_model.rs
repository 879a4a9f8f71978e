//! Data of the page of all runs of a project.

use omo_core::timestamp::Timestamp;

use crate::run_view::{RunView, Standing, Subject};
use crate::tone::Tone;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPage {
    pub title: String,
    pub scope: String,
    /// Local time of the list, as text.
    pub as_of: String,
    pub now: Timestamp,
    /// Runs in any order.
    pub runs: Vec<ProjectRun>,
    /// Number of older runs that were not read.
    pub unread: usize,
    pub problems: Vec<String>,
}

/// A run on the page, summarized from its own `RunView`.
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

/// Facts about a run that its `RunView` does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDetails {
    /// Local time of the start, as text.
    pub began: String,
    pub mode: String,
    pub effort: String,
    pub cost: String,
    /// File name of the run's own page in the same folder.
    pub page_file: Option<String>,
}

/// Numbers of a plan's tasks without left-out ones; `0` each for an ultrawork run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskTally {
    pub all: usize,
    pub done: usize,
    pub proved: usize,
}

impl ProjectRun {
    pub fn new(page: &RunView, details: RunDetails) -> Self {
        let mut tasks = TaskTally::default();
        for card in &page.tasks {
            if page.subject != Subject::Plan || card.standing == Standing::LeftOut {
                continue;
            }
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

    pub fn began(&self) -> Timestamp {
        self.began
    }

    pub(crate) fn took_millis(&self) -> i64 {
        self.until.millis_since(self.began).unwrap_or_default()
    }
}

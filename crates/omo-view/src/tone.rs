//! `Tone`, the word and colour of a shown fact, derived here alone: only what a check or a review has proved is green.

use anstyle::{AnsiColor, Style};

use crate::run_view::{
    CheckState, CheckView, ReviewEnd, ReviewView, RunEnd, RunView, Standing, Subject, TaskView,
    WorkerView,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Proved,
    Weakened,
    Unproved,
    Failed,
    /// Going on, or not begun.
    Open,
}

impl Tone {
    pub(crate) const ALL: [Self; 5] = [
        Self::Proved,
        Self::Weakened,
        Self::Unproved,
        Self::Failed,
        Self::Open,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Weakened => "proved by less than at the start",
            Self::Unproved => "not proved",
            Self::Failed => "failed",
            Self::Open => "not ended",
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Weakened | Self::Unproved => "unproved",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }

    pub(crate) fn style(self) -> Style {
        match self {
            Self::Proved => AnsiColor::Green.on_default(),
            Self::Weakened | Self::Unproved => AnsiColor::Yellow.on_default(),
            Self::Failed => AnsiColor::Red.on_default(),
            Self::Open => Style::new(),
        }
    }

    /// Symbol, such as `✓`, for readers who see no colours.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Proved => "✓",
            Self::Weakened | Self::Unproved => "?",
            Self::Failed => "✗",
            Self::Open => "…",
        }
    }
}

impl RunView {
    pub fn tone(&self) -> Tone {
        if matches!(self.end, RunEnd::Running | RunEnd::Waiting) {
            return Tone::Open;
        }
        if self.is_blocked() {
            return Tone::Unproved;
        }
        let cards: Vec<Tone> = self.counted_cards().map(TaskView::tone).collect();
        let is_red = self
            .final_checks
            .iter()
            .any(|check| check.state == CheckState::Red);
        if self.end == RunEnd::Failed || is_red || cards.contains(&Tone::Failed) {
            return Tone::Failed;
        }
        let is_proved = self.end == RunEnd::Complete
            && self.not_verified.is_empty()
            && self.has_proof()
            && self
                .final_checks
                .iter()
                .all(|check| check.tone() == Tone::Proved)
            && cards.iter().all(|tone| *tone == Tone::Proved)
            && self
                .reviews
                .last()
                .is_none_or(|review| review.verdict == ReviewEnd::Agreed);
        match (is_proved, self.weakened.is_empty()) {
            (true, true) => Tone::Proved,
            (true, false) => Tone::Weakened,
            (false, _) => Tone::Unproved,
        }
    }

    /// `true` for an ultrawork run whose model said why it cannot be done, which is an honest end.
    fn is_blocked(&self) -> bool {
        self.subject == Subject::Ultrawork
            && self
                .tasks
                .iter()
                .any(|task| task.standing == Standing::Blocked)
    }

    fn counted_cards(&self) -> impl Iterator<Item = &TaskView> {
        self.tasks
            .iter()
            .filter(|card| card.standing != Standing::LeftOut)
    }

    fn has_proof(&self) -> bool {
        !self.final_checks.is_empty()
            || !self.reviews.is_empty()
            || self.counted_cards().next().is_some()
    }
}

impl TaskView {
    /// Tone of the task: its checks prove a passed one, or `proved_by` if it has no checks.
    pub fn tone(&self) -> Tone {
        if self.standing != Standing::Passed {
            return self.standing.tone();
        }
        let has_source = self
            .proved_by
            .as_ref()
            .is_some_and(|source| !source.is_empty());
        if self
            .checks
            .iter()
            .any(|check| check.state == CheckState::Red)
        {
            return Tone::Failed;
        }
        let is_proved = if self.checks.is_empty() {
            has_source
        } else {
            self.checks.iter().all(|check| check.tone() == Tone::Proved)
        };
        if is_proved {
            Tone::Proved
        } else {
            Tone::Unproved
        }
    }
}

impl RunView {
    pub fn heading_style(&self) -> Style {
        match (self.subject, self.end) {
            // The run ended on a claim that was not proved.
            (Subject::Ultrawork, RunEnd::Incomplete) if !self.is_blocked() => {
                RunEnd::Failed.style()
            }
            (_, end) => end.style(),
        }
    }
}

impl RunEnd {
    pub fn style(self) -> Style {
        match self {
            Self::Complete => AnsiColor::Green.on_default().bold(),
            Self::Failed => AnsiColor::Red.on_default().bold(),
            Self::Waiting | Self::Unproved | Self::Incomplete => {
                AnsiColor::Yellow.on_default().bold()
            }
            Self::Running | Self::Cancelled => Style::new().bold(),
        }
    }
}

impl TaskView {
    pub fn style(&self) -> Style {
        match self.standing {
            Standing::Running => AnsiColor::Cyan.on_default(),
            Standing::Interrupted => AnsiColor::Yellow.on_default(),
            _ => self.tone().style(),
        }
    }
}

impl CheckView {
    pub(crate) fn style(&self) -> Style {
        match self.state {
            CheckState::Running => AnsiColor::Cyan.on_default(),
            CheckState::NotRun => Style::new(),
            _ => self.tone().style(),
        }
    }
}

impl WorkerView {
    pub(crate) fn style(&self) -> Style {
        match self.is_success {
            Some(true) => Tone::Proved.style(),
            Some(false) => Tone::Failed.style(),
            None => Style::new(),
        }
    }
}

impl Standing {
    pub(crate) fn tone(self) -> Tone {
        match self {
            Self::Passed => Tone::Proved,
            Self::Claimed | Self::Unproved | Self::Skipped | Self::Blocked => Tone::Unproved,
            Self::Failed => Tone::Failed,
            Self::LeftOut | Self::Running | Self::Interrupted | Self::Pending => Tone::Open,
        }
    }
}

impl CheckView {
    pub fn tone(&self) -> Tone {
        match self.state {
            CheckState::Running => Tone::Open,
            CheckState::Green => Tone::Proved,
            CheckState::AlreadyGreen | CheckState::Unusable | CheckState::NotRun => Tone::Unproved,
            CheckState::Red => Tone::Failed,
        }
    }
}

impl ReviewView {
    pub fn tone(&self) -> Tone {
        match self.verdict {
            ReviewEnd::Agreed => Tone::Proved,
            ReviewEnd::Rejected => Tone::Failed,
            ReviewEnd::Unclear | ReviewEnd::Missing => Tone::Unproved,
        }
    }

    pub(crate) fn word(&self) -> &'static str {
        match self.verdict {
            ReviewEnd::Agreed => "agreed",
            ReviewEnd::Rejected => "rejected the work as it was then",
            ReviewEnd::Unclear => "came to no verdict",
            ReviewEnd::Missing => "did not come",
        }
    }
}

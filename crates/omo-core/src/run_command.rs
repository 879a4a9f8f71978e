//! Commands about a plan's run that `omo` answers for a hook, without a model.
//!
//! Some are slash commands of the user, such as `/omo:cancel`; others are the hook's own questions.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunCommand {
    /// `/omo:cancel`.
    Cancel,
    /// `/omo:report`.
    Report,
    /// `/omo:retry` of a failed task.
    Retry,
    /// Question of the hook for the runs of the project that are at work.
    AtWork,
    /// `/omo:answer` to the question of a run.
    Answer,
    /// An answer by a short prompt that the hook recognizes.
    ShortAnswer,
    /// Question at the start of a session for an open run and the way to continue it.
    Offer,
    /// Question of the hook for obstacles to a plan's start, such as a missing approval.
    Preview,
    AgentEnded,
    /// Question of the hook for the page of the run that an [`EndedRunName`] names.
    EndedPage,
}

impl RunCommand {
    /// The commands that people type.
    pub const ALL: [Self; 4] = [Self::Cancel, Self::Report, Self::Retry, Self::Answer];

    /// Typed command with the `name` behind `/omo:`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Report => "report",
            Self::Retry => "retry",
            Self::AtWork => "at-work",
            Self::Answer => "answer",
            Self::ShortAnswer => "short-answer",
            Self::Offer => "offer",
            Self::Preview => "preview",
            Self::AgentEnded => "agent-ended",
            Self::EndedPage => "ended-page",
        }
    }

    pub fn usage(self) -> &'static str {
        match self {
            Self::Cancel => "/omo:cancel [RUN] [--reason TEXT]",
            Self::Report => "/omo:report [RUN] [--format FORM | --html] | --last | --all --html",
            Self::Retry => "/omo:retry TASK [--passed] [--run RUN]",
            Self::AtWork | Self::AgentEnded | Self::EndedPage => "/omo:report",
            Self::Answer => "/omo:answer [QUESTION] OPTION [--run RUN]",
            Self::ShortAnswer | Self::Offer => "/omo:execute",
            Self::Preview => "/omo:execute PLAN",
        }
    }

    pub(crate) fn in_terminal(self) -> &'static str {
        match self {
            Self::Cancel => "omo run cancel",
            Self::Report => "omo report",
            Self::EndedPage => "omo report --html",
            Self::Retry => "omo run retry TASK",
            Self::AtWork | Self::AgentEnded | Self::Offer => "omo run list",
            Self::Answer | Self::ShortAnswer => "omo answer QUESTION OPTION",
            Self::Preview => "omo run start PLAN",
        }
    }

    /// `true` for a command that changes a run, which only the user may type.
    pub(crate) fn changes_run(self) -> bool {
        matches!(self, Self::Cancel | Self::Retry | Self::Answer)
    }
}

/// The run whose page a hook asks for, in two words: its kind and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedRunName {
    Ultrawork(Timestamp),
    Plan(String),
}

impl EndedRunName {
    pub fn to_text(&self) -> String {
        match self {
            Self::Ultrawork(ended_at) => format!("ultrawork {}", ended_at.as_millis()),
            Self::Plan(id) => format!("plan {id}"),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("ultrawork", millis) => Some(Self::Ultrawork(Timestamp::from_millis(
                millis.parse().ok()?,
            ))),
            ("plan", id) => Some(Self::Plan(id.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_ended_run_is_read_as_it_was_handed_over() {
        let ended_at = Timestamp::from_millis(1_769_000_000_123);
        for name in [
            EndedRunName::Ultrawork(ended_at),
            EndedRunName::Plan("r-1".to_owned()),
        ] {
            assert_eq!(EndedRunName::parse(&name.to_text()), Some(name));
        }
        for text in ["", "plan", "ultrawork", "ultrawork soon", "other 1"] {
            assert_eq!(EndedRunName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn each_is_found_by_its_name_and_typed_by_it() {
        for command in RunCommand::ALL {
            assert_eq!(RunCommand::named(command.name()), Some(command));
            assert!(
                command
                    .usage()
                    .starts_with(&format!("/omo:{} ", command.name()))
            );
        }
        for other in ["cancelled", "at-work", "agent-ended", "ended-page", ""] {
            assert_eq!(RunCommand::named(other), None);
        }
    }
}

//! The slash commands about the run of a plan that are answered without a model: `/omo:cancel`, `/omo:report`,
//! `/omo:retry` and `/omo:answer`.
//!
//! The hook does not know how a run is cancelled or reported: it hands the user's words to `omo`. Here stands which
//! commands these are, and what is typed in a terminal instead.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// A slash command about a run that `omo` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunCommand {
    /// End a run before its end.
    Cancel,
    /// Show what came of a run.
    Report,
    /// Have a failed task done again.
    Retry,
    /// Say what of the project's runs is still at work. No person types it: the hook asks.
    AtWork,
    /// Answer the question that a run waits at.
    Answer,
    /// Answer it with a short prompt of its user. The hook recognizes it.
    ShortAnswer,
    /// Say that a plan run of the project is open and how it goes on. The start of a session asks.
    Offer,
    /// Say what keeps a command that executes a plan from starting, such as an approval that its user has to give. No
    /// person types it: the hook asks.
    Preview,
    /// An agent has ended; the hook hands over which task it had. No person types it.
    AgentEnded,
    /// Write the page of the run that the hook names with [`EndedRunName`], and say where it is. No person types it.
    EndedPage,
}

impl RunCommand {
    /// Each that is typed.
    pub const ALL: [Self; 4] = [Self::Cancel, Self::Report, Self::Retry, Self::Answer];

    /// The one of this name, which stands behind `/omo:`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Name without `/omo:`.
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

    /// Usage in a prompt.
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

    /// `true` where it changes the run, which only its user does in this way.
    pub(crate) fn changes_run(self) -> bool {
        matches!(self, Self::Cancel | Self::Retry | Self::Answer)
    }
}

/// The run whose page a hook asks for, in one word each for its kind and for which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedRunName {
    /// The ultrawork run of the session that ended then.
    Ultrawork(Timestamp),
    /// The run of a plan that has this id.
    Plan(String),
}

impl EndedRunName {
    /// As it is handed over; [`EndedRunName::parse`] reads it.
    pub fn to_text(&self) -> String {
        match self {
            Self::Ultrawork(ended_at) => format!("ultrawork {}", ended_at.as_millis()),
            Self::Plan(id) => format!("plan {id}"),
        }
    }

    /// Reads what was handed over.
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

//! Who asked for a change of what judges a claim, of its bounds, or for a run: a person, or the model itself.
//!
//! A model types no prompt, and yet prompts come from it: those that it scheduled, and those of clients that its shell
//! started. What only frees a session counts from everyone.

use serde::{Deserialize, Serialize};

/// A process of the client that serves or served a session. Whatever stands below it was started by that session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientProcess {
    /// Process id.
    pub pid: u32,
    /// Mark that differs from that of a later process with the same `pid`.
    pub start_mark: String,
}

/// Facts about the way of a prompt or a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The model has scheduled a prompt with these words, or a scheduled one was started at this moment.
    pub is_scheduled: bool,
    /// A session of this project stands above the client of the prompt, or above the command: its shell started it.
    pub is_below_session: bool,
    /// Another client that is alive serves the session.
    pub is_served_elsewhere: bool,
}

/// Origin of a prompt, as the client names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptOrigin {
    /// A person, or a program of theirs: `user`, `sdk`, or a client that names none.
    #[default]
    Person,
    /// The client itself, or a source that is not known: `system`, `loop_wakeup`, `schedule_wakeup`, `poll_event`. It
    /// starts nothing, and a whole prompt that frees the session or shows something counts.
    Client,
    /// A subagent, or a worker that omo has started. Nothing that it says counts.
    Agent,
}

impl PromptOrigin {
    /// From the `source` of a prompt.
    pub fn from_source(source: Option<&str>) -> Self {
        match source {
            None | Some("user" | "sdk") => Self::Person,
            Some(_) => Self::Client,
        }
    }
}

/// Source of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSource {
    /// A person, as far as can be told: a client or a terminal above which no session of this project stands.
    Person,
    /// The model, on this way.
    Model(ModelRoute),
}

/// The ways on which a prompt or a command comes from the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRoute {
    /// A prompt that it scheduled.
    Schedule,
    /// A client or a command that a session's shell started.
    Shell,
    /// A second client of a session that has one.
    SecondClient,
}

impl ModelRoute {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Schedule, Self::Shell, Self::SecondClient];
}

/// Tells who asked.
pub fn request_source(facts: RequestFacts) -> RequestSource {
    let RequestFacts {
        is_scheduled,
        is_below_session,
        is_served_elsewhere,
    } = facts;
    match (is_scheduled, is_below_session, is_served_elsewhere) {
        (true, _, _) => RequestSource::Model(ModelRoute::Schedule),
        (_, true, _) => RequestSource::Model(ModelRoute::Shell),
        (_, _, true) => RequestSource::Model(ModelRoute::SecondClient),
        (false, false, false) => RequestSource::Person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_a_person_is_one_and_an_unknown_source_is_not() {
        for source in [None, Some("user"), Some("sdk")] {
            assert_eq!(
                PromptOrigin::from_source(source),
                PromptOrigin::Person,
                "{source:?}"
            );
        }
        for source in [
            "system",
            "loop_wakeup",
            "schedule_wakeup",
            "poll_event",
            "extension",
            "",
            "SDK",
        ] {
            assert_eq!(
                PromptOrigin::from_source(Some(source)),
                PromptOrigin::Client,
                "{source}"
            );
        }
    }

    #[test]
    fn one_sign_of_the_model_is_enough() {
        assert_eq!(
            request_source(RequestFacts::default()),
            RequestSource::Person
        );
        let all = RequestFacts {
            is_scheduled: true,
            is_below_session: true,
            is_served_elsewhere: true,
        };
        let table = [
            (
                RequestFacts {
                    is_scheduled: true,
                    ..RequestFacts::default()
                },
                ModelRoute::Schedule,
            ),
            (
                RequestFacts {
                    is_below_session: true,
                    ..RequestFacts::default()
                },
                ModelRoute::Shell,
            ),
            (
                RequestFacts {
                    is_served_elsewhere: true,
                    ..RequestFacts::default()
                },
                ModelRoute::SecondClient,
            ),
            (all, ModelRoute::Schedule),
        ];
        for (facts, route) in table {
            assert_eq!(
                request_source(facts),
                RequestSource::Model(route),
                "{facts:?}"
            );
        }
    }
}

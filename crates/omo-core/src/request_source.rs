//! The source of a request to start a run or to change its checks or bounds: a person, or the
//! model.
//!
//! Prompts of a model are those that it scheduled, and those of clients that its shell started.
//! Requests that end a run count from every source.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientProcess {
    pub pid: u32,
    /// A mark that differs for a later process with the same `pid`.
    pub start_mark: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The model scheduled a prompt with these words, or one was started at this moment.
    pub is_scheduled: bool,
    /// A client of a session of this project is an ancestor of the process: its shell started it.
    pub is_below_session: bool,
    pub is_served_elsewhere: bool,
}

/// The client's `source` of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptOrigin {
    /// A person, or a program of theirs: `user`, `sdk`, or a client that names none.
    #[default]
    Person,
    /// `system`, `loop_wakeup`, `schedule_wakeup`, `poll_event` or an unknown source: starts
    /// nothing, but as a whole prompt may end a run or show something.
    Client,
    /// A subagent, or a worker of omo: nothing that it says counts.
    Agent,
}

impl PromptOrigin {
    pub fn from_source(source: Option<&str>) -> Self {
        match source {
            None | Some("user" | "sdk") => Self::Person,
            Some(_) => Self::Client,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSource {
    /// No client of a session of this project is an ancestor of the client or terminal.
    Person,
    Model(ModelRoute),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRoute {
    Schedule,
    Shell,
    SecondClient,
}

impl ModelRoute {
    pub const ALL: [Self; 3] = [Self::Schedule, Self::Shell, Self::SecondClient];
}

/// The source of a request; the first fact that points to the model decides.
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

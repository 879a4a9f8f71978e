//! The cause of an event: a session or a terminal, and its process.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventActor {
    /// Id of the session; `None` for a terminal of its user.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// Process that lives as long as the actor: the client's, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<RecordedProcess>,
}

impl EventActor {
    /// `true` for two actors of the same session, or two terminals.
    pub fn is_same_holder(&self, other: &Self) -> bool {
        self.session == other.session
    }

    pub fn describe(&self) -> String {
        self.session
            .as_ref()
            .map_or_else(|| "a terminal".to_owned(), |id| format!("session {id}"))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedProcess {
    pub pid: u32,
    /// Start mark, which differs in a later process with the same `pid`; `None` where the system has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mark: Option<String>,
}

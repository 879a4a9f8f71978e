//! The table of hooks: each event of the client that omo answers, the program that the client starts for it, and for how
//! long that may run.
//!
//! The hooks, `omo doctor`, the plugin that is built, `hooks.json` and the guide all say what stands here. A new event is
//! a row, its variant of [`HookEvent`], and its function in `omo-hooks`, which the compiler asks for.

/// The events of the client that omo answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// A session started, resumed, was cleared, forked or compacted.
    SessionStart,
    /// A prompt came, from a person or from the client itself.
    UserPromptSubmit,
    /// The main agent's turn wants to end.
    Stop,
    /// A subagent's turn ended.
    SubagentStop,
    /// A turn ended in an API error.
    StopFailure,
    /// The session ends.
    SessionEnd,
}

/// One hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The event.
    pub event: HookEvent,
    /// The client's name for it.
    pub name: &'static str,
    /// The program that the client starts for it.
    pub program: &'static str,
    /// For how many seconds the client waits.
    pub timeout_seconds: u16,
    /// What the client shows meanwhile, where that may take long.
    pub status_message: Option<&'static str>,
}

/// All of them, in the order of a session's life.
pub const EVENTS: [EventRow; 6] = [
    EventRow {
        event: HookEvent::SessionStart,
        name: "SessionStart",
        program: "omo-session-start",
        timeout_seconds: 5,
        status_message: None,
    },
    EventRow {
        event: HookEvent::UserPromptSubmit,
        name: "UserPromptSubmit",
        program: "omo-user-prompt-submit",
        timeout_seconds: 5,
        status_message: None,
    },
    EventRow {
        event: HookEvent::Stop,
        name: "Stop",
        program: "omo-stop",
        // It may run checks, all of which together have 840 seconds.
        timeout_seconds: 900,
        status_message: Some("omo: checking the claim, Esc ends it"),
    },
    EventRow {
        event: HookEvent::SubagentStop,
        name: "SubagentStop",
        program: "omo-subagent-stop",
        timeout_seconds: 5,
        status_message: None,
    },
    EventRow {
        event: HookEvent::StopFailure,
        name: "StopFailure",
        program: "omo-stop-failure",
        timeout_seconds: 5,
        status_message: None,
    },
    EventRow {
        event: HookEvent::SessionEnd,
        name: "SessionEnd",
        program: "omo-session-end",
        // The client itself ends at that time.
        timeout_seconds: 2,
        status_message: None,
    },
];

impl HookEvent {
    /// All of them, in the order of a session's life.
    pub const ALL: [Self; 6] = {
        let [start, prompt, stop, subagent, failure, end] = &EVENTS;
        [start.event, prompt.event, stop.event, subagent.event, failure.event, end.event]
    };

    /// The client's name for it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The program that `hooks.json` names for it.
    pub fn program(self) -> &'static str {
        self.row().program
    }

    /// Its row.
    pub const fn row(self) -> &'static EventRow {
        let [start, prompt, stop, subagent, failure, end] = &EVENTS;
        match self {
            Self::SessionStart => start,
            Self::UserPromptSubmit => prompt,
            Self::Stop => stop,
            Self::SubagentStop => subagent,
            Self::StopFailure => failure,
            Self::SessionEnd => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_its_own_row() {
        for row in EVENTS {
            assert_eq!(row.event.row(), &row, "{}", row.name);
            assert_eq!((row.event.name(), row.event.program()), (row.name, row.program));
        }
        assert_eq!(HookEvent::ALL, EVENTS.map(|row| row.event));
    }

    #[test]
    fn only_a_stop_may_run_checks_which_all_together_have_their_time_in_it() {
        for row in EVENTS {
            let is_stop = row.event == HookEvent::Stop;
            assert_eq!(row.status_message.is_some(), is_stop, "{}", row.name);
            assert_eq!(row.timeout_seconds > 5, is_stop, "{}", row.name);
        }
        assert!(u32::from(HookEvent::Stop.row().timeout_seconds) > crate::check::session_check::TOTAL_TIMEOUT_SECONDS);
    }
}

//! The hooks: each event of the client that omo answers, its program and its timeout.
//!
//! `hooks.json` and the launchers are generated from the table below; a new event is a row, and its
//! function in `omo-hooks`.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub event: HookEvent,
    pub name: &'static str,
    /// The program in `hooks.json`.
    pub program: &'static str,
    pub timeout_seconds: u16,
    /// The client's message during a hook that may take long.
    pub status_message: Option<&'static str>,
    pub purpose: &'static str,
}

macro_rules! events {
    ($(
        $(#[$meaning:meta])*
        $event:ident, $field:ident {
            program: $program:literal,
            timeout_seconds: $timeout_seconds:literal,
            status_message: $status_message:expr,
            purpose: $purpose:literal,
        }
    )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum HookEvent {
            $($(#[$meaning])* $event,)*
        }

        impl HookEvent {
            pub const ALL: [Self; { [$(stringify!($event)),*].len() }] = [$(Self::$event),*];

            pub const fn row(self) -> &'static EventRow {
                match self {
                    $(Self::$event => &EventRow {
                        event: Self::$event,
                        name: stringify!($event),
                        program: $program,
                        timeout_seconds: $timeout_seconds,
                        status_message: $status_message,
                        purpose: $purpose,
                    },)*
                }
            }
        }

        /// All hooks, in the order of a session's life.
        pub const EVENTS: [EventRow; HookEvent::ALL.len()] = [$(*HookEvent::$event.row()),*];

        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "PascalCase", default)]
        pub struct LastSeen {
            $($(#[$meaning])* pub $field: Option<Timestamp>,)*
        }

        impl LastSeen {
            fn slot(&mut self, event: HookEvent) -> &mut Option<Timestamp> {
                match event {
                    $(HookEvent::$event => &mut self.$field,)*
                }
            }
        }
    };
}

impl HookEvent {
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn program(self) -> &'static str {
        self.row().program
    }
}

impl LastSeen {
    pub fn entries(&self) -> [(HookEvent, Option<Timestamp>); HookEvent::ALL.len()] {
        HookEvent::ALL.map(|event| (event, *{ *self }.slot(event)))
    }

    pub fn note(&mut self, event: HookEvent, now: Timestamp) {
        *self.slot(event) = Some(now);
    }
}

events! {
    /// Start of a session, or its resume, clearing, fork or compaction.
    SessionStart, session_start {
        program: "omo-session-start",
        timeout_seconds: 5,
        status_message: None,
        purpose: "tells the model the session's id, and of a run where it stands",
    }
    /// A prompt of a person or of the client itself.
    UserPromptSubmit, user_prompt_submit {
        program: "omo-user-prompt-submit",
        timeout_seconds: 5,
        status_message: None,
        purpose: "turns a run on or off, and answers the slash commands that need no model",
    }
    Stop, stop {
        program: "omo-stop",
        // The checks of a Stop have 840 seconds together.
        timeout_seconds: 900,
        status_message: Some("omo: checking the claim against the start, Esc ends it"),
        purpose: "decides whether the turn may end; runs the checks when the model claims to be done",
    }
    SubagentStop, subagent_stop {
        program: "omo-subagent-stop",
        timeout_seconds: 5,
        status_message: None,
        purpose: "writes the reviewer's verdict down",
    }
    StopFailure, stop_failure {
        program: "omo-stop-failure",
        timeout_seconds: 5,
        status_message: None,
        purpose: "pauses the run at an error that only you can fix",
    }
    SessionEnd, session_end {
        program: "omo-session-end",
        // The client waits no longer at its own end.
        timeout_seconds: 2,
        status_message: None,
        purpose: "ends the run after `/clear`; after any other end the session may be resumed, and its run with it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_its_own_row() {
        for row in EVENTS {
            assert_eq!(row.event.row(), &row, "{}", row.name);
            assert_eq!(
                (row.event.name(), row.event.program()),
                (row.name, row.program)
            );
            let mut seen = LastSeen::default();
            seen.note(row.event, Timestamp::from_millis(0));
            let written = serde_json::to_value(seen).unwrap();
            assert!(
                written[row.name].is_string(),
                "{} is not in {written}",
                row.name
            );
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
        assert!(
            u32::from(HookEvent::Stop.row().timeout_seconds)
                > crate::check::session_check::TOTAL_TIMEOUT_SECONDS
        );
    }
}

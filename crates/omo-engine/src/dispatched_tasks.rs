//! Tasks handed to agents that have not begun them yet, which no other agent may get meanwhile.

use omo_core::timestamp::Timestamp;

use crate::event::{EventKind, RunEvent};
use crate::state::RunState;

/// Maximum time from the handout of a task to its begin, in milliseconds.
pub const BEGINS_WITHIN_MILLIS: i64 = 120_000;

/// Event that clears all handouts, for a command that is typed again: it starts agents anew.
pub fn forget_dispatched() -> EventKind {
    EventKind::TasksDispatched {
        tasks: Vec::new(),
        to_agents: true,
    }
}

/// [`forget_dispatched`] for a plan that goes on, if anything was handed out.
pub fn forget_dispatched_if_any(state: &RunState) -> Option<EventKind> {
    let out = state
        .dispatched
        .as_ref()
        .filter(|out| !out.tasks.is_empty());
    out.map(|_| forget_dispatched())
}

/// `true` if the newest handout is recent; reads no ledger, which may be long.
pub fn may_be_dispatched(state: &RunState, now: Timestamp) -> bool {
    state
        .dispatched
        .as_ref()
        .is_some_and(|out| !out.tasks.is_empty() && is_recent(out.at, now))
}

fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    now.millis_since(at)
        .is_none_or(|millis| millis < BEGINS_WITHIN_MILLIS)
}

/// Ids of such tasks, from a run's events up to `now`, in the order of their handout.
pub fn dispatched_tasks(events: &[RunEvent], now: Timestamp) -> Vec<String> {
    let mut out: Vec<(String, Timestamp)> = Vec::new();
    for event in events {
        match &event.kind {
            // Its person has typed the command again: whatever was started before is not counted on.
            EventKind::TasksDispatched { tasks, .. } if tasks.is_empty() => out.clear(),
            EventKind::TasksDispatched {
                tasks,
                to_agents: true,
            } => {
                out.retain(|(known, _)| !tasks.contains(known));
                out.extend(tasks.iter().map(|task| (task.clone(), event.ts)));
            }
            EventKind::TaskStarted { task, .. } => out.retain(|(known, _)| known != task),
            // The session that started them is gone, or they will be started anew.
            EventKind::HolderChanged
            | EventKind::RunResumed
            | EventKind::PlanChanged { .. }
            | EventKind::RoundStarted { .. } => out.clear(),
            _ => {}
        }
    }
    out.into_iter()
        .filter(|(_, at)| is_recent(*at, now))
        .map(|(task, _)| task)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::event::EventActor;

    use super::*;

    #[test]
    fn what_went_to_an_agent_goes_to_no_other_before_it_has_begun_or_the_time_is_over() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let (first, later) = (
            at("2026-01-01T00:00:00.000Z"),
            at("2026-01-01T00:02:00.000Z"),
        );
        let given_to = |to_agents| EventKind::TasksDispatched {
            tasks: vec!["1".to_owned(), "2".to_owned()],
            to_agents,
        };
        let given = || given_to(true);
        let begun = |task: &str| EventKind::TaskStarted {
            task: task.to_owned(),
            attempt: 1,
            ticket: String::new(),
            tree: None,
            protected_files: Vec::new(),
            already_green: Vec::new(),
            snapshot: None,
            head: None,
        };
        let again = EventKind::RoundStarted {
            round: 2,
            reopened: Vec::new(),
        };
        for (name, whats, now, expected) in [
            ("nothing", vec![], first, vec![]),
            ("both", vec![given()], first, vec!["1", "2"]),
            ("one has begun", vec![given(), begun("1")], first, vec!["2"]),
            (
                "begun, and given again",
                vec![given(), begun("1"), given()],
                first,
                vec!["1", "2"],
            ),
            ("the time is over", vec![given()], later, vec![]),
            ("to a workflow", vec![given_to(false)], first, vec![]),
            (
                "typed again",
                vec![given(), forget_dispatched()],
                first,
                vec![],
            ),
            (
                "another session",
                vec![given(), EventKind::HolderChanged],
                first,
                vec![],
            ),
            ("another iteration", vec![given(), again], first, vec![]),
        ] {
            let event = |what| RunEvent {
                seq: 1,
                ts: first,
                actor: EventActor::default(),
                kind: what,
            };
            let events: Vec<RunEvent> = whats.into_iter().map(event).collect();
            assert_eq!(dispatched_tasks(&events, now), expected, "{name}");
        }
    }
}

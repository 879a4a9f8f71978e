//! When each task was worked on, from the events of its run: a state tells only how it stands.

use std::collections::BTreeMap;

use omo_core::timestamp::Timestamp;
use serde::Serialize;

use crate::event::{EventKind, RunEvent};

/// One attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptRow {
    /// When it began.
    pub since: Timestamp,
    /// When it ended; `None` while it runs.
    pub until: Option<Timestamp>,
    /// How it ended, in a word: `passed`, `failed`, `unproved`, `claimed` or `interrupted`.
    pub end: Option<&'static str>,
    /// What shows it, or what was wrong, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl AttemptRow {
    /// How long it took, in milliseconds, or has taken up to now.
    pub fn millis(&self, now: Timestamp) -> u64 {
        let millis = self.until.unwrap_or(now).millis_since(self.since).unwrap_or_default();
        u64::try_from(millis).unwrap_or_default()
    }
}

/// The attempts at each task, in their order.
pub(super) fn attempts_by_task(events: &[RunEvent]) -> BTreeMap<&str, Vec<AttemptRow>> {
    let mut attempts: BTreeMap<&str, Vec<AttemptRow>> = BTreeMap::new();
    for event in events {
        if let EventKind::TaskStarted { task, .. } = &event.kind {
            let rows = attempts.entry(task).or_default();
            end_last(rows, event.ts, "interrupted", "");
            rows.push(AttemptRow { since: event.ts, until: None, end: None, why: String::new() });
        } else if matches!(event.kind, EventKind::RunCancelled { .. } | EventKind::RunEnded { .. }) {
            for rows in attempts.values_mut() {
                end_last(rows, event.ts, "interrupted", "the run was ended");
            }
        } else if let Some((task, word, why)) = attempt_end(&event.kind)
            && let Some(rows) = attempts.get_mut(task)
        {
            end_last(rows, event.ts, word, why);
        }
    }
    attempts
}

fn attempt_end(kind: &EventKind) -> Option<(&str, &'static str, &str)> {
    match kind {
        EventKind::TaskPassed { task, end } => Some((task, "passed", &end.evidence)),
        EventKind::TaskFailed { task, end, .. } => Some((task, "failed", &end.evidence)),
        EventKind::TaskUnverified { task, end } => Some((task, "unproved", &end.evidence)),
        EventKind::TaskClaimed { task, end, .. } => Some((task, "claimed", &end.evidence)),
        EventKind::TaskHeld { task, reason, .. }
        | EventKind::TaskSkipped { task, reason }
        | EventKind::TaskReopened { task, reason } => Some((task, "interrupted", reason)),
        _ => None,
    }
}

fn end_last(rows: &mut [AttemptRow], at: Timestamp, word: &'static str, why: &str) {
    if let Some(last) = rows.last_mut().filter(|row| row.until.is_none()) {
        (last.until, last.end) = (Some(at), Some(word));
        why.clone_into(&mut last.why);
    }
}

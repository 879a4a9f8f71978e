//! Attempts at each task, from the events of its run.

use std::collections::BTreeMap;

use omo_core::timestamp::Timestamp;
use omo_view::run_view::AttemptView;

use crate::event::{EventKind, RunEvent};

pub(super) fn attempts_by_task(events: &[RunEvent]) -> BTreeMap<&str, Vec<AttemptView>> {
    let mut attempts: BTreeMap<&str, Vec<AttemptView>> = BTreeMap::new();
    for event in events {
        if let EventKind::TaskStarted { task, .. } = &event.kind {
            let rows = attempts.entry(task).or_default();
            end_last(rows, event.ts, "interrupted", "");
            rows.push(AttemptView {
                since: event.ts,
                until: None,
                end: None,
                why: String::new(),
            });
        } else if matches!(
            event.kind,
            EventKind::RunCancelled { .. } | EventKind::RunEnded { .. }
        ) {
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

fn end_last(rows: &mut [AttemptView], at: Timestamp, word: &'static str, why: &str) {
    if let Some(last) = rows.last_mut().filter(|row| row.until.is_none()) {
        (last.until, last.end) = (Some(at), Some(word));
        why.clone_into(&mut last.why);
    }
}

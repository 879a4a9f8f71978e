//! Events about a worker whose client has ended; nothing that a client or its model says decides.

use omo_claude::client_end::FollowUp;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_plan::model::TaskGroup;

use super::{VerbCaller, lost_worker_event};
use crate::event::EventKind;
use crate::parallel_state::GroupStatus;
use crate::state::{MAX_LOST_WORKERS, MAX_REASON_CHARS, RunState, RunningAttempt};
use crate::verbs::attempts;

/// `true` if the caller is the client of a session, and the ledger has no client of it yet.
pub(crate) fn is_unrecorded_client(state: &RunState, caller: &VerbCaller) -> bool {
    let group = state.parallel.as_ref().zip(caller.group.as_ref());
    group.is_some_and(|(parallel, group)| {
        parallel.groups.contains_key(group) && parallel.has_status(group, &[GroupStatus::Ready])
    })
}

pub fn running_task_in<'a>(
    state: &'a RunState,
    group: &'a TaskGroup,
) -> Option<(&'a str, &'a RunningAttempt)> {
    group.tasks.iter().find_map(|id| {
        let running = state.tasks.get(id)?.running.as_ref()?;
        Some((id.as_str(), running))
    })
}

/// Event that puts the running task of a healthy client that was lost back, without counting a lost worker.
pub fn pause_event(state: &RunState, group: &TaskGroup, why: &str) -> Option<EventKind> {
    let (id, _) = running_task_in(state, group)?;
    let attempt = state.attempt_of(id);
    Some(EventKind::TaskHeld {
        task: id.to_owned(),
        attempt,
        reason: sanitize(why, MAX_REASON_CHARS),
        is_pause: true,
    })
}

/// Events by `follow_up`; `files` were changed by the running task, `detail` is a message.
pub fn client_end_events(
    state: &RunState,
    group: &TaskGroup,
    follow_up: &FollowUp,
    files: Vec<String>,
    detail: &str,
) -> Vec<EventKind> {
    let stuck = |why: String| EventKind::GroupStuck {
        group: group.id.clone(),
        reason: why,
    };
    let events: Vec<Option<EventKind>> = match follow_up {
        FollowUp::Settled | FollowUp::Resume { .. } => Vec::new(),
        FollowUp::FailAttempt(why) => return failed_attempt_events(state, group, why, files),
        FollowUp::Hold(why) => {
            vec![running_task_in(state, group).map(|(id, _)| lost_worker_event(state, id, why))]
        }
        FollowUp::HoldOrAsk(why) => match running_task_in(state, group) {
            Some((id, _))
                if state
                    .tasks
                    .get(id)
                    .is_some_and(|task| task.lost_workers + 1 >= MAX_LOST_WORKERS) =>
            {
                vec![
                    pause_event(state, group, why),
                    Some(stuck(with_detail(why, detail))),
                ]
            }
            Some((id, _)) => vec![Some(lost_worker_event(state, id, why))],
            None => Vec::new(),
        },
        FollowUp::WaitUntil(Some(until)) => {
            let limit = EventKind::LimitReached {
                group: group.id.clone(),
                until: *until,
            };
            vec![
                pause_event(state, group, "a limit of use was met"),
                Some(limit),
            ]
        }
        FollowUp::WaitUntil(None) => {
            let why = "a limit of use was met";
            vec![
                pause_event(state, group, why),
                Some(stuck(format!(
                    "{why}, and it was not told when it is reset"
                ))),
            ]
        }
        FollowUp::Ask(why) => vec![
            pause_event(state, group, why),
            Some(stuck(with_detail(why, detail))),
        ],
    };
    events.into_iter().flatten().collect()
}

fn with_detail(why: &str, detail: &str) -> String {
    match sanitize(detail, 200) {
        detail if detail.is_empty() => why.to_owned(),
        detail => format!("{why}: {detail}"),
    }
}

/// Events for a work tree that is gone: the running task fails, and nothing is taken back.
pub fn lost_worktree_events(state: &RunState, group: &TaskGroup, why: &str) -> Vec<EventKind> {
    let Some((id, _)) = running_task_in(state, group) else {
        return Vec::new();
    };
    let restored = EventKind::TaskRestored {
        task: id.to_owned(),
        not_restored: vec![sanitize(why, MAX_REASON_CHARS)],
        left_alone: Vec::new(),
        kept: None,
    };
    let ended = failed_attempt_events(state, group, why, Vec::new());
    let reverts = super::reverts_changes(state, &ended);
    ended
        .into_iter()
        .chain(reverts.then_some(restored))
        .collect()
}

fn failed_attempt_events(
    state: &RunState,
    group: &TaskGroup,
    why: &str,
    files: Vec<String>,
) -> Vec<EventKind> {
    let Some((_, running)) = running_task_in(state, group) else {
        return Vec::new();
    };
    attempts::end_unjudged_attempt(state, &running.ticket, why, files).unwrap_or_default()
}

/// Time of the reset of a usage limit, before which no client may be started.
pub(crate) fn limit_reset_at(state: &RunState, now: Timestamp) -> Option<Timestamp> {
    let until = state.parallel.as_ref()?.limited_until?;
    (until > now).then_some(until)
}

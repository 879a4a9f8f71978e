//! `WorkerView` of each parallel worker, from the state of the run alone.

use omo_core::text::{format_age, sanitize};
use omo_core::timestamp::Timestamp;
use omo_plan::model::TaskGroup;
use omo_view::run_view::WorkerView;

use crate::parallel_state::{GroupState, GroupStatus, ParallelState};
use crate::report::workers::{is_left_out, status_word, worker_name};
use crate::state::{RunPhase, RunState, TaskState, TaskStatus};
use crate::wave_rules::group_outcome;

pub fn worker_views(state: &RunState, now: Timestamp) -> Vec<WorkerView> {
    let Some(parallel) = &state.parallel else {
        return Vec::new();
    };
    state
        .plan
        .groups
        .iter()
        .map(|group| worker_view(state, parallel, group, now))
        .collect()
}

fn worker_view(
    state: &RunState,
    parallel: &ParallelState,
    group: &TaskGroup,
    now: Timestamp,
) -> WorkerView {
    let group_state = parallel.groups.get(&group.id);
    let tasks: Vec<(&String, &TaskState)> = group
        .tasks
        .iter()
        .filter_map(|id| Some((id, state.tasks.get(id)?)))
        .collect();
    let running = tasks.iter().find(|(_, task)| task.running.is_some());
    let last = running.or_else(|| {
        tasks
            .iter()
            .filter(|(_, task)| task.attempts > 0)
            .max_by_key(|(_, task)| task.updated_at)
    });
    let over = tasks
        .iter()
        .filter(|(_, task)| task.status.is_ended())
        .count();
    let at = match running {
        Some((id, task)) if task.attempts > 1 => format!("step {id}, attempt {}", task.attempts),
        Some((id, _)) => format!("step {id}"),
        None => format!("{over} of {}", group.tasks.len()),
    };
    let check = last
        .and_then(|(_, task)| task.checks.last())
        .map(|(_, outcome)| sanitize(outcome.describe(), 40));
    let since = running
        .and_then(|(_, task)| task.running.as_ref())
        .map(|running| format_age(Some(running.since), now));
    WorkerView {
        name: worker_name(&group.id),
        wave: group.wave + 1,
        tasks: group.tasks.clone(),
        status: if state.phase == RunPhase::Executing {
            worker_status(state, parallel, group, group_state, now)
        } else {
            ended_word(state, group, group_state).to_owned()
        },
        need: group_state
            .and_then(|group_state| group_state.stuck_reason.as_deref())
            .map(|why| sanitize(why, 300))
            .unwrap_or_default(),
        at,
        check: check.unwrap_or_default(),
        time: since.unwrap_or_default(),
        cost_micros: group_state.map_or(0, |known| known.cost_micros),
        is_success: group_state.and_then(|group_state| match group_state.status {
            GroupStatus::Done | GroupStatus::Merged => Some(true),
            GroupStatus::Failed | GroupStatus::InConflict => Some(false),
            GroupStatus::Ready | GroupStatus::Running => None,
        }),
    }
}

fn worker_status(
    state: &RunState,
    parallel: &ParallelState,
    group: &TaskGroup,
    known: Option<&GroupState>,
    now: Timestamp,
) -> String {
    let ends = group_outcome(state, group).is_some()
        || group
            .tasks
            .iter()
            .any(|id| state.status_of(id) == TaskStatus::Failed);
    let is_limited = parallel.limited_until.filter(|until| *until > now);
    match known {
        None => "waits".to_owned(),
        Some(known) if known.stuck_reason.is_some() => "needs you".to_owned(),
        Some(known) => match (known.status, is_limited) {
            (GroupStatus::Ready, Some(until)) => format!("limit until {until}"),
            (GroupStatus::Ready, None) if ends => "ends".to_owned(),
            (GroupStatus::Ready, None) => "begins".to_owned(),
            (GroupStatus::Running, _) => match &known.job {
                Some(_) if let Some((peer, lost)) = parallel.lost_contacts().next() => {
                    format!(
                        "{} silent {}",
                        peer.short_name(),
                        format_age(Some(lost.since), now)
                    )
                }
                Some(job) if job.began_at.is_none() => {
                    format!("queued {}", format_age(Some(job.queued_at), now))
                }
                Some(job) if !job.host.is_empty() => {
                    format!("works on {}", sanitize(&job.host, 24))
                }
                _ => "works".to_owned(),
            },
            (GroupStatus::Done, _) => "done".to_owned(),
            (GroupStatus::Merged, _) if is_left_out(state, group) => "skipped".to_owned(),
            (GroupStatus::Merged, _) => "merged".to_owned(),
            (GroupStatus::Failed, _) => ended_word(state, group, Some(known)).to_owned(),
            (GroupStatus::InConflict, _) => "conflict".to_owned(),
        },
    }
}

fn ended_word(
    state: &RunState,
    group: &TaskGroup,
    group_state: Option<&GroupState>,
) -> &'static str {
    let statuses: Vec<TaskStatus> = group.tasks.iter().map(|id| state.status_of(id)).collect();
    match status_word(state, group, group_state) {
        "failed"
            if !statuses.contains(&TaskStatus::Failed)
                && statuses.contains(&TaskStatus::Unverified) =>
        {
            "unproved"
        }
        word => word,
    }
}

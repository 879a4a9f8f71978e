//! One line of output for each event of parallel workers, such as `Worktree created: …`.

use omo_core::check::task_check::TaskCheckOutcome;
use omo_core::text::{pluralize, sanitize};

use super::short_commit;
use crate::event::EventKind;
use crate::report::ultraplan::task_lines;
use crate::report::workers::{
    broken_check_text, is_left_out, lost_contact_text, stray_worker_text, worker_name,
};
use crate::state::RunState;

/// The line for an event; `None` where the user need not be told.
pub fn worker_event_line(state: &RunState, kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::GroupPrepared {
            group,
            worktree,
            branch,
            ..
        } => {
            let inside = worktree
                .strip_prefix(&state.root)
                .map(|path| path.trim_start_matches(['/', '\\']));
            let worktree = sanitize(inside.unwrap_or(worktree), 200);
            format!(
                "Worktree created: {} → {worktree} (branch: {})",
                sanitize(group, 64),
                sanitize(branch, 100)
            )
        }
        EventKind::GroupFilesMissing { group, files, more } => {
            let others = if *more > 0 {
                format!(", and {more} more")
            } else {
                String::new()
            };
            let files = sanitize(&files.join(", "), 300);
            format!(
                "{}: could not be copied, though .worktreeinclude names it: {files}{others}",
                worker_name(group)
            )
        }
        EventKind::WorkerStarted { group, process, .. } => {
            format!("{}: started (process {})", worker_name(group), process.pid)
        }
        EventKind::WorkerSubmitted { group, job, .. } => {
            format!(
                "{}: handed over as {}",
                worker_name(group),
                sanitize(job, 100)
            )
        }
        EventKind::SubmissionRefused {
            group,
            how,
            is_full,
        } => {
            let next = if *is_full { "; it is tried again" } else { "" };
            format!(
                "{}: not taken: {}{next}",
                worker_name(group),
                sanitize(how, 300)
            )
        }
        EventKind::WorkerBegan { group, host } if host.is_empty() => {
            format!("{}: began", worker_name(group))
        }
        EventKind::WorkerBegan { group, host } => {
            format!("{}: began on {}", worker_name(group), sanitize(host, 60))
        }
        EventKind::WorkerRequeued { group } => format!("{}: back in the queue", worker_name(group)),
        EventKind::WorkerNotCancelled { group, job, reason } => {
            format!("{}: {}", worker_name(group), stray_worker_text(job, reason))
        }
        EventKind::ContactLost { peer, reason, .. } => {
            format!("{}.", lost_contact_text(*peer, reason))
        }
        EventKind::WorkersBounded(bound) => bound.line(),
        EventKind::ContactRestored { peer } => format!("Again {} answers.", peer.describe()),
        EventKind::WorkerEnded { group, how, .. } => {
            let how = sanitize(how, 200);
            match how.strip_prefix("it ") {
                Some(kind) => format!("{}: its client {kind}", worker_name(group)),
                None => format!("{}: its client: {how}", worker_name(group)),
            }
        }
        EventKind::LimitReached { group, until } => {
            format!(
                "{} met a limit of use; no worker is started before {until}. No attempt is used.",
                worker_name(group)
            )
        }
        kind => return session_event_line(state, kind),
    })
}

fn session_event_line(state: &RunState, kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::GroupStuck { group, reason: why } => {
            format!("{} needs you: {}", worker_name(group), sanitize(why, 300))
        }
        EventKind::GroupEnded {
            group,
            failed: Some(why),
            ..
        } => {
            format!(
                "Wave {} FAILED: {}: {}",
                wave_number(state, group),
                worker_name(group),
                sanitize(why, 300)
            )
        }
        EventKind::GroupEnded {
            group,
            failed: None,
            ..
        } => format!("{}: done", worker_name(group)),
        EventKind::GroupMerged { group, .. }
            if state
                .plan
                .groups
                .iter()
                .any(|known| known.id == *group && is_left_out(state, known)) =>
        {
            format!("{}: nothing to merge", worker_name(group))
        }
        EventKind::GroupMerged { group, tip } => {
            format!(
                "{}: merged ({})",
                worker_name(group),
                sanitize(short_commit(tip), 12)
            )
        }
        EventKind::WaveChecked {
            wave,
            outcomes,
            broken,
            groups,
            ..
        } => wave_check_line(state, *wave, outcomes, broken, groups),
        EventKind::WaveCheckReused { .. } => {
            "The whole was checked as it is after its last wave: green, and not run again."
                .to_owned()
        }
        EventKind::GroupRefused { group, files } => {
            let files = sanitize(&files.join(", "), 300);
            format!(
                "Wave {} MERGE CONFLICT: {} conflicts with merged state: {files}",
                wave_number(state, group),
                worker_name(group)
            )
        }
        EventKind::GroupRemoved {
            group,
            rescue_ref: kept,
            copied,
            ..
        } => {
            let kept = kept
                .as_ref()
                .map(|kept| format!("; what was not merged is kept in {}", sanitize(kept, 120)));
            let copied = copied
                .as_ref()
                .map(|copied| format!("; {copied}"))
                .unwrap_or_default();
            format!(
                "{}: worktree removed{}{copied}",
                worker_name(group),
                kept.unwrap_or_default()
            )
        }
        EventKind::WorktreeLeft { group, reason: why } => {
            format!(
                "{}: something of it is left: {}",
                worker_name(group),
                sanitize(why, 300)
            )
        }
        EventKind::UserCommitsMerged { with, .. } => {
            format!(
                "Your branch has moved to {} meanwhile: merged with it, and checked again.",
                sanitize(short_commit(with), 12)
            )
        }
        EventKind::LandingRefused { reason: why, .. } => {
            format!("Your branch could not move: {}", sanitize(why, 300))
        }
        EventKind::Landed { from, to, .. } if from == to => {
            "Your branch has all of it already.".to_owned()
        }
        EventKind::Landed { from, to, .. } => {
            format!(
                "Your branch moved from {} to {}.",
                sanitize(short_commit(from), 12),
                sanitize(short_commit(to), 12)
            )
        }
        // Several of them at once: the line has to name the task.
        EventKind::TaskFailed {
            task,
            is_final: false,
            ..
        } => {
            let line = task_lines::task_event_line(&state.plan, kind)?;
            format!("Step {task}: {line}")
        }
        kind => return task_lines::task_event_line(&state.plan, kind),
    })
}

fn wave_number(state: &RunState, group: &str) -> usize {
    state
        .plan
        .groups
        .iter()
        .find(|known| known.id == group)
        .map_or(1, |known| known.wave + 1)
}

fn wave_check_line(
    state: &RunState,
    wave: usize,
    outcomes: &[TaskCheckOutcome],
    broken: &[usize],
    groups: &[String],
) -> String {
    if !broken.is_empty() {
        return format!(
            "Wave {} BROKE the whole: {}",
            wave + 1,
            broken_check_text(state, wave, broken, groups)
        );
    }
    match outcomes
        .iter()
        .filter(|outcome| !outcome.is_green())
        .count()
    {
        0 => format!("Wave {}: the whole was checked, and is green.", wave + 1),
        red => format!(
            "Wave {}: the whole was checked; {red} of {} not green yet, as before the run.",
            wave + 1,
            pluralize(outcomes.len(), "check")
        ),
    }
}

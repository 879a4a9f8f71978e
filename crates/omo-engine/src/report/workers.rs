//! Report on parallel workers: results, the state of the user's branch, and where unmerged work is.

use std::fmt::Write;

use omo_core::money::format_dollars;
use omo_core::text::{inline_code, list_some, pluralize, sanitize};
use omo_plan::model::TaskGroup;
use omo_plan::plan_summary::SESSION_PREFIX;

use crate::event::{QuestionKind, WorkerPeer};
use crate::modes::parallel::WORKER_PREFIX;
use crate::parallel_state::{GroupState, GroupStatus, INTEGRATED, ParallelState};
use crate::report::table::{cell, table};
use crate::report::ultraplan::short_commit;
use crate::state::{RunState, TaskStatus};
use crate::wave_rules;

const NAMED_FOLDERS: usize = 3;

pub(super) fn workers_section(state: &RunState) -> String {
    let Some(parallel) = &state.parallel else {
        return String::new();
    };
    let rows: Vec<[String; 6]> = state
        .plan
        .groups
        .iter()
        .map(|group| row(state, group, parallel.groups.get(&group.id)))
        .collect();
    let heads = ["Wave", "Session", "Steps", "Result", "Branch", "Cost"];
    let mut text = format!("### Sessions\n\n{}", table(heads, &rows));
    for line in worker_result_lines(state) {
        let _ = writeln!(text, "- {line}");
    }
    text + "\n"
}

/// Lines about the user's branch, the cost, and the work of each session.
pub fn worker_result_lines(state: &RunState) -> Vec<String> {
    let Some(parallel) = &state.parallel else {
        return Vec::new();
    };
    let mut lines = user_branch_lines(parallel);
    lines.extend(cost_text(parallel).map(|cost| format!("Cost: {cost}")));
    if let Some(check) = parallel
        .wave_check
        .as_ref()
        .filter(|check| !check.broken.is_empty())
    {
        let text = broken_check_text(state, check.wave, &check.broken, &check.groups);
        lines.push(format!("Wave {} broke the whole: {text}", check.wave + 1));
    }
    lines.extend(worker_warnings(state));
    let held = wave_rules::held_back(state, parallel);
    for group in &state.plan.groups {
        let mut notes: Vec<String> = parallel
            .groups
            .get(&group.id)
            .map(|group_state| worker_notes(&group.id, group_state))
            .unwrap_or_default();
        let causes = held
            .get(group.id.as_str())
            .into_iter()
            .flatten()
            .filter(|id| **id != group.id);
        let causes: Vec<String> = causes.map(|id| worker_name(id)).collect();
        if !causes.is_empty() {
            notes.push(format!(
                "held back by the conflict of {}, which it needs",
                sanitize(&causes.join(", "), 200)
            ));
        }
        lines.extend(
            notes
                .into_iter()
                .map(|line| format!("{}: {line}", worker_name(&group.id))),
        );
    }
    lines
}

/// Text for the cost of a run's clients; `None` while no cost is known.
pub fn cost_text(parallel: &ParallelState) -> Option<String> {
    let (cost, untold) = (parallel.cost_micros(), parallel.untold_micros());
    let text = format!("{}, as far as the clients said", format_dollars(cost));
    match untold {
        0 => (cost > 0).then_some(text),
        untold => Some(format!(
            "{text}; at most {} more for killed ones",
            format_dollars(untold)
        )),
    }
}

/// Warnings about workers elsewhere: silent peers, and jobs that could not be ended.
pub fn worker_warnings(state: &RunState) -> Vec<String> {
    let Some(parallel) = &state.parallel else {
        return Vec::new();
    };
    let lost = parallel
        .lost_contacts()
        .map(|(peer, lost)| lost_contact_text(peer, &lost.reason));
    let strays = parallel.groups.iter().flat_map(|(id, known)| {
        known
            .stray_workers
            .iter()
            .map(move |(job, why)| format!("{}: {}", worker_name(id), stray_worker_text(job, why)))
    });
    lost.chain(strays).collect()
}

fn row(state: &RunState, group: &TaskGroup, group_state: Option<&GroupState>) -> [String; 6] {
    let none = || "—".to_owned();
    let title = sanitize(&group.title, 60);
    let titled = if title.is_empty() {
        worker_name(&group.id)
    } else {
        format!("{}: {title}", worker_name(&group.id))
    };
    let cost = group_state
        .map(|group_state| group_state.cost_micros)
        .filter(|cost| *cost > 0);
    [
        (group.wave + 1).to_string(),
        cell(&titled, 80),
        cell(&group.tasks.join(", "), 60),
        status_word(state, group, group_state).to_owned(),
        group_state.map_or_else(none, |known| cell(&known.branch, 80)),
        cost.map_or_else(none, format_dollars),
    ]
}

/// `true` if all steps of a session were left out, so that nothing of it was merged.
pub(crate) fn is_left_out(state: &RunState, group: &TaskGroup) -> bool {
    group.tasks.iter().all(|id| {
        state
            .tasks
            .get(id)
            .is_some_and(|task| task.status == TaskStatus::Skipped)
    })
}

pub(crate) fn status_word(
    state: &RunState,
    group: &TaskGroup,
    known: Option<&GroupState>,
) -> &'static str {
    let Some(known) = known else {
        return "not started";
    };
    match known.status {
        GroupStatus::Ready => "not finished",
        GroupStatus::Running => "running",
        GroupStatus::Done => "completed, not merged",
        GroupStatus::Merged if is_left_out(state, group) => "skipped",
        GroupStatus::Merged => "merged",
        GroupStatus::Failed => "failed",
        GroupStatus::InConflict => "merge-failed",
    }
}

fn user_branch_lines(parallel: &ParallelState) -> Vec<String> {
    let name = parallel
        .policy
        .branch
        .strip_prefix("refs/heads/")
        .unwrap_or(&parallel.policy.branch);
    let name = if name.is_empty() {
        "Your branch".to_owned()
    } else {
        format!("Your branch `{}`", inline_code(name, 100))
    };
    let mut lines = match (&parallel.landed, &parallel.landed_before) {
        (Some((from, to)), _) if from == to => {
            return vec![format!(
                "{name} has all of it already, at {}",
                short_commit_code(to)
            )];
        }
        (Some((from, to)), _) => {
            let notes = unsigned_line(parallel)
                .into_iter()
                .chain(elsewhere_line(parallel));
            return [moved_text(&name, from, to)]
                .into_iter()
                .chain(notes)
                .collect();
        }
        (None, Some((from, to))) => vec![format!(
            "{} before; nothing of what followed is in it",
            moved_text(&name, from, to)
        )],
        (None, None) => vec![format!("{name} was not moved: nothing of this is in it")],
    };
    if let Some(QuestionKind::LandingRefused { reason: why, .. }) = &parallel.landing_question {
        lines.push(format!("It could not move: {}", sanitize(why, 300)));
    }
    if parallel.tip != parallel.base
        && parallel
            .groups
            .values()
            .any(|group| group.status == GroupStatus::Merged)
        && let Some(run) = parallel
            .groups
            .values()
            .find_map(|group| run_of(&group.branch))
    {
        let reference = format!("refs/omo/keep/{run}/{INTEGRATED}");
        lines.push(format!(
            "What was merged so far is kept: {}",
            recovery_command(INTEGRATED, &reference)
        ));
    }
    lines
}

fn moved_text(branch: &str, from: &str, to: &str) -> String {
    format!(
        "{branch} moved from {} to {}",
        short_commit_code(from),
        short_commit_code(to)
    )
}

/// The line about unsigned commits: a worker elsewhere has no signing key of the user.
fn unsigned_line(parallel: &ParallelState) -> Option<String> {
    let commits = pluralize(parallel.unsigned, "commit");
    (parallel.unsigned > 0)
        .then(|| format!("{commits} of that unsigned, though `commit.gpgSign` is set"))
}

fn elsewhere_line(parallel: &ParallelState) -> Option<String> {
    let folders = list_some(
        parallel.other_checkouts.iter().map(String::as_str),
        NAMED_FOLDERS,
    );
    let text = "has it checked out, too, and shows all of that as staged to be taken back: commit nothing there before";
    let (from, to) = parallel.landed.as_ref()?;
    let update = format!(
        "git read-tree -m -u {} {}",
        short_commit(from),
        short_commit(to)
    );
    (!folders.is_empty()).then(|| format!("{} {text} `{update}`", sanitize(&folders, 300)))
}

fn worker_notes(id: &str, group_state: &GroupState) -> Vec<String> {
    let mut lines = Vec::new();
    let why = group_state.reason.as_deref().map(|why| sanitize(why, 300));
    match (group_state.status, why) {
        (GroupStatus::InConflict, Some(files)) => {
            lines.push(format!("conflicts with what was merged before: {files}"));
        }
        (GroupStatus::Failed, Some(why)) => lines.push(why),
        _ => {}
    }
    if let Some(why) = &group_state.stuck_reason {
        lines.push(format!(
            "it could not go on by itself: {}",
            sanitize(why, 300)
        ));
    }
    if let Some(why) = &group_state.leftover_reason {
        lines.push(format!("something of it is left: {}", sanitize(why, 300)));
    }
    if let Some(kept) = &group_state.rescue_ref {
        let work_words = match group_state.status {
            GroupStatus::Merged => {
                "beside what was merged it has left work that is in no branch of yours"
            }
            _ => "what it did is in no branch of yours",
        };
        lines.push(format!(
            "{work_words}; to have it: {}",
            recovery_command(id, kept)
        ));
    } else if let Some(tree) = group_state
        .worktree
        .as_ref()
        .filter(|_| group_state.status.is_ended())
    {
        lines.push(format!("its work is in {}", sanitize(tree, 200)));
    }
    lines.extend(group_state.copied.as_ref().map(ToString::to_string));
    lines
}

pub(crate) fn stray_worker_text(job: &str, why: &str) -> String {
    format!(
        "its worker may still be at work, and could not be ended: {}; end `{}` by hand at its scheduler",
        sanitize(why, 300),
        inline_code(job, 100)
    )
}

pub(crate) fn broken_check_text(
    state: &RunState,
    wave: usize,
    broken: &[usize],
    groups: &[String],
) -> String {
    let commands: Vec<String> = broken
        .iter()
        .map(|place| {
            let command = state
                .plan
                .final_checks
                .get(*place)
                .map_or("", |check| check.command.as_str());
            format!("`{}`", inline_code(command, 200))
        })
        .collect();
    let word = if broken.len() == 1 { "was" } else { "were" };
    let groups: Vec<String> = groups.iter().map(|group| worker_name(group)).collect();
    format!(
        "{} {word} green before. Merged since then: {}. What comes after wave {} is held back.",
        commands.join(", "),
        sanitize(&groups.join(", "), 400),
        wave + 1
    )
}

pub(crate) fn lost_contact_text(peer: WorkerPeer, reason: &str) -> String {
    let next = match peer {
        WorkerPeer::Remote => {
            "workers go on, and what they have pushed is taken in once it answers"
        }
        WorkerPeer::Engine => {
            "a worker that it loses is noticed once it answers, or when its time is up"
        }
    };
    format!(
        "For some minutes {} does not answer: {}; {next}",
        peer.describe(),
        sanitize(reason, 300)
    )
}

fn recovery_command(group: &str, reference: &str) -> String {
    format!(
        "`git branch rescued-{} {}`",
        inline_code(group, 60),
        inline_code(reference, 200)
    )
}

fn run_of(branch: &str) -> Option<&str> {
    branch.strip_prefix("omo/")?.split('/').next()
}

pub fn worker_name(id: &str) -> String {
    if let Some(number) = id.strip_prefix(SESSION_PREFIX) {
        format!("Session {}", sanitize(number, 40))
    } else if let Some(task) = id.strip_prefix(WORKER_PREFIX) {
        format!("Worker {}", sanitize(task, 40))
    } else {
        sanitize(id, 40)
    }
}

fn short_commit_code(commit: &str) -> String {
    sanitize(short_commit(commit), 12)
}

//! The tasks of a report: each with how it stands, how long it took, its checks, and what was wrong.

use omo_core::check::counterfactual::{CheckCounterfactual, WithoutChange};
use omo_core::check::printed_output::QUOTED_LINES;
use omo_core::text::command_text::typed_form;
use omo_core::text::{format_age, format_duration, pluralize, sanitize};
use omo_engine::Run;
use omo_engine::report::workers::worker_name;
use omo_engine::report::{CheckRow, TaskRow};
use omo_engine::state::{RunState, RunningAttempt, TaskStanding, TaskStatus};
use omo_engine::work::is_alive;
use omo_plan::model::TaskKind;

use crate::output::table::truncate_columns;
use crate::run_report::ReportSource;
use crate::run_report::text_lines::TextLines;

/// The longest command that is shown whole.
const COMMAND_COLUMNS: usize = 300;
/// What took less says nothing by its time.
const MIN_SHOWN_MILLIS: u64 = 100;

/// Writes all tasks, in the order of the plan.
pub(super) fn write_tasks(lines: &mut TextLines, source: &ReportSource<'_>) {
    lines.section_heading("Tasks");
    for row in &source.report.tasks {
        write_task(lines, source, row);
    }
}

fn write_task(lines: &mut TextLines, source: &ReportSource<'_>, row: &TaskRow) {
    let (state, id) = (source.state, sanitize(&row.id, 64));
    let standing = state.standing(&row.id).unwrap_or(TaskStanding::Is(TaskStatus::Pending));
    let is_verification = state.plan.task(&row.id).is_some_and(|task| task.kind == TaskKind::Verify);
    let mut words = vec![standing_words(&standing, row)];
    if row.attempts > 1 {
        words.push(pluralize(row.attempts as usize, "attempt"));
    }
    let millis: u64 = row.history.iter().map(|attempt| attempt.millis(source.now)).sum();
    if !row.history.is_empty() {
        words.push(format_duration(millis));
    }
    if let Some(commit) = commit_of(source, row) {
        words.push(format!("commit {commit}"));
    }
    let title = if is_verification { "Verification of all tasks".to_owned() } else { sanitize(&row.title, 120) };
    lines.wrapped(&format!("{} {id}  ", mark(&standing)), &format!("{title} ({})", words.join(", ")));
    if let Some(running) = state.tasks.get(&row.id).and_then(|known| known.running.as_ref()) {
        lines.wrapped("     ", &worker_words(source.run, state, &row.id, running));
    }
    let before = row.history.split_last().map(|(_, before)| before).unwrap_or_default();
    for (attempt, number) in before.iter().zip(1..) {
        let end = attempt.end.unwrap_or_default();
        let why = if attempt.why.is_empty() { String::new() } else { format!(": {}", sanitize(&attempt.why, 160)) };
        lines.wrapped(
            "     ",
            &format!("attempt {number}, {}, {end}{why}", format_duration(attempt.millis(source.now))),
        );
    }
    write_checks(lines, source, row);
    let is_checked = !row.checks.is_empty() && matches!(standing, TaskStanding::Is(TaskStatus::Passed));
    if !is_checked && !row.evidence.is_empty() && row.blocked_by.is_none() && !is_said(row) {
        lines.wrapped("     ", &sanitize(&row.evidence, 300));
    }
    for known in state.evidence.iter().filter(|known| row.evidence_ids.contains(&known.id)) {
        let command = truncate_columns(&typed_form(&known.command), COMMAND_COLUMNS);
        lines.whole(&format!("     {} {command}: {}", sanitize(&known.id, 20), sanitize(known.outcome.describe(), 80)));
    }
    if let Some(note) = &row.note {
        lines.wrapped("     ", &format!("note: {}", sanitize(note, 300)));
    }
}

/// Whether what was wrong stands in a check that is shown already.
fn is_said(row: &TaskRow) -> bool {
    row.checks.iter().any(|check| check.verdict != Some("green") && row.evidence.ends_with(&check.detail))
}

fn write_checks(lines: &mut TextLines, source: &ReportSource<'_>, row: &TaskRow) {
    let outcomes = source.state.tasks.get(&row.id).map(|known| known.checks.as_slice()).unwrap_or_default();
    for (check, (_, outcome)) in row.checks.iter().zip(outcomes) {
        let vacuous = match row.without_work.iter().find(|known| known.name == check.command) {
            Some(known) => without_words(known.without),
            None if row.already_green.contains(&check.command) => ", as before the work",
            None => "",
        };
        lines.whole(&format!("     {}{vacuous}", check_words(check)));
        if outcome.is_green() {
            continue;
        }
        for line in outcome.printed.excerpt(QUOTED_LINES) {
            lines.whole(&format!("       > {}", sanitize(&line, 160)));
        }
        if let Some(log) = &outcome.log {
            lines.whole(&format!("       all of it: {}", sanitize(&log.to_string_lossy(), 300)));
        }
    }
    // The test of a task that comes first is run only for this.
    let is_shown = |known: &&CheckCounterfactual| row.checks.iter().any(|check| check.command == known.name);
    for known in row.without_work.iter().filter(|known| !is_shown(known)) {
        let command = truncate_columns(&typed_form(&known.name), COMMAND_COLUMNS);
        lines.whole(&format!("     {command}{}", without_words(known.without)));
    }
}

/// What a check says without the work of its task, behind what it says with it.
fn without_words(without: WithoutChange) -> &'static str {
    match without {
        WithoutChange::Red => ", red without the work",
        WithoutChange::NotBuilt => ", cannot be built without the work",
        WithoutChange::Green => ", green without the work, too",
        WithoutChange::Unknown => ", could not be told without the work",
    }
}

/// A check on one line: its command, its result, and how long it took.
pub(super) fn check_words(check: &CheckRow) -> String {
    let command = truncate_columns(&typed_form(&check.command), COMMAND_COLUMNS);
    let Some(verdict) = check.verdict else { return format!("{command}: not run") };
    let detail = sanitize(&check.detail, 160);
    let detail = if detail.is_empty() || detail.contains(verdict) { detail } else { format!("{verdict}, {detail}") };
    let took = check.duration_millis.filter(|millis| *millis >= MIN_SHOWN_MILLIS);
    let took = took.map(|millis| format!(", {}", format_duration(millis))).unwrap_or_default();
    format!("{command}: {detail}{took}")
}

/// Worker of a task and the time since it began; or that its process is gone.
pub(crate) fn worker_words(run: &Run, state: &RunState, id: &str, running: &RunningAttempt) -> String {
    let since = format_age(Some(running.since), omo_state::env::now());
    let group = state.plan.group_of(id).map(|(_, group)| group);
    let by_client = state.parallel.as_ref().zip(group).filter(|(known, group)| known.groups.contains_key(&group.id));
    if let Some((_, group)) = by_client {
        let gone = run.is_supervised().is_ok_and(|supervised| !supervised);
        let gone = if gone { "; its supervisor has ended" } else { "" };
        return format!("{} for {since}{gone}", worker_name(&group.id));
    }
    let gone = running.by.process.as_ref().and_then(is_alive) == Some(false);
    let gone = if gone { "; its client has ended" } else { "" };
    format!("{} for {since}{gone}", running.by.describe())
}

fn commit_of(source: &ReportSource<'_>, row: &TaskRow) -> Option<String> {
    let commit = source.state.tasks.get(&row.id)?.last_end.as_ref()?.commit.as_ref()?;
    Some(sanitize(omo_engine::report::ultraplan::short_commit(commit), 12))
}

/// How a task stands, in words.
pub(crate) fn standing_words(standing: &TaskStanding, row: &TaskRow) -> String {
    match (standing, &row.blocked_by) {
        (_, Some(by)) => format!("blocked by {}", sanitize(by, 64)),
        (TaskStanding::Is(TaskStatus::Running), _) => "at work".to_owned(),
        (TaskStanding::Is(TaskStatus::Unverified), _) => "unproved".to_owned(),
        (TaskStanding::Is(TaskStatus::Held), _) => "interrupted".to_owned(),
        (standing, None) => standing.word().to_owned(),
    }
}

/// The sign that stands before a task.
pub(crate) fn mark(standing: &TaskStanding) -> char {
    match standing {
        TaskStanding::Is(TaskStatus::Passed) => '✓',
        TaskStanding::Is(TaskStatus::Claimed | TaskStatus::Unverified) => '○',
        TaskStanding::Is(TaskStatus::Running) => '→',
        TaskStanding::Is(TaskStatus::Failed) => '✗',
        TaskStanding::Is(TaskStatus::Skipped) | TaskStanding::Blocked { .. } => '-',
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) => '·',
    }
}

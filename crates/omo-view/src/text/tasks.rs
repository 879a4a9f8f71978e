//! Section `Tasks` of a run's report, as text.

use omo_core::check::counterfactual::WithoutChange;
use omo_core::text::command_text::typed_form;
use omo_core::text::{format_duration, pluralize, sanitize};

use crate::run_view::{CheckState, CheckView, RunView, Standing, TaskView};
use crate::table::truncate_columns;
use crate::text::text_lines::TextLines;
use crate::text::{ReaderContext, worker_words};

/// Maximum columns of a shown command.
const COMMAND_COLUMNS: usize = 300;
/// Shorter durations are not shown.
const MIN_SHOWN_MILLIS: u64 = 100;

pub(super) fn write_tasks(lines: &mut TextLines, view: &RunView, reader: ReaderContext<'_>) {
    lines.section_heading("Tasks");
    for task in &view.tasks {
        write_task(lines, task, reader);
    }
}

fn write_task(lines: &mut TextLines, task: &TaskView, reader: ReaderContext<'_>) {
    let mut words = vec![sanitize(&task.standing_words(), 80)];
    if task.attempts > 1 {
        words.push(pluralize(task.attempts as usize, "attempt"));
    }
    if !task.history.is_empty() {
        words.push(format_duration(task.worked_millis(reader.now)));
    }
    words.extend(
        task.commit
            .as_ref()
            .map(|commit| format!("commit {}", sanitize(commit, 12))),
    );
    let (mark, id, title) = (
        task.standing.mark(),
        sanitize(&task.id, 64),
        sanitize(task.shown_title(), 120),
    );
    lines.wrapped(
        &format!("{mark} {id}  "),
        &format!("{title} ({})", words.join(", ")),
    );
    if let Some(worker) = worker_words(task, reader.now) {
        lines.wrapped("     ", &worker);
    }
    let before = task
        .history
        .split_last()
        .map(|(_, before)| before)
        .unwrap_or_default();
    for (attempt, number) in before.iter().zip(1..) {
        let end = attempt.end.unwrap_or_default();
        let why = if attempt.why.is_empty() {
            String::new()
        } else {
            format!(": {}", sanitize(&attempt.why, 160))
        };
        let took = format_duration(attempt.millis(reader.now));
        lines.wrapped("     ", &format!("attempt {number}, {took}, {end}{why}"));
    }
    write_checks(lines, task);
    let is_checked = !task.checks.is_empty() && task.standing == Standing::Passed;
    if !is_checked && !task.evidence.is_empty() && task.blocked_by.is_none() && !is_repeated(task) {
        lines.wrapped("     ", &sanitize(&task.evidence, 300));
    }
    for line in &task.evidence_lines {
        lines.whole(&format!("     {}", sanitize(line, COMMAND_COLUMNS + 200)));
    }
    if let Some(note) = &task.note {
        lines.wrapped("     ", &format!("note: {}", sanitize(note, 300)));
    }
}

/// `true` where the evidence repeats the detail of a shown check.
fn is_repeated(row: &TaskView) -> bool {
    row.checks
        .iter()
        .any(|check| check.verdict != Some("green") && row.evidence.ends_with(&check.detail))
}

fn write_checks(lines: &mut TextLines, task: &TaskView) {
    for check in &task.checks {
        let without_work = task
            .without_work
            .iter()
            .find(|result| result.name == check.command);
        let vacuous = match without_work {
            Some(result) => without_words(result.without),
            None if task.already_green.contains(&check.command) => ", as before the work",
            None => "",
        };
        lines.whole(&format!("     {}{vacuous}", check_words(check)));
        if matches!(check.state, CheckState::Green | CheckState::AlreadyGreen) {
            continue;
        }
        for line in &check.output {
            lines.whole(&format!("       > {}", sanitize(line, 160)));
        }
        if let Some(log) = &check.log {
            lines.whole(&format!("       all of it: {}", sanitize(log, 300)));
        }
    }
    for result in &task.without_work {
        // The test of a task that comes first runs without the work only.
        if !task.checks.iter().any(|check| check.command == result.name) {
            let command = truncate_columns(&typed_form(&result.name), COMMAND_COLUMNS);
            lines.whole(&format!("   {command}{}", without_words(result.without)));
        }
    }
}

fn without_words(without: WithoutChange) -> &'static str {
    match without {
        WithoutChange::Red => ", red without the work",
        WithoutChange::NotBuilt => ", cannot be built without the work",
        WithoutChange::Green => ", green without the work, too",
        WithoutChange::Unknown => ", could not be told without the work",
    }
}

pub(super) fn check_words(check: &CheckView) -> String {
    let command = truncate_columns(&typed_form(&check.command), COMMAND_COLUMNS);
    let Some(verdict) = check.verdict else {
        return format!("{command}: not run");
    };
    let detail = sanitize(&check.detail, 160);
    let detail = if detail.is_empty() || detail.contains(verdict) {
        detail
    } else {
        format!("{verdict}, {detail}")
    };
    let took = check
        .duration_millis
        .filter(|millis| *millis >= MIN_SHOWN_MILLIS);
    let took = took
        .map(|millis| format!(", {}", format_duration(millis)))
        .unwrap_or_default();
    format!("{command}: {detail}{took}")
}

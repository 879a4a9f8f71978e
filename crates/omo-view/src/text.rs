//! A [`RunView`] as text: its report and its progress, the most important first.

mod tasks;
mod text_lines;

use omo_core::money::format_dollars;
use omo_core::text::{format_age, format_duration, list_some, pluralize, sanitize};
use omo_core::timestamp::Timestamp;

use crate::run_view::{CheckoutView, QuestionView, RunView, TaskView, UnprovedView, WorkerView};
use crate::screen::line::harmless_text;
use crate::table::{Cell, table_text, truncate_columns};
use crate::text::tasks::check_words;
use crate::text::text_lines::TextLines;

/// Maximum files named in a line.
const NAMED_FILES: usize = 5;
/// Maximum columns of a title.
const TITLE_COLUMNS: usize = 40;
/// Maximum columns of the last cell on an output without a width.
const LAST_CELL_COLUMNS: usize = 100;
pub const WORKER_HEADS: [&str; 6] = ["worker", "state", "at", "last check", "for", "cost"];

/// Time, clock and terminal of the person who reads a text.
#[derive(Clone, Copy)]
pub struct ReaderContext<'a> {
    pub now: Timestamp,
    /// Words for a time on the reader's clock.
    pub clock: &'a dyn Fn(Timestamp) -> String,
    /// Columns of the terminal, if known.
    pub columns: Option<usize>,
}

/// Text of `omo report`.
pub fn report_text(view: &RunView, reader: ReaderContext<'_>) -> String {
    let mut lines = TextLines::new(reader.columns);
    write_head(&mut lines, view);
    tasks::write_tasks(&mut lines, view, reader);
    let checks: Vec<String> = view.final_checks.iter().map(check_words).collect();
    lines.section("Checks of the whole", &checks);
    lines.section("Workers", &worker_lines(view));
    lines.section(
        "Unproved",
        &view
            .not_verified
            .iter()
            .map(|item| unproved_line(view, item))
            .collect::<Vec<_>>(),
    );
    lines.section("Found beside that", &view.findings);
    lines.section(
        "Answers",
        &view
            .questions
            .iter()
            .filter_map(|question| answer_line(question, reader))
            .collect::<Vec<_>>(),
    );
    lines.section(
        "Not committed",
        &view
            .checkout
            .as_ref()
            .map(uncommitted_lines)
            .unwrap_or_default(),
    );
    lines.numbered("Next", &view.next_steps);
    lines.into_text()
}

/// Text of `omo run show`.
pub fn progress_text(view: &RunView, reader: ReaderContext<'_>) -> String {
    let mut lines = TextLines::new(reader.columns);
    write_head(&mut lines, view);
    lines.section_heading("Tasks");
    lines.whole(task_table(view, reader).trim_end());
    lines.section("Workers", &worker_lines(view));
    lines.section("Found beside that", &view.findings);
    lines.into_text()
}

fn write_head(lines: &mut TextLines, view: &RunView) {
    let style = view.heading_style();
    lines.heading(&format!("{style}{}{style:#}", view.heading));
    let facts: Vec<(&str, String)> = view
        .facts
        .iter()
        .map(|(label, value)| (*label, sanitize(value, 300)))
        .collect();
    lines.rows(&facts);
    for question in view.questions.iter().filter(|question| question.is_open) {
        let asked = format!("{}: {}", question.id, sanitize(&question.question, 600));
        let answers = question
            .options
            .iter()
            .map(|option| format!("`omo answer {} {option}`", question.id));
        let points: Vec<String> = std::iter::once(asked)
            .chain(answers)
            .chain(question.ways_out.iter().cloned())
            .collect();
        lines.section("Asked", &points);
    }
}

/// Lines of `WorkerView`s, then the notes about them.
pub fn worker_lines(view: &RunView) -> Vec<String> {
    let workers = view.workers.iter().map(|worker| worker_line(view, worker));
    workers.chain(view.worker_notes.iter().cloned()).collect()
}

fn worker_line(view: &RunView, worker: &WorkerView) -> String {
    let many = if worker.tasks.len() == 1 { "" } else { "s" };
    let tasks = sanitize(&worker.tasks.join(", "), 60);
    let cost = if worker.cost_micros == 0 {
        String::new()
    } else {
        format!(", {}", format_dollars(worker.cost_micros))
    };
    format!(
        "{} (wave {}, {}{many} {tasks}): {}{cost}",
        worker.name, worker.wave, view.task_word, worker.status
    )
}

fn unproved_line(view: &RunView, item: &UnprovedView) -> String {
    let task = item
        .task
        .as_ref()
        .map(|id| format!("{} {}: ", view.task_word, sanitize(id, 64)))
        .unwrap_or_default();
    format!("{task}{}", sanitize(&item.reason, 300))
}

fn answer_line(question: &QuestionView, reader: ReaderContext<'_>) -> Option<String> {
    let answer = sanitize(question.answer.as_ref()?, 64);
    let asked = sanitize(question.question.lines().next().unwrap_or_default(), 120);
    let (by, at) = (
        question.by.as_ref()?.describe(),
        (reader.clock)(question.at?),
    );
    Some(format!("{}: {asked} {answer}, by {by}, {at}", question.id))
}

/// Lines of a `CheckoutView`; none where all of it is committed.
pub fn uncommitted_lines(checkout: &CheckoutView) -> Vec<String> {
    let (run_files, other_files) = (&checkout.uncommitted, &checkout.other_uncommitted);
    let counted = [
        (
            run_files,
            format!("{} of this run", pluralize(run_files.len(), "file")),
        ),
        (other_files, pluralize(other_files.len(), "other file")),
    ];
    counted
        .into_iter()
        .filter(|(files, _)| !files.is_empty())
        .map(|(files, words)| {
            let names = list_some(files.iter().map(String::as_str), NAMED_FILES);
            format!("{words}: {}", sanitize(&names, 300))
        })
        .collect()
}

pub fn working_lines(view: &RunView, now: Timestamp) -> Vec<String> {
    view.tasks
        .iter()
        .filter_map(|task| {
            let worker = worker_words(task, now)?;
            let title = sanitize(&task.title, 80);
            Some(format!("{} {}, {title}: {worker}", view.task_word, task.id))
        })
        .collect()
}

/// Worker of a running task, and the time since it began.
fn worker_words(task: &TaskView, now: Timestamp) -> Option<String> {
    let running = task.running.as_ref()?;
    let ended_words = running
        .ended
        .map(|ended_words| format!("; {ended_words}"))
        .unwrap_or_default();
    Some(format!(
        "{} for {}{ended_words}",
        running.worker,
        format_age(Some(running.since), now)
    ))
}

fn task_table(view: &RunView, reader: ReaderContext<'_>) -> String {
    let rows = view.tasks.iter().map(|task| task_cells(task, reader));
    table_text([view.task_word, "state", "time", "title"], rows.collect())
}

fn task_cells(task: &TaskView, reader: ReaderContext<'_>) -> [Cell; 4] {
    let time = if task.history.is_empty() {
        String::new()
    } else {
        format_duration(task.worked_millis(reader.now))
    };
    let about = match worker_words(task, reader.now) {
        Some(worker) => worker,
        None if task.blocked_by.is_some() => String::new(),
        None => sanitize(&task.evidence, 200),
    };
    let about = if task.attempts > 1 {
        let attempts = pluralize(task.attempts as usize, "attempt");
        format!("{attempts}; {about}")
    } else {
        about
    };
    let title = truncate_columns(&sanitize(task.shown_title(), 120), TITLE_COLUMNS);
    let title = if about.is_empty() {
        title
    } else {
        format!("{title} — {about}")
    };
    let state = sanitize(&task.standing_words(), 80);
    let state = format!("{} {state}", task.standing.mark());
    let used = task.id.len().max(4) + state.chars().count().max(12) + 16;
    let room = reader.columns.map_or(LAST_CELL_COLUMNS, |columns| {
        columns.saturating_sub(used).max(TITLE_COLUMNS)
    });
    [
        Cell::plain(sanitize(&task.id, 64)),
        Cell::new(state, task.style()),
        Cell::plain(time),
        Cell::plain(truncate_columns(&title, room)),
    ]
}

/// Cells below [`WORKER_HEADS`].
pub fn worker_cells(worker: &WorkerView) -> [Cell; 6] {
    let cost = if worker.cost_micros == 0 {
        String::new()
    } else {
        format_dollars(worker.cost_micros)
    };
    [
        Cell::plain(harmless_text(&worker.name)),
        Cell::new(harmless_text(&worker.status), worker.style()),
        Cell::plain(harmless_text(&worker.at)),
        Cell::plain(truncate_columns(&harmless_text(&worker.check), 32)),
        Cell::plain(harmless_text(&worker.time)),
        Cell::plain(cost),
    ]
}

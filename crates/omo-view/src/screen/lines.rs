//! Lines of the screen that shows a run. Rows go first to the keys, the title, open questions and workers.

use anstyle::{AnsiColor, Style};
use omo_core::text::{format_clock, format_minutes};
use omo_core::timestamp::Timestamp;
use unicode_width::UnicodeWidthStr;

use crate::run_view::{Bound, QuestionView, RunView, Subject, WorkerView};
use crate::screen::line::{ScreenLine, WIDE, harmless_text, shorten, wrapped};
use crate::screen::lists::{check_lines, millis_between, shown_checks, task_lines, worker_lines};
use crate::table::truncate_columns;

/// Minimum rows of a list on a screen that is not tiny.
const MIN_LIST: usize = 3;

/// Style of lines that need an action of the reader.
const ATTENTION: Style = AnsiColor::Yellow.on_default();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    pub columns: usize,
    pub rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine<'a> {
    Keys,
    /// Prompt before a stop.
    AskToStop,
    Message(&'a str),
}

/// The whole screen: exactly `size.rows` lines, none wider than `size.columns`.
pub fn screen_lines(
    view: &RunView,
    now: Timestamp,
    size: ScreenSize,
    last: LastLine<'_>,
) -> Vec<ScreenLine> {
    let mut room = Room { left: size.rows };
    let columns = size.columns;
    let most_rows = (size.rows / 2).max(1);
    let has_last_line = room.take(1) > 0;
    let title = (room.take(1) > 0).then(|| title_line(view, now, columns));
    let question = open_question_lines(view, columns);
    let question_rows = room.take(question.len().min(most_rows));
    let worker_rows = room.take(view.workers.len().min(most_rows));
    let needs = if question_rows == 0 && view.is_open() {
        need_lines(&view.workers, columns)
    } else {
        Vec::new()
    };
    let needs = room.shorten(needs, MIN_LIST);
    let task_count = view.listed_tasks().len();
    let first_tasks = room.take(task_count.min(MIN_LIST));
    let sentence = wrapped(&sentence(view), columns, "", view.heading_style());
    let sentence = room.shorten(sentence, if size.rows < 12 { 1 } else { 3 });
    let bounds = bound_lines(&view.bounds, now, columns);
    let bound_rows = room.take(bounds.len());
    // Checks beyond the screen are not drawn: there may be thousands.
    let checks = check_lines(shown_checks(view).into_iter().take(size.rows), columns);
    let first_checks = room.take(checks.len().min(MIN_LIST));
    let notes = note_lines(&view.notes, columns);
    let first_notes = room.take(notes.len().min(MIN_LIST));
    let has_worker_head = room.take(usize::from(worker_rows > 0)) > 0;
    let has_task_head = room.take(usize::from(first_tasks > 0)) > 0;
    let task_rows = first_tasks + room.take(task_count - first_tasks);
    let check_rows = first_checks + room.take(checks.len() - first_checks);
    let note_rows = first_notes + room.take(notes.len() - first_notes);

    let (tasks, left_out) = task_lines(view, now, task_rows, has_task_head, columns);
    let workers_out = view.workers.len().saturating_sub(worker_rows);
    let parts = [
        title.into_iter().chain(sentence).collect(),
        shorten_question(question, question_rows),
        worker_lines(&view.workers, worker_rows, has_worker_head),
        needs,
        tasks,
        shorten(checks, check_rows),
        shorten(notes, note_rows),
        bounds.into_iter().take(bound_rows).collect(),
    ];
    let mut lines = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !lines.is_empty() && room.take(1) > 0 {
            lines.push(ScreenLine::default());
        }
        lines.extend(part);
    }
    lines.extend(std::iter::repeat_n(ScreenLine::default(), room.left));
    if has_last_line {
        lines.push(last_line(last, left_out + workers_out, columns));
    }
    lines.into_iter().map(|line| line.fit(columns)).collect()
}

fn open_question_lines(view: &RunView, columns: usize) -> Vec<ScreenLine> {
    let open = view.questions.iter().filter(|question| question.is_open);
    let text: Vec<String> = open.flat_map(question_lines).collect();
    wrapped(&text.join("\n"), columns, "? ", ATTENTION.bold())
}

fn need_lines(workers: &[WorkerView], columns: usize) -> Vec<ScreenLine> {
    workers
        .iter()
        .filter_map(WorkerView::need_line)
        .flat_map(|line| wrapped(&line, columns, "? ", ATTENTION))
        .collect()
}

fn note_lines(notes: &[String], columns: usize) -> Vec<ScreenLine> {
    notes
        .iter()
        .flat_map(|note| wrapped(note, columns, "", Style::new().dimmed()))
        .collect()
}

/// Question with its `omo answer` command.
pub fn question_lines(question: &QuestionView) -> Vec<String> {
    let lines = question
        .question
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned);
    let answer = format!(
        "To answer: omo answer {} {}",
        question.id,
        question.options.join("|")
    );
    lines
        .chain((!question.options.is_empty()).then_some(answer))
        .collect()
}

pub fn sentence(view: &RunView) -> String {
    if view.progress.is_empty() {
        view.heading.clone()
    } else {
        format!("{}: {}", view.heading, view.progress)
    }
}

fn kind(view: &RunView) -> String {
    match view.subject {
        Subject::Plan => format!("plan run, {}", view.mode),
        Subject::Ultrawork => "ultrawork run".to_owned(),
    }
}

struct Room {
    left: usize,
}

impl Room {
    fn take(&mut self, wanted: usize) -> usize {
        let taken = wanted.min(self.left);
        self.left -= taken;
        taken
    }

    fn shorten(&mut self, lines: Vec<ScreenLine>, limit: usize) -> Vec<ScreenLine> {
        let rows = self.take(lines.len().min(limit));
        shorten(lines, rows)
    }
}

/// Cuts a question before its last line, the `omo answer` command.
fn shorten_question(mut lines: Vec<ScreenLine>, rows: usize) -> Vec<ScreenLine> {
    let answer = if lines.len() > rows && rows > 1 {
        lines.pop()
    } else {
        None
    };
    let rows = rows - usize::from(answer.is_some());
    shorten(lines, rows).into_iter().chain(answer).collect()
}

fn title_line(view: &RunView, now: Timestamp, columns: usize) -> ScreenLine {
    let until = view.ended_at.unwrap_or(now);
    let time = format_clock(millis_between(view.opened_at, until));
    let kind = if columns < WIDE {
        String::new()
    } else {
        format!("{}  ", kind(view))
    };
    let behind = format!("  {kind}{time}");
    let title = truncate_columns(
        &harmless_text(view.shown_title()),
        columns.saturating_sub(behind.width()),
    );
    let gap = " ".repeat(columns.saturating_sub(title.width() + behind.width()));
    ScreenLine::new(Style::new().bold(), title)
        .with(Style::new(), gap)
        .with(Style::new().dimmed(), format!("  {kind}"))
        .with(Style::new(), time)
}

fn bound_lines(bounds: &[Bound], now: Timestamp, columns: usize) -> Vec<ScreenLine> {
    let words = bounds.iter().map(|bound| match bound {
        Bound::Words(words) => words.clone(),
        Bound::Time { left_millis, at } => {
            let passed = at
                .and_then(|at| now.millis_since(at))
                .unwrap_or_default()
                .max(0);
            let left = u64::try_from(left_millis.saturating_sub(passed)).unwrap_or_default();
            format!("{} left", format_minutes(left / 60_000))
        }
    });
    let words: Vec<String> = words.collect();
    wrapped(&words.join(" · "), columns, "", Style::new())
}

fn last_line(last: LastLine<'_>, left_out: usize, columns: usize) -> ScreenLine {
    let key = Style::new().bold();
    let words = Style::new().dimmed();
    let line = match last {
        LastLine::Keys => ScreenLine::new(key, "r")
            .with(words, " report  ")
            .with(key, "s")
            .with(words, " stop  ")
            .with(key, "q")
            .with(words, " leave"),
        LastLine::AskToStop => ScreenLine::new(
            ATTENTION.bold(),
            "Stop this run? y stops it, any other key does not",
        ),
        LastLine::Message(text) => ScreenLine::new(ATTENTION, harmless_text(text)),
    };
    if left_out == 0 {
        return line;
    }
    let rest = format!("  {left_out} not shown");
    let gap = " ".repeat(columns.saturating_sub(line.width() + rest.width()));
    line.with(words, format!("{gap}{rest}"))
}

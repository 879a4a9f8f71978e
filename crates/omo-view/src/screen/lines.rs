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
    let last_rows = room.take(1);
    let title_rows = room.take(1);
    let open_questions = view.questions.iter().filter(|question| question.is_open);
    let question_text: Vec<String> = open_questions.flat_map(question_lines).collect();
    let question = wrapped(&question_text.join("\n"), columns, "? ", ATTENTION.bold());
    let question_rows = room.take(question.len().min((size.rows / 2).max(1)));
    let worker_rows = room.take(view.workers.len().min((size.rows / 2).max(1)));
    let waiting = view
        .workers
        .iter()
        .filter(|_| view.is_open() && question_rows == 0);
    let needs: Vec<ScreenLine> = waiting
        .filter_map(WorkerView::need_line)
        .flat_map(|line| wrapped(&line, columns, "? ", ATTENTION))
        .collect();
    let need_rows = room.take(needs.len().min(MIN_LIST));
    let has_list = view.listed_tasks().len() + view.workers.len() > 0;
    let first_tasks = room.take(if has_list {
        view.listed_tasks().len().min(MIN_LIST)
    } else {
        0
    });
    let sentence = wrapped(&sentence(view), columns, "", view.heading_style());
    let sentence_rows = room.take(sentence.len().min(if size.rows < 12 { 1 } else { 3 }));
    let bounds = bound_lines(&view.bounds, now, columns);
    let bound_rows = room.take(bounds.len());
    // Checks beyond the screen are not drawn: there may be thousands.
    let checks = check_lines(shown_checks(view).into_iter().take(size.rows), columns);
    let first_checks = room.take(checks.len().min(MIN_LIST));
    let notes: Vec<ScreenLine> = view
        .notes
        .iter()
        .flat_map(|note| wrapped(note, columns, "", Style::new().dimmed()))
        .collect();
    let first_notes = room.take(notes.len().min(MIN_LIST));
    let worker_head = room.take(usize::from(worker_rows > 0));
    let task_head = room.take(usize::from(first_tasks > 0));
    let task_rows = first_tasks + room.take(view.listed_tasks().len() - first_tasks);
    let check_rows = first_checks + room.take(checks.len() - first_checks);
    let note_rows = first_notes + room.take(notes.len() - first_notes);

    let workers = worker_lines(&view.workers, worker_rows, worker_head > 0);
    let (tasks, left_out) = task_lines(view, now, task_rows, task_head > 0, columns);
    let workers_out = view.workers.len().saturating_sub(worker_rows);
    let title = (title_rows > 0).then(|| title_line(view, now, columns));
    let head: Vec<ScreenLine> = title
        .into_iter()
        .chain(shorten(sentence, sentence_rows))
        .collect();
    let parts = [
        head,
        shorten_question(question, question_rows),
        workers,
        shorten(needs, need_rows),
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
    if last_rows > 0 {
        lines.push(last_line(last, left_out + workers_out, columns));
    }
    lines.into_iter().map(|line| line.fit(columns)).collect()
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

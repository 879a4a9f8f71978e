//! The lines of a screen that shows a run: at most as many, and as wide, as the terminal has room for. Pure.
//!
//! The most important has room first: the keys, the title, a question, what is at work. Text from outside is made
//! harmless here, by [`harmless_text`].

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::parallel::WorkerRow;
use unicode_width::UnicodeWidthStr;

use crate::output::table::truncate_columns;
use crate::watch::run_view::{Bound, CheckView, RunView, TaskRank, TaskView, Tone};

/// No text of a screen is longer, in characters.
const MAX_CHARS: usize = 400;
/// So many rows a list has at least, where there are as many and the screen is not tiny.
const MIN_LIST: usize = 3;
/// In a list of fewer rows none says how many are left out: the last line of the screen does.
const LIST_WITH_REST: usize = 4;
/// A screen of so many columns shows who works on a task.
const WIDE: usize = 60;

/// How much room a screen has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// What the last line of a screen says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLine<'a> {
    /// Which keys there are.
    Keys,
    /// Whether the run is to be stopped.
    AskToStop,
    /// Something that was just done, or that failed.
    Message(&'a str),
}

/// Texts with their styles, beside each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenLine(Vec<(Style, String)>);

impl ScreenLine {
    fn new(style: Style, text: impl Into<String>) -> Self {
        Self::default().with(style, text)
    }

    fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// As much of it as so many columns have room for.
    fn fit(self, columns: usize) -> Self {
        let mut left = columns;
        let mut fitting = Vec::new();
        let is_whole = self.width() <= columns;
        for (style, text) in self.0 {
            let text = if is_whole { text } else { truncate_columns(&text, left) };
            // What is cut by a wide character leaves a column.
            left = left.saturating_sub(text.width());
            fitting.push((style, text));
            if left == 0 {
                break;
            }
        }
        Self(fitting)
    }

    /// As it is written to a terminal, with its colours.
    pub(crate) fn styled(&self) -> String {
        let mut styled = String::new();
        for (style, text) in &self.0 {
            let _ = write!(styled, "{style}{text}{style:#}");
        }
        styled
    }

    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The lines of a screen, exactly as many as it has rows.
pub(crate) fn screen_lines(view: &RunView, now: Timestamp, size: ScreenSize, last: LastLine<'_>) -> Vec<ScreenLine> {
    let mut room = Room { left: size.rows };
    let columns = size.columns;
    let last_rows = room.take(1);
    let title_rows = room.take(1);
    let question = wrapped(&view.question.join("\n"), columns, "? ", tone_style(Tone::Attention).bold());
    let question_rows = room.take(question.len().min((size.rows / 2).max(1)));
    let worker_rows = room.take(view.workers.len().min((size.rows / 2).max(1)));
    let has_list = view.tasks.len() + view.workers.len() > 0;
    let first_tasks = room.take(if has_list { view.tasks.len().min(MIN_LIST) } else { 0 });
    let sentence = wrapped(&view.sentence, columns, "", tone_style(view.tone).bold());
    let sentence_rows = room.take(sentence.len().min(if size.rows < 12 { 1 } else { 3 }));
    let bounds = bound_lines(&view.bounds, now, columns);
    let bound_rows = room.take(bounds.len());
    let checks = check_lines(&view.checks, columns);
    let few_checks = room.take(checks.len().min(MIN_LIST));
    let notes: Vec<ScreenLine> =
        view.notes.iter().flat_map(|note| wrapped(note, columns, "", Style::new().dimmed())).collect();
    let note_rows = room.take(notes.len().min(MIN_LIST));
    let worker_head = room.take(usize::from(worker_rows > 0));
    let task_head = room.take(usize::from(first_tasks > 0));
    let task_rows = first_tasks + room.take(view.tasks.len() - first_tasks);
    let check_rows = few_checks + room.take(checks.len() - few_checks);
    let note_rows = note_rows + room.take(notes.len() - note_rows);

    let workers = worker_lines(&view.workers, worker_rows, worker_head > 0);
    let (tasks, left_out) = task_lines(view, now, task_rows, task_head > 0, columns);
    let workers_out = view.workers.len().saturating_sub(worker_rows);
    let title = (title_rows > 0).then(|| title_line(view, now, columns));
    let head: Vec<ScreenLine> = title.into_iter().chain(shorten(sentence, sentence_rows)).collect();
    let parts = [
        head,
        shorten_question(question, question_rows),
        workers,
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

/// The rows of a screen that are not given away yet.
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

/// Text from outside without anything that a terminal could take for more than text, on one line.
pub(crate) fn harmless_text(text: &str) -> String {
    // What is cut off is looked at by nothing: a text may be as long as its author likes.
    let text: String = text.chars().take(4 * MAX_CHARS).collect();
    let plain = anstream::adapter::strip_str(&text).to_string();
    // What takes no room may stand on a character without end, and join others to one.
    let takes_room = |char: &char| unicode_width::UnicodeWidthChar::width(*char).unwrap_or(0) > 0;
    sanitize(&plain, MAX_CHARS).chars().filter(takes_room).collect()
}

pub(crate) fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Attention => AnsiColor::Yellow.on_default(),
        Tone::AtWork => AnsiColor::Cyan.on_default(),
    }
}

/// A text on as many lines as it needs; `sign` stands before the first.
fn wrapped(text: &str, columns: usize, sign: &str, style: Style) -> Vec<ScreenLine> {
    let indent = " ".repeat(sign.width());
    let room = columns.saturating_sub(sign.width()).max(1);
    let lines = text.lines().map(harmless_text).filter(|line| !line.is_empty());
    let broken: Vec<String> =
        lines.flat_map(|line| textwrap::wrap(&line, room).into_iter().map(String::from).collect::<Vec<_>>()).collect();
    let with_sign = broken.into_iter().enumerate().map(|(place, line)| {
        let before = if place == 0 { sign } else { &indent };
        ScreenLine::new(style, format!("{before}{line}"))
    });
    with_sign.collect()
}

/// The first lines, as many as there is room for; what is left out leaves a sign.
fn shorten(mut lines: Vec<ScreenLine>, rows: usize) -> Vec<ScreenLine> {
    if lines.len() > rows {
        lines.truncate(rows);
        if let Some((_, text)) = lines.last_mut().and_then(|line| line.0.last_mut()) {
            text.push('…');
        }
    }
    lines
}

/// The lines of a question, of which the last says how it is answered.
fn shorten_question(mut lines: Vec<ScreenLine>, rows: usize) -> Vec<ScreenLine> {
    let answer = if lines.len() > rows && rows > 1 { lines.pop() } else { None };
    let rows = rows - usize::from(answer.is_some());
    shorten(lines, rows).into_iter().chain(answer).collect()
}

/// What is shown of a run on top: its title, what it is, and for how long it goes on.
fn title_line(view: &RunView, now: Timestamp, columns: usize) -> ScreenLine {
    let until = view.ended.unwrap_or(now);
    let time = view.began.map(|began| clock(millis_between(began, until))).unwrap_or_default();
    let kind = if columns < WIDE { String::new() } else { format!("{}  ", harmless_text(&view.kind)) };
    let behind = format!("  {kind}{time}");
    let title = truncate_columns(&harmless_text(&view.title), columns.saturating_sub(behind.width()));
    let gap = " ".repeat(columns.saturating_sub(title.width() + behind.width()));
    ScreenLine::new(Style::new().bold(), title)
        .with(Style::new(), gap)
        .with(Style::new().dimmed(), format!("  {kind}"))
        .with(Style::new(), time)
}

fn millis_between(from: Timestamp, until: Timestamp) -> u64 {
    u64::try_from(until.millis_since(from).unwrap_or_default()).unwrap_or_default()
}

/// A time as a clock shows it: `0:05`, `12:05`, `1:02:05`.
fn clock(millis: u64) -> String {
    let seconds = millis / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// What is left of the bounds, beside each other.
fn bound_lines(bounds: &[Bound], now: Timestamp, columns: usize) -> Vec<ScreenLine> {
    let words = bounds.iter().map(|bound| match bound {
        Bound::Words(words) => words.clone(),
        Bound::Time { left_millis, at } => {
            let passed = at.and_then(|at| now.millis_since(at)).unwrap_or_default().max(0);
            let left = u64::try_from(left_millis.saturating_sub(passed)).unwrap_or_default();
            format!("{} left", minutes_words(left / 60_000))
        }
    });
    let words: Vec<String> = words.collect();
    wrapped(&words.join(" · "), columns, "", Style::new())
}

fn minutes_words(minutes: u64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, 0) => "under a minute".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Rows whose cells stand in line; the last cell takes what is left of a line.
fn table(rows: Vec<Vec<(Style, String)>>) -> Vec<ScreenLine> {
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, (_, text)) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.width());
        }
    }
    let line = |row: Vec<(Style, String)>| {
        let last = row.len().saturating_sub(1);
        let cells = row.into_iter().zip(&widths).enumerate().map(|(place, ((style, text), width))| {
            let pad = if place == last || *width == 0 { 0 } else { width - text.width() + 2 };
            [(style, text), (Style::new(), " ".repeat(pad))]
        });
        ScreenLine(cells.flatten().collect())
    };
    rows.into_iter().map(line).collect()
}

fn heads(names: &[&str]) -> Vec<(Style, String)> {
    names.iter().map(|name| (Style::new().dimmed(), (*name).to_owned())).collect()
}

/// The rows of parallel workers; those that have come to a good end are left out first, then the last.
fn worker_lines(workers: &[WorkerRow], rows: usize, has_heads: bool) -> Vec<ScreenLine> {
    let mut surplus = workers.len().saturating_sub(rows);
    let mut fitting: Vec<&WorkerRow> = workers.iter().collect();
    fitting.retain(|row| {
        let stays = surplus == 0 || row.is_success != Some(true);
        surplus -= usize::from(!stays);
        stays
    });
    fitting.truncate(rows);
    let cells = |row: &&WorkerRow| {
        let tone = match row.is_success {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Plain,
        };
        let plain = |text: &str| (Style::new(), harmless_text(text));
        vec![
            plain(&row.name),
            (tone_style(tone), harmless_text(&row.status)),
            plain(&row.task),
            (Style::new(), truncate_columns(&harmless_text(&row.check), 32)),
            plain(&row.time),
            plain(&row.cost),
        ]
    };
    let names = has_heads.then(|| heads(&["worker", "state", "at", "last check", "for", "cost"]));
    table(names.into_iter().chain(fitting.iter().map(cells)).collect())
}

/// The rows of tasks, and how many are left out of which no line among them tells.
fn task_lines(
    view: &RunView,
    now: Timestamp,
    rows: usize,
    has_heads: bool,
    columns: usize,
) -> (Vec<ScreenLine>, usize) {
    let tasks = &view.tasks;
    let is_whole = tasks.len() <= rows;
    let tells_rest = !is_whole && rows >= LIST_WITH_REST;
    let room = if tells_rest { rows - 1 } else { rows };
    let mut chosen: Vec<(usize, &TaskView)> = tasks.iter().enumerate().collect();
    chosen.sort_by_key(|(place, task)| {
        (task.rank, if task.rank == TaskRank::Over { tasks.len() - place } else { *place })
    });
    let left_out: Vec<&TaskView> = chosen.iter().skip(room).map(|(_, task)| *task).collect();
    chosen.truncate(room);
    chosen.sort_by_key(|(place, _)| *place);
    let has_workers = columns >= WIDE && chosen.iter().any(|(_, task)| !task.worker.is_empty());
    let cells = |task: &TaskView| {
        let style = tone_style(task.tone);
        let millis = task.worked_millis + task.since.map(|since| millis_between(since, now)).unwrap_or_default();
        let time = if millis == 0 && task.since.is_none() { String::new() } else { clock(millis) };
        let mut row = vec![
            (style, format!("{} {}", task.mark, truncate_columns(&harmless_text(&task.id), 16))),
            (style, truncate_columns(&harmless_text(&task.words), if columns < WIDE { 11 } else { 24 })),
            (Style::new(), time),
        ];
        if has_workers {
            row.push((Style::new().dimmed(), truncate_columns(&harmless_text(&task.worker), 20)));
        }
        row.push((Style::new(), harmless_text(&task.about)));
        row
    };
    let mut names = vec![view.task_word, "state", "time"];
    names.extend(has_workers.then_some("who"));
    names.push("title");
    let names = has_heads.then(|| heads(&names));
    let mut lines = table(names.into_iter().chain(chosen.into_iter().map(|(_, task)| cells(task))).collect());
    if tells_rest {
        lines.push(ScreenLine::new(Style::new().dimmed(), rest_words(&left_out)));
        return (lines, 0);
    }
    (lines, left_out.len())
}

/// `… and 12 more: 10 passed, 2 pending`.
fn rest_words(left_out: &[&TaskView]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for task in left_out {
        // `blocked by 3` is one of many words for the same.
        let word = task.words.split(' ').next().unwrap_or_default();
        match counts.iter_mut().find(|(known, _)| known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word.to_owned(), 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {}", harmless_text(word))).collect();
    format!("… and {} more: {}", left_out.len(), words.join(", "))
}

fn check_lines(checks: &[CheckView], columns: usize) -> Vec<ScreenLine> {
    let cells = |check: &CheckView| {
        let of = if check.of.is_empty() { String::new() } else { format!("{}: ", harmless_text(&check.of)) };
        let sign = match check.tone {
            Tone::Good => '✓',
            Tone::Bad => '✗',
            Tone::AtWork => '→',
            Tone::Plain | Tone::Attention => '·',
        };
        let command = truncate_columns(&format!("{of}{}", harmless_text(&check.command)), (columns * 2 / 5).max(12));
        let style = tone_style(check.tone);
        vec![
            (style, format!("{sign} {command}")),
            (style, harmless_text(&check.words)),
            (Style::new().dimmed(), harmless_text(&check.last_line)),
        ]
    };
    table(checks.iter().map(cells).collect())
}

/// The last line of a screen: what may be pressed, and how much is not shown.
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
        LastLine::AskToStop => {
            ScreenLine::new(tone_style(Tone::Attention).bold(), "Stop this run? y stops it, any other key does not")
        }
        LastLine::Message(text) => ScreenLine::new(tone_style(Tone::Attention), harmless_text(text)),
    };
    if left_out == 0 {
        return line;
    }
    let rest = format!("  {left_out} not shown");
    let gap = " ".repeat(columns.saturating_sub(line.width() + rest.width()));
    line.with(words, format!("{gap}{rest}"))
}

//! The lists of a screen: workers, tasks and checks, with what is left out where there is no room. Pure.

use anstyle::Style;
use omo_core::timestamp::Timestamp;
use omo_engine::parallel::WorkerRow;
use unicode_width::UnicodeWidthStr;

use crate::output::table::truncate_columns;
use crate::watch::run_view::{CheckView, RunView, TaskRank, TaskView, Tone};
use crate::watch::screen_line::{ScreenLine, WIDE, harmless_text, tone_style};

/// In a list of fewer rows none says how many are left out: the last line of the screen does.
const LIST_WITH_REST: usize = 4;

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
pub(crate) fn worker_lines(workers: &[WorkerRow], rows: usize, has_heads: bool) -> Vec<ScreenLine> {
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
pub(crate) fn task_lines(
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

/// The rows of checks.
pub(crate) fn check_lines<'c>(checks: impl Iterator<Item = &'c CheckView>, columns: usize) -> Vec<ScreenLine> {
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
    table(checks.map(cells).collect())
}

/// How long it was between two moments, in milliseconds; none where the second came first.
pub(crate) fn millis_between(from: Timestamp, until: Timestamp) -> u64 {
    u64::try_from(until.millis_since(from).unwrap_or_default()).unwrap_or_default()
}

/// A time as a clock shows it: `0:05`, `12:05`, `1:02:05`.
pub(crate) fn clock(millis: u64) -> String {
    let seconds = millis / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

//! The lists of a screen: workers, tasks and checks, with what is left out where there is no room. Pure.

use anstyle::Style;
use omo_core::text::format_clock;
use omo_core::timestamp::Timestamp;
use omo_engine::parallel::WorkerRow;

use crate::output::table::{Cell, align_columns, head_cells, truncate_columns};
use crate::parallel_workers::screen::{WORKER_HEADS, worker_cells};
use crate::watch::run_view::{CheckView, RunView, TaskRank, TaskView, Tone};
use crate::watch::screen_line::{ScreenLine, WIDE, harmless_text, tone_style};

/// In a list of fewer rows none says how many are left out: the last line of the screen does.
const LIST_WITH_REST: usize = 4;

/// Rows whose cells stand in line; the last cell takes what is left of a line.
fn table(rows: impl IntoIterator<Item = Vec<Cell>>) -> Vec<ScreenLine> {
    let mut rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    align_columns(&mut rows);
    let line = |row: Vec<Cell>| {
        let cells = row.into_iter().map(|cell| [(cell.style, cell.text), (Style::new(), " ".repeat(cell.blanks))]);
        ScreenLine(cells.flatten().collect())
    };
    rows.into_iter().map(line).collect()
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
    let heads = has_heads.then(|| head_cells(WORKER_HEADS));
    table(heads.into_iter().chain(fitting.into_iter().map(worker_cells)).map(Vec::from))
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
        let running = task.since.map(|since| millis_between(since, now)).unwrap_or_default();
        let millis = i64::try_from(task.worked_millis).unwrap_or(i64::MAX).saturating_add(running);
        let time = if millis == 0 && task.since.is_none() { String::new() } else { format_clock(millis) };
        let mut row = vec![
            Cell::new(format!("{} {}", task.mark, truncate_columns(&harmless_text(&task.id), 16)), style),
            Cell::new(truncate_columns(&harmless_text(&task.words), if columns < WIDE { 11 } else { 24 }), style),
            Cell::plain(time),
        ];
        if has_workers {
            row.push(Cell::new(truncate_columns(&harmless_text(&task.worker), 20), Style::new().dimmed()));
        }
        row.push(Cell::plain(harmless_text(&task.about)));
        row
    };
    let heads = || {
        let word = view.task_word;
        if has_workers {
            head_cells([word, "state", "time", "who", "title"]).into()
        } else {
            head_cells([word, "state", "time", "title"]).into()
        }
    };
    let mut lines = table(has_heads.then(heads).into_iter().chain(chosen.into_iter().map(|(_, task)| cells(task))));
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
            Cell::new(format!("{sign} {command}"), style),
            Cell::new(harmless_text(&check.words), style),
            Cell::new(harmless_text(&check.last_line), Style::new().dimmed()),
        ]
    };
    table(checks.map(cells))
}

/// How long it was between two moments, in milliseconds; none where the second came first.
pub(crate) fn millis_between(from: Timestamp, until: Timestamp) -> i64 {
    until.millis_since(from).unwrap_or_default()
}

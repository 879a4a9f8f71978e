//! Lists of a screen: workers, tasks and checks, with a count of the rows that have no room.

use anstyle::Style;
use omo_core::text::format_clock;
use omo_core::timestamp::Timestamp;

use crate::run_view::{CheckState, CheckView, RunView, Standing, Subject, TaskView, WorkerView};
use crate::screen::line::{ScreenLine, WIDE, harmless_text};
use crate::table::{Cell, align_columns, head_cells, truncate_columns};
use crate::text::{WORKER_HEADS, worker_cells};

/// Minimum rows of a list that counts its left-out rows itself; below, the screen's last line does.
const LIST_WITH_REST: usize = 4;

fn table(rows: impl IntoIterator<Item = Vec<Cell>>) -> Vec<ScreenLine> {
    let mut rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    align_columns(&mut rows);
    rows.into_iter()
        .map(|row| {
            let cells = row.into_iter().map(|cell| {
                [
                    (cell.style, cell.text),
                    (Style::new(), " ".repeat(cell.blanks)),
                ]
            });
            ScreenLine(cells.flatten().collect())
        })
        .collect()
}

/// Rows of parallel workers. Without room, successful ones are left out first, then the last.
pub(super) fn worker_lines(
    workers: &[WorkerView],
    rows: usize,
    has_heads: bool,
) -> Vec<ScreenLine> {
    let mut surplus = workers.len().saturating_sub(rows);
    let mut fitting: Vec<&WorkerView> = workers.iter().collect();
    fitting.retain(|row| {
        let stays = surplus == 0 || row.is_success != Some(true);
        surplus -= usize::from(!stays);
        stays
    });
    fitting.truncate(rows);
    let heads = has_heads.then(|| head_cells(WORKER_HEADS));
    table(
        heads
            .into_iter()
            .chain(fitting.into_iter().map(worker_cells))
            .map(Vec::from),
    )
}

/// Importance of a task; without room, the first ranks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TaskRank {
    AtWork,
    Failed,
    Next,
    Later,
    Over,
}

fn rank(task: &TaskView) -> TaskRank {
    match task.standing {
        Standing::Running => TaskRank::AtWork,
        Standing::Failed => TaskRank::Failed,
        _ if task.is_next => TaskRank::Next,
        Standing::Pending | Standing::Interrupted | Standing::Blocked => TaskRank::Later,
        Standing::Passed
        | Standing::Claimed
        | Standing::Unproved
        | Standing::LeftOut
        | Standing::Skipped => TaskRank::Over,
    }
}

fn about(task: &TaskView) -> String {
    let title = task.shown_title();
    match (rank(task), task.attempts) {
        (TaskRank::AtWork | TaskRank::Next, attempts @ 2..) => {
            format!("attempt {attempts} of {}: {title}", task.max_attempts)
        }
        (TaskRank::Failed, _) if !task.evidence.is_empty() => format!("{title}: {}", task.evidence),
        _ => title.to_owned(),
    }
}

/// Rows of tasks, and the number of left-out ones that no row counts.
pub(super) fn task_lines(
    view: &RunView,
    now: Timestamp,
    rows: usize,
    has_heads: bool,
    columns: usize,
) -> (Vec<ScreenLine>, usize) {
    let tasks = view.listed_tasks();
    let is_whole = tasks.len() <= rows;
    let tells_rest = !is_whole && rows >= LIST_WITH_REST;
    let room = if tells_rest { rows - 1 } else { rows };
    let mut chosen: Vec<(usize, &TaskView)> = tasks.iter().enumerate().collect();
    chosen.sort_by_key(|(place, task)| {
        (
            rank(task),
            if rank(task) == TaskRank::Over {
                tasks.len() - place
            } else {
                *place
            },
        )
    });
    let left_out: Vec<&TaskView> = chosen.iter().skip(room).map(|(_, task)| *task).collect();
    chosen.truncate(room);
    chosen.sort_by_key(|(place, _)| *place);
    let has_workers = columns >= WIDE && chosen.iter().any(|(_, task)| task.running.is_some());
    let heads: Option<Vec<Cell>> = has_heads.then(|| {
        let word = view.task_word;
        if has_workers {
            head_cells([word, "state", "time", "who", "title"]).into()
        } else {
            head_cells([word, "state", "time", "title"]).into()
        }
    });
    let rows = chosen
        .into_iter()
        .map(|(_, task)| task_cells(task, now, columns, has_workers));
    let mut lines = table(heads.into_iter().chain(rows));
    if tells_rest {
        lines.push(ScreenLine::new(
            Style::new().dimmed(),
            rest_words(&left_out),
        ));
        return (lines, 0);
    }
    (lines, left_out.len())
}

fn task_cells(task: &TaskView, now: Timestamp, columns: usize, has_workers: bool) -> Vec<Cell> {
    let style = task.style();
    let running = task.running.as_ref();
    let time = if task.history.is_empty() && running.is_none() {
        String::new()
    } else {
        format_clock(i64::try_from(worked_millis(task, now)).unwrap_or(i64::MAX))
    };
    let id = truncate_columns(&harmless_text(&task.id), 16);
    let state_columns = if columns < WIDE { 11 } else { 24 };
    let state = truncate_columns(&harmless_text(&task.standing_words()), state_columns);
    let mut row = vec![
        Cell::new(format!("{} {id}", task.standing.mark()), style),
        Cell::new(state, style),
        Cell::plain(time),
    ];
    if has_workers {
        let worker = harmless_text(running.map_or("", |running| &running.worker));
        row.push(Cell::new(
            truncate_columns(&worker, 20),
            Style::new().dimmed(),
        ));
    }
    row.push(Cell::plain(harmless_text(&about(task))));
    row
}

/// `… and 12 more: 10 passed, 2 pending`.
fn rest_words(left_out: &[&TaskView]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for task in left_out {
        let word = task.standing.word();
        match counts.iter_mut().find(|(counted, _)| *counted == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    format!("… and {} more: {}", left_out.len(), words.join(", "))
}

/// Checks with their tasks: running ones, those of the whole, then the last of each task, the latest first.
pub(super) fn shown_checks(view: &RunView) -> Vec<(&str, &CheckView)> {
    let running = view
        .running_checks
        .iter()
        .map(|(task, check)| (task.as_str(), check));
    let whole = view
        .final_checks
        .iter()
        .filter(|check| view.subject == Subject::Ultrawork || check.state != CheckState::NotRun)
        .map(|check| ("", check));
    let mut ended: Vec<&TaskView> = view
        .tasks
        .iter()
        .filter(|task| task.running.is_none())
        .collect();
    ended.sort_by_key(|task| std::cmp::Reverse(task.updated_at));
    let task_checks = ended
        .into_iter()
        .filter_map(|task| Some((task.id.as_str(), task.checks.last()?)));
    running.chain(whole).chain(task_checks).collect()
}

pub(super) fn check_lines<'v>(
    checks: impl Iterator<Item = (&'v str, &'v CheckView)>,
    columns: usize,
) -> Vec<ScreenLine> {
    table(checks.map(|(task, check)| check_cells(task, check, columns)))
}

fn check_cells(task: &str, check: &CheckView, columns: usize) -> Vec<Cell> {
    let owner = if task.is_empty() {
        String::new()
    } else {
        format!("{}: ", harmless_text(task))
    };
    let sign = match check.state {
        CheckState::Green | CheckState::AlreadyGreen => '✓',
        CheckState::Red | CheckState::Unusable => '✗',
        CheckState::Running => '→',
        CheckState::NotRun => '·',
    };
    let command = truncate_columns(
        &format!("{owner}{}", harmless_text(&check.command)),
        (columns * 2 / 5).max(12),
    );
    let style = check.style();
    let reason = match check.state {
        CheckState::Red | CheckState::Unusable => check.detail.as_str(),
        _ => "",
    };
    let last_line = check.output.last().map_or(reason, String::as_str);
    vec![
        Cell::new(format!("{sign} {command}"), style),
        Cell::new(check.word(), style),
        Cell::new(harmless_text(last_line), Style::new().dimmed()),
    ]
}

/// Milliseconds of work up to now, also where no event was read.
fn worked_millis(task: &TaskView, now: Timestamp) -> u64 {
    match &task.running {
        Some(running) if task.history.is_empty() => {
            u64::try_from(millis_between(running.since, now)).unwrap_or_default()
        }
        _ => task.worked_millis(now),
    }
}

/// Milliseconds between two times; 0 where the second came first.
pub(super) fn millis_between(from: Timestamp, until: Timestamp) -> i64 {
    until.millis_since(from).unwrap_or_default()
}

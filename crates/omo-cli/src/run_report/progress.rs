//! How far a run is: each task with its title, and who works on what for how long.

use anstyle::{AnsiColor, Style};
use omo_core::text::{format_duration, pluralize, sanitize};
use omo_engine::Run;
use omo_engine::report::TaskRow;
use omo_engine::state::{RunState, TaskStanding, TaskStatus};

use crate::output::stdout_columns;
use crate::output::table::{self, Cell, truncate_columns};
use crate::run_report::ReportSource;
use crate::run_report::tasks::{mark, standing_words, worker_words};

/// The longest title, in columns.
const TITLE_COLUMNS: usize = 40;
/// The longest last cell where nothing says how wide a line may be.
const LAST_CELL_COLUMNS: usize = 100;

/// The table of the tasks.
pub(crate) fn task_table(source: &ReportSource<'_>) -> String {
    let columns = stdout_columns();
    let rows: Vec<[Cell; 4]> = source.report.tasks.iter().map(|row| cells(source, row, columns)).collect();
    let mut out = Vec::new();
    // Memory takes whatever is written.
    let _ = table::write_table(&mut out, [source.state.plan.dialect.unit_word(), "state", "time", "title"], rows);
    String::from_utf8_lossy(&out).into_owned()
}

fn cells(source: &ReportSource<'_>, row: &TaskRow, columns: Option<usize>) -> [Cell; 4] {
    let state = source.state;
    let standing = state.standing(&row.id).unwrap_or(TaskStanding::Is(TaskStatus::Pending));
    let running = state.tasks.get(&row.id).and_then(|known| known.running.as_ref());
    let millis: u64 = row.history.iter().map(|attempt| attempt.millis(source.now)).sum();
    let time = if row.history.is_empty() { String::new() } else { format_duration(millis) };
    let about = match running {
        Some(running) => worker_words(source.run, state, &row.id, running),
        None if row.blocked_by.is_some() => String::new(),
        None => sanitize(&row.evidence, 200),
    };
    let tries =
        if row.attempts > 1 { format!("{}; ", pluralize(row.attempts as usize, "attempt")) } else { String::new() };
    let title = truncate_columns(&sanitize(&row.title, 120), TITLE_COLUMNS);
    let about = format!("{tries}{about}");
    let title = if about.is_empty() { title } else { format!("{title} — {about}") };
    let word = format!("{} {}", mark(&standing), standing_words(&standing, row));
    let taken = row.id.len().max(4) + word.chars().count().max(12) + 16;
    let room = columns.map_or(LAST_CELL_COLUMNS, |columns| columns.saturating_sub(taken).max(TITLE_COLUMNS));
    [
        Cell::plain(sanitize(&row.id, 64)),
        Cell::new(word, standing_style(&standing)),
        Cell::plain(time),
        Cell::plain(truncate_columns(&title, room)),
    ]
}

fn standing_style(standing: &TaskStanding) -> Style {
    match standing {
        TaskStanding::Is(TaskStatus::Passed) => AnsiColor::Green.on_default(),
        TaskStanding::Is(TaskStatus::Failed) => AnsiColor::Red.on_default(),
        TaskStanding::Blocked { .. }
        | TaskStanding::Is(TaskStatus::Skipped | TaskStatus::Claimed | TaskStatus::Unverified) => {
            AnsiColor::Yellow.on_default()
        }
        TaskStanding::Is(_) => Style::new(),
    }
}

/// Who works on what of an open run, and for how long, each on one line.
pub(crate) fn working_lines(run: &Run, state: &RunState) -> Vec<String> {
    let at_work = state.plan.tasks.iter().filter_map(|task| {
        let running = state.tasks.get(&task.id)?.running.as_ref()?;
        let what = format!("{} {}, {}", state.plan.dialect.unit_word(), task.id, sanitize(&task.title, 80));
        Some(format!("{what}: {}", worker_words(run, state, &task.id, running)))
    });
    at_work.collect()
}

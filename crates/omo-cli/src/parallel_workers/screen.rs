//! What the user sees of parallel workers: on a terminal a line for each that is kept up to date, and elsewhere a line
//! for each thing that happens.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use omo_engine::Run;
use omo_engine::parallel::{WorkerRow, worker_rows};
use omo_engine::report::ultraplan::worker_lines;
use omo_engine::state::RunState;
use omo_state::env;

use crate::blocks::parts::{self, LONG_TIMEOUT};
use crate::error::CommandError;
use crate::output::table::{self, Cell};

/// Beside the rows a line for the heads, and one for where the cursor stands: what scrolls away cannot be written over.
const LINES_BESIDE_ROWS: usize = 2;

/// A screen.
pub(crate) struct Screen {
    /// It is a terminal that can be written over.
    is_live: bool,
    /// So many of its lines are written over by the next look.
    lines: usize,
    /// The last event that was told; 0 before the first look.
    last_event: u64,
    /// The last look.
    last_rows: Vec<WorkerRow>,
}

impl Screen {
    /// One on stdout.
    pub(crate) fn new() -> Self {
        let is_dumb = env::variables().iter().any(|(name, value)| name == "TERM" && value == "dumb");
        Self { is_live: std::io::stdout().is_terminal() && !is_dumb, lines: 0, last_event: 0, last_rows: Vec::new() }
    }

    /// One that shows what happens line by line, and nothing else.
    pub(crate) fn line_by_line() -> Self {
        Self { is_live: false, ..Self::new() }
    }

    /// Whether a person looks on at a terminal.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Shows where the run stands.
    pub(crate) fn show(&mut self, run: &Run, state: &RunState) -> Result<(), CommandError> {
        if self.is_live { self.draw(state) } else { self.tell(run, state) }
    }

    fn draw(&mut self, state: &RunState) -> Result<(), CommandError> {
        let now = worker_rows(state, env::now());
        if now == self.last_rows {
            return Ok(());
        }
        let mut table = Vec::new();
        write_table(&mut table, fit_rows(&now, terminal_rows().saturating_sub(LINES_BESIDE_ROWS)))?;
        // A user who wants no colours gets none, and one table that is written over all the same.
        let stdout = std::io::stdout();
        let mut plain = anstream::AutoStream::new(Vec::new(), anstream::AutoStream::choice(&stdout));
        plain.write_all(&table)?;
        let up = if self.lines > 0 { format!("\u{1b}[{}A", self.lines) } else { String::new() };
        // Line over line: a terminal that is told to clear all of its screen keeps what was there above it. One that is
        // too long is cut: broken, it would be two.
        let table = String::from_utf8_lossy(&plain.into_inner()).into_owned();
        let lines: Vec<String> = table.lines().map(|line| format!("\u{1b}[2K\u{1b}[?7l{line}\u{1b}[?7h\n")).collect();
        // At once: if the user ends this in the middle, the terminal still breaks lines.
        let mut out = stdout.lock();
        out.write_all(format!("{up}{}\u{1b}[J", lines.concat()).as_bytes())?;
        out.flush()?;
        (self.lines, self.last_rows) = (lines.len(), now);
        Ok(())
    }

    fn tell(&mut self, run: &Run, state: &RunState) -> Result<(), CommandError> {
        if state.seq == self.last_event {
            return Ok(());
        }
        let first_look = self.last_event == 0;
        let mut out = anstream::stdout().lock();
        for event in run.events()?.iter().filter(|event| event.seq > self.last_event && event.seq <= state.seq) {
            if let Some(line) = worker_lines::worker_event_line(state, &event.kind).filter(|_| !first_look) {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()?;
        self.last_event = state.seq;
        Ok(())
    }

    /// Leaves what was shown last where it is.
    pub(crate) fn close(&mut self) {
        self.lines = 0;
    }
}

fn write_table<'l>(out: &mut impl Write, rows: impl IntoIterator<Item = &'l WorkerRow>) -> Result<(), CommandError> {
    let cells = |row: &WorkerRow| {
        let style = match row.is_success {
            Some(true) => AnsiColor::Green.on_default(),
            Some(false) => AnsiColor::Red.on_default(),
            None => Style::new(),
        };
        [
            Cell::plain(&row.name),
            Cell::new(&row.status, style),
            Cell::plain(&row.task),
            Cell::plain(table::truncate_columns(&row.check, 32)),
            Cell::plain(&row.time),
            Cell::plain(&row.cost),
        ]
    };
    table::write_table(
        out,
        ["worker", "state", "at", "last check", "for", "cost"],
        rows.into_iter().map(cells).collect(),
    )?;
    Ok(())
}

/// The rows that so many lines have room for: those that have come to a good end are left out first, then the last.
fn fit_rows(rows: &[WorkerRow], room: usize) -> Vec<&WorkerRow> {
    let mut surplus = rows.len().saturating_sub(room);
    let mut fitting: Vec<&WorkerRow> = rows.iter().collect();
    fitting.retain(|row| {
        let stays = surplus == 0 || row.is_success != Some(true);
        surplus -= usize::from(!stays);
        stays
    });
    fitting.truncate(room);
    fitting
}

/// How many lines the terminal has.
fn terminal_rows() -> usize {
    terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| height.0.into())
}

/// The workers as they stand, without colour.
fn plain_table(state: &RunState) -> String {
    let mut text = Vec::new();
    let _ = write_table(&mut text, worker_rows(state, env::now()).iter());
    anstream::adapter::strip_str(&String::from_utf8_lossy(&text)).to_string()
}

/// Workers were started behind the terminal.
pub(crate) fn started_text(id: &str, state: &RunState) -> String {
    format!(
        "omo: the workers of {id} are at work; closing this terminal does not end them.\n\n{}\n\
         `omo run watch` looks on, `omo run cancel` ends them.",
        plain_table(state)
    )
}

/// They are still worked on.
pub(crate) fn still_working(state: &RunState) -> String {
    parts::fit_block(format!(
        "WAIT\n{}\n  run: omo agent next --wait 540      {LONG_TIMEOUT}",
        indented(&plain_table(state))
    ))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {}", line.trim_end())).collect();
    lines.join("\n")
}

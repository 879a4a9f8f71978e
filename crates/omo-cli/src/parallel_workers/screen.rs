//! What is printed of parallel workers: a line for each thing that happens, and a table of where they stand.

use std::io::{IsTerminal, Write};

use omo_engine::Run;
use omo_engine::report::ultraplan::worker_lines;
use omo_engine::state::RunState;
use omo_engine::view::workers::worker_views;
use omo_state::env;
use omo_view::table::table_text;
use omo_view::text::{WORKER_HEADS, worker_cells};

use crate::blocks::parts::{self, LONG_TIMEOUT};
use crate::error::CommandError;

/// A line for each thing that happens, on stdout.
pub(crate) struct EventLines {
    /// A person reads them at a terminal.
    is_at_terminal: bool,
    /// The last event that was told; 0 before the first look.
    last_event: u64,
}

impl EventLines {
    /// Those for the person, or the program, that started this one.
    pub(crate) fn new() -> Self {
        Self { is_at_terminal: std::io::stdout().is_terminal(), last_event: 0 }
    }

    /// Those for an agent.
    pub(crate) fn for_agent() -> Self {
        Self { is_at_terminal: false, last_event: 0 }
    }

    /// Whether a person looks on at a terminal.
    pub(crate) fn is_at_terminal(&self) -> bool {
        self.is_at_terminal
    }

    /// Tells what has happened since the last time.
    pub(crate) fn tell(&mut self, run: &Run, state: &RunState) -> Result<(), CommandError> {
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
}

fn worker_table(state: &RunState) -> String {
    table_text(WORKER_HEADS, worker_views(state, env::now()).iter().map(worker_cells).collect())
}

/// Leaves the workers as they stand on the terminal.
pub(crate) fn print_workers(state: &RunState) -> Result<(), CommandError> {
    Ok(write!(anstream::stdout(), "{}", worker_table(state))?)
}

/// The workers as they stand, without colour.
fn plain_table(state: &RunState) -> String {
    anstream::adapter::strip_str(&worker_table(state)).to_string()
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

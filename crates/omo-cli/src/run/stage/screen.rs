//! What somebody sees of sessions that are worked on: on a terminal a line for each that is kept up to date, and
//! elsewhere a line for each thing that happens.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use omo_plan::run::state::RunState;
use omo_runs::Run;
use omo_runs::apart::{Look, look};
use omo_runs::ultra::session_lines;
use omo_store::env;

use crate::failure::Failure;
use crate::run::blocks::{self, PATIENTLY};
use crate::table::{self, Cell};

/// A screen.
pub struct Screen {
    /// It is a terminal that can be written over.
    is_live: bool,
    /// So many of its lines are written over by the next look.
    lines: usize,
    /// The last event that was told; 0 before the first look.
    told: u64,
    /// The last look.
    shown: Vec<Look>,
}

impl Screen {
    /// One on stdout.
    pub fn new() -> Self {
        let is_dumb = env::variables().iter().any(|(name, value)| name == "TERM" && value == "dumb");
        Self { is_live: std::io::stdout().is_terminal() && !is_dumb, lines: 0, told: 0, shown: Vec::new() }
    }

    /// One that shows what happens line by line, and nothing else.
    pub fn told() -> Self {
        Self { is_live: false, ..Self::new() }
    }

    /// Whether a person looks on at a terminal.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// Shows where the run stands.
    pub fn show(&mut self, run: &Run, state: &RunState) -> Result<(), Failure> {
        if self.is_live { self.draw(state) } else { self.tell(run, state) }
    }

    fn draw(&mut self, state: &RunState) -> Result<(), Failure> {
        let now = look(state, env::now());
        if now == self.shown {
            return Ok(());
        }
        let mut text = Vec::new();
        write_table(&mut text, &now)?;
        // One for the heads.
        let lines = now.len() + 1;
        let mut out = anstream::stdout().lock();
        if self.lines > 0 {
            write!(out, "\u{1b}[{}A", self.lines)?;
        }
        // Line over line: a terminal that is told to clear all of its screen keeps what was there above it.
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "{line}\u{1b}[K")?;
        }
        write!(out, "\u{1b}[J")?;
        out.flush()?;
        (self.lines, self.shown) = (lines, now);
        Ok(())
    }

    fn tell(&mut self, run: &Run, state: &RunState) -> Result<(), Failure> {
        if state.seq == self.told {
            return Ok(());
        }
        let first_look = self.told == 0;
        let mut out = anstream::stdout().lock();
        for event in run.events()?.iter().filter(|event| event.seq > self.told && event.seq <= state.seq) {
            if let Some(line) = session_lines::line(state, &event.what).filter(|_| !first_look) {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()?;
        self.told = state.seq;
        Ok(())
    }

    /// Leaves what was shown last where it is.
    pub fn close(&mut self) {
        self.lines = 0;
    }
}

fn write_table(out: &mut impl Write, rows: &[Look]) -> Result<(), Failure> {
    let cells = |row: &Look| {
        let style = match row.is_good {
            Some(true) => AnsiColor::Green.on_default(),
            Some(false) => AnsiColor::Red.on_default(),
            None => Style::new(),
        };
        [
            Cell::plain(&row.name),
            Cell::new(&row.status, style),
            Cell::plain(&row.step),
            Cell::plain(table::cut(&row.check, 32)),
            Cell::plain(&row.time),
            Cell::plain(&row.cost),
        ]
    };
    table::write(out, ["session", "state", "at", "last check", "for", "cost"], rows.iter().map(cells).collect())?;
    Ok(())
}

/// The sessions as they stand, without colour.
fn plain_table(state: &RunState) -> String {
    let mut text = Vec::new();
    let _ = write_table(&mut text, &look(state, env::now()));
    anstream::adapter::strip_str(&String::from_utf8_lossy(&text)).to_string()
}

/// Sessions were begun behind the terminal.
pub fn started(id: &str, state: &RunState) -> String {
    format!(
        "omo: the sessions of {id} are worked on; closing this terminal does not end them.\n\n{}\n\
         `omo stage wait` looks on, `omo run cancel` ends them.",
        plain_table(state)
    )
}

/// They are still worked on.
pub fn waits(state: &RunState) -> String {
    blocks::within(format!("WAIT\n{}\n  run: omo next --wait 540      {PATIENTLY}", indented(&plain_table(state))))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {}", line.trim_end())).collect();
    lines.join("\n")
}

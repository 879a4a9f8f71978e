//! Printed output: lines, tables and progress.

pub(crate) mod check_progress;
pub(crate) mod ci_format;
pub(crate) mod progress;
pub(crate) mod table;

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use omo_core::check::session_check::CheckVerdict;
use omo_core::text::sanitize;
use serde::Serialize;

use crate::error::CommandError;

pub(crate) fn verdict_style(verdict: CheckVerdict) -> Style {
    let colour = if verdict == CheckVerdict::Green {
        AnsiColor::Green
    } else {
        AnsiColor::Red
    };
    colour.on_default().bold()
}

/// Columns of stdout: `COLUMNS`, else the width of the terminal; `None` without either.
pub(crate) fn stdout_columns() -> Option<usize> {
    omo_state::env::columns().or_else(|| {
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
    })
}

pub(crate) fn print_warning(problem: &dyn Display) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    print_stderr_line(&format_args!("{style}warning:{style:#} {problem}"));
}

/// A line on stderr. `eprintln!` would panic on a failed write, and keep the user from the answer.
pub(crate) fn print_stderr_line(line: &dyn Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

pub(crate) fn print_block(text: &str) -> Result<(), CommandError> {
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}

/// Prints the lines of a log, each cut to 1,000 characters.
pub(crate) fn print_log(text: &str) -> Result<(), CommandError> {
    let lines: Vec<String> = text.lines().map(|line| sanitize(line, 1_000)).collect();
    if lines.is_empty() {
        Ok(())
    } else {
        print_block(&lines.join("\n"))
    }
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    Ok(writeln!(
        std::io::stdout().lock(),
        "{}",
        serde_json::to_string_pretty(value).unwrap_or_default()
    )?)
}

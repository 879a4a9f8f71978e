//! What is printed: lines, tables and progress.

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

/// How the verdict of a check is shown.
pub(crate) fn verdict_style(verdict: CheckVerdict) -> Style {
    let colour = if verdict == CheckVerdict::Green { AnsiColor::Green } else { AnsiColor::Red };
    colour.on_default().bold()
}

/// How many columns a line on stdout may have: as `COLUMNS` says, else as wide as the terminal is; `None` where it is
/// neither named nor a terminal.
pub(crate) fn stdout_columns() -> Option<usize> {
    omo_state::env::columns()
        .or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into()))
}

/// Says what is wrong. The command goes on.
pub(crate) fn print_warning(problem: &dyn Display) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    print_stderr_line(&format_args!("{style}warning:{style:#} {problem}"));
}

/// Writes a line to stderr. `eprintln!` would panic where that cannot be written, and so keep its
/// user from what they asked for.
pub(crate) fn print_stderr_line(line: &dyn Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints a block of text to stdout, and ends its last line.
pub(crate) fn print_block(text: &str) -> Result<(), CommandError> {
    Ok(writeln!(anstream::stdout(), "{}", text.trim_end())?)
}

/// Prints the lines of a log, none of them longer than 1,000 characters.
pub(crate) fn print_log(text: &str) -> Result<(), CommandError> {
    let lines: Vec<String> = text.lines().map(|line| sanitize(line, 1_000)).collect();
    if lines.is_empty() { Ok(()) } else { print_block(&lines.join("\n")) }
}

/// Prints JSON as other programs have it.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    Ok(writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(value).unwrap_or_default())?)
}

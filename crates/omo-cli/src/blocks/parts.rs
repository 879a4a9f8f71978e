//! Pieces of all instruction blocks: commands of a plan, notes on it, and the cut to `MAX_BYTES`.

use std::fmt::Write;

use omo_core::session::plan_run::PlannedCommand;
use omo_core::text::command_text::{is_plain_text, number_rows, show_whole};
use omo_core::text::sanitize;
use omo_engine::report::heading::run_heading;
use omo_engine::state::{RunPhase, RunState};
pub(crate) use omo_engine::view::words::{is_complete, progress_words, run_subject};
use omo_plan::diagnostic::{Code, Severity};
use omo_plan::model::Plan;
use omo_view::run_view::RunEnd;

pub(crate) const MAX_BYTES: usize = 2_048;

const MAX_NOTES: usize = 8;

/// Hint for the `Bash` tool before a command that may take minutes.
pub(crate) const LONG_TIMEOUT: &str = "(Bash timeout 600000)";

pub(crate) fn ends_well(state: &RunState) -> bool {
    matches!(run_heading(state).kind, RunEnd::Complete | RunEnd::Unproved)
}

/// The commands of a plan in full, one a line, with unusual bytes made visible.
pub(crate) fn list_commands(commands: &[PlannedCommand]) -> String {
    let names: Vec<String> = commands
        .iter()
        .map(|command| sanitize(&command.task, 64))
        .collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (command, name) in commands.iter().zip(&names) {
        let run = &command.command;
        let shown = if is_plain_text(run) {
            run.clone()
        } else {
            number_rows(run, "      ")
        };
        let _ = writeln!(text, "  {name:width$}  {shown}");
        if let Some(folder) = &command.folder {
            let _ = writeln!(text, "    in {}", show_whole(folder, "      "));
        }
    }
    text
}

pub(crate) fn plan_notes(plan: &Plan, told: &[Code]) -> String {
    let found: Vec<_> = plan
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Warning && !told.contains(&found.code))
        .collect();
    let mut text = String::new();
    for note in found.iter().take(MAX_NOTES) {
        let _ = writeln!(
            text,
            "note: line {}: {}",
            note.line,
            sanitize(&note.text, 120)
        );
    }
    if found.len() > MAX_NOTES {
        let more = found.len() - MAX_NOTES;
        let _ = writeln!(
            text,
            "note: and {more} more: omo plan lint {}",
            sanitize(&plan.source.path, 200)
        );
    }
    text
}

pub(crate) fn plan_path(state: &RunState) -> String {
    sanitize(&run_subject(state), 200)
}

/// Cuts lines from the middle down to `MAX_BYTES`; the last lines say what to do and stay.
pub(crate) fn fit_block(text: String) -> String {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let lines: Vec<&str> = text.lines().collect();
    let kept_behind = 4.min(lines.len());
    let (front, back) = lines.split_at(lines.len() - kept_behind);
    let room = MAX_BYTES.saturating_sub(back.iter().map(|line| line.len() + 1).sum::<usize>() + 8);
    let mut out = String::new();
    for line in front {
        if out.len() + line.len() + 1 > room {
            out.push_str("  …\n");
            break;
        }
        let _ = writeln!(out, "{line}");
    }
    out.push_str(&back.join("\n"));
    out
}

pub(crate) fn status_word(state: &RunState) -> &'static str {
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => "waits for you",
        RunPhase::Executing => "executing",
        RunPhase::Ended { result } => result.display_word(),
        RunPhase::Cancelled { .. } => "cancelled",
    }
}

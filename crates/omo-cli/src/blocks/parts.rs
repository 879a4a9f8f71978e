//! What all blocks are made of: how far a run is, in words, the commands of a plan, and the bound on their length.

use std::fmt::Write;

use omo_core::session::plan_run::PlannedCommand;
use omo_core::text::command_text::{is_plain_text, number_rows, quote_argument, show_whole};
use omo_core::text::sanitize;
use omo_engine::event::RunResult;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::ultraplan::command_for;
use omo_engine::state::{RunPhase, RunState, TaskCounts};

/// The greatest length of a block.
pub(crate) const MAX_BYTES: usize = 2_048;

/// What the Bash tool has to be told for a command that may take minutes.
pub(crate) const LONG_TIMEOUT: &str = "(Bash timeout 600000)";

/// The exit status that goes with it: whether all of it went well.
pub(crate) fn is_complete(state: &RunState) -> bool {
    state.phase == RunPhase::Ended { result: RunResult::Complete }
}

/// How far a run is, in the words for what it is of.
pub(crate) fn progress_words(state: &RunState) -> String {
    if state.is_task_list() {
        return task_list_progress(state);
    }
    count_words(state.task_counts(), state.plan.dialect.unit_word())
}

/// How far the run of a plan is, in words, of which each part is called so.
fn count_words(counts: TaskCounts, word: &str) -> String {
    let TaskCounts { total, passed, claimed, failed, unproved, blocked, .. } = counts;
    let mut text = format!("{passed} of {total} {word}s done");
    for (count, word) in [
        (claimed, "done before, unchecked"),
        (failed - unproved, "failed"),
        (unproved, "unproved"),
        (blocked, "blocked"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    text
}

/// The commands that a plan executes, every byte of them: one a line, where it shows there as what it is.
pub(crate) fn list_commands(commands: &[PlannedCommand]) -> String {
    let task = |command: &PlannedCommand| sanitize(&command.task, 64);
    let width = commands.iter().map(|command| task(command).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for command in commands {
        let run = &command.command;
        let shown = if is_plain_text(run) { run.clone() } else { number_rows(run, "      ") };
        let _ = writeln!(text, "  {:width$}  {shown}", task(command));
        if let Some(folder) = &command.folder {
            let _ = writeln!(text, "    in {}", show_whole(folder, "      "));
        }
    }
    text
}

pub(crate) fn plan_path(state: &RunState) -> String {
    sanitize(&run_subject(state), 200)
}

/// What a run is of, for people: the plan's path, or the task list.
pub(crate) fn run_subject(state: &RunState) -> String {
    if state.is_task_list() {
        return format!("session {}", state.task_list_id());
    }
    state.plan.source.path.clone()
}

/// The block, no longer than it may be: lines are taken out of its middle, never its last ones, which say
/// what to do.
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

/// How far a run is, in words.
pub(crate) fn task_list_progress(state: &RunState) -> String {
    let counts = state.task_counts();
    let mut text = format!("{} of {} tasks done", counts.passed + counts.claimed, counts.total);
    for (count, word) in [(counts.claimed, "of them as judged"), (counts.failed, "failed"), (counts.blocked, "blocked")]
    {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    text
}

/// Where a run stands, in one word.
pub(crate) fn status_word(state: &RunState) -> &'static str {
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => "waits for you",
        RunPhase::Executing => "executing",
        RunPhase::Ended { result } => result.word(),
        RunPhase::Cancelled { .. } => "cancelled",
    }
}

/// What the user types to have the run go on.
pub(crate) fn how_to_go_on(state: &RunState) -> String {
    let path = &state.plan.source.path;
    match state.mode {
        _ if state.is_task_list() => format!("/omo:ulw-exec --{}", run_subject(state)),
        ExecutionMode::Parallel | ExecutionMode::StepByStep => {
            format!("{} --resume {}", command_for(&state.plan), quote_argument(path))
        }
        ExecutionMode::Batches | ExecutionMode::Waves => format!("/omo:execute {}", quote_argument(path)),
    }
}

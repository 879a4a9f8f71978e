//! Words for a run that its views and blocks share.

use std::fmt::Write;

use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;
use omo_view::run_view::TaskCounts;

use crate::event::RunResult;
use crate::execution_mode::ExecutionMode;
use crate::report::ultraplan::command_for;
use crate::report::workers::worker_name;
use crate::state::{RunPhase, RunState};

pub fn is_complete(state: &RunState) -> bool {
    state.phase
        == RunPhase::Ended {
            result: RunResult::Complete,
        }
}

/// Path of the plan, or session of the task list.
pub fn run_subject(state: &RunState) -> String {
    if state.is_task_list() {
        return format!("session {}", state.task_list_id());
    }
    state.plan.source.path.clone()
}

/// Counted tasks, such as `2 of 5 tasks done, 1 failed`.
pub fn progress_words(state: &RunState) -> String {
    let TaskCounts {
        total,
        passed,
        claimed,
        failed,
        unproved,
        blocked,
        ..
    } = state.task_counts();
    let (done, claimed) = if state.is_task_list() {
        (passed + claimed, (claimed, "of them as judged"))
    } else {
        (passed, (claimed, "done before, unchecked"))
    };
    let unproved_word = if state.is_reviewed() {
        "unproved and reviewed"
    } else {
        "unproved"
    };
    let parts = [
        claimed,
        (failed, "failed"),
        (unproved, unproved_word),
        (blocked, "blocked"),
    ];
    let mut text = format!("{done} of {total} {}s done", state.plan.dialect.unit_word());
    for (count, word) in parts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {word}");
    }
    text
}

/// Line that the user types to resume a run, such as `/omo:execute docs/plan.md`.
pub fn how_to_go_on(state: &RunState) -> String {
    let path = &state.plan.source.path;
    match state.mode {
        _ if state.is_task_list() => format!("/omo:ulw-exec --{}", run_subject(state)),
        ExecutionMode::Parallel | ExecutionMode::StepByStep => {
            format!(
                "{} --resume {}",
                command_for(&state.plan),
                quote_argument(path)
            )
        }
        ExecutionMode::Batches | ExecutionMode::Waves => {
            format!("/omo:execute {}", quote_argument(path))
        }
    }
}

pub(super) fn worker(state: &RunState, task: &str, session: Option<&str>) -> String {
    let group = state
        .parallel
        .as_ref()
        .and_then(|_| state.plan.group_of(task));
    match (group, session) {
        (Some((_, group)), _) => worker_name(&group.id),
        (None, Some(session)) => format!("session {}", sanitize(session, 8)),
        (None, None) => "a terminal".to_owned(),
    }
}

/// Id of a work tree as it is shown: `tree` of its JSON, or else the text itself.
pub fn tree_name(tree: &str) -> String {
    let files = serde_json::from_str::<serde_json::Value>(tree).ok();
    let files = files.as_ref().and_then(|id| id.get("tree")?.as_str());
    files.unwrap_or(tree).to_owned()
}

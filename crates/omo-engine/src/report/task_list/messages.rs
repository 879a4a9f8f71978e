//! Names, counts and bounds that all screens of a task list share.

use std::fmt::Write;

use omo_core::text::{self, sanitize};
use omo_plan::model::Task;
use omo_view::run_view::Standing;

use crate::state::{RunState, TaskStatus};
use crate::worker_model::choose_model;

const GOAL_CHARS: usize = 200;
const NAMED: usize = 6;
const ROWS: usize = 12;

pub(super) fn task_list_name(state: &RunState) -> String {
    let name = state
        .plan
        .source
        .path
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next();
    sanitize(name.unwrap_or_default(), 64)
}

pub(super) fn goal_text(state: &RunState) -> String {
    let goal = if state.plan.goal.is_empty() {
        &state.plan.title
    } else {
        &state.plan.goal
    };
    sanitize(goal, GOAL_CHARS)
}

/// Rounds so far, and at most: `2/5`.
pub(super) fn rounds_text(state: &RunState) -> String {
    format!("{}/{}", state.round, state.plan.policy.max_rounds)
}

/// Lines of `**Name:** value`, each still a line of its own when rendered.
pub(super) fn field_lines(fields: &[(&str, String)]) -> String {
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("**{name}:** {value}"))
        .collect();
    format!("{}\n", lines.join("  \n"))
}

/// Text such as `1, 2 and 3 more`.
pub(super) fn list_some<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    text::list_some(ids, NAMED)
}

/// Text such as `task 1` or `tasks 1, 2`.
pub(super) fn task_names(ids: &[&str]) -> String {
    text::name_some("task", ids, NAMED)
}

pub(super) fn model_of<'a>(state: &'a RunState, task: &'a Task) -> &'a str {
    let task_state = state.tasks.get(&task.id);
    let begun = task_state.map_or(0, |known| known.attempts);
    let is_to_come = task_state.is_none_or(|task_state| {
        matches!(task_state.status, TaskStatus::Pending | TaskStatus::Held)
    });
    let attempt = if is_to_come {
        begun.saturating_add(1)
    } else {
        begun.max(1)
    };
    choose_model(&state.plan, task, attempt).unwrap_or("own")
}

/// The word for a task's status; `claimed` if only its worker reports it as done.
pub(super) fn status_word(state: &RunState, task: &Task, standing: Standing) -> &'static str {
    match standing {
        Standing::Passed => "resolved",
        Standing::Unproved => "failed",
        // A verification depends on all others: its wait for them says nothing.
        Standing::Pending | Standing::Interrupted if task.is_verification() => "pending",
        Standing::Pending | Standing::Interrupted if is_waiting(state, task) => "blocked",
        Standing::Interrupted => "pending",
        other => other.key(),
    }
}

fn is_waiting(state: &RunState, task: &Task) -> bool {
    task.deps.iter().any(|id| !state.unblocks_dependents(id))
}

/// A list of at most `most` points; the others are counted.
pub(super) fn bullet_list(points: &[String], most: usize) -> String {
    let mut text = String::new();
    for point in points.iter().take(most) {
        let _ = writeln!(text, "- {point}");
    }
    if points.len() > most {
        let _ = writeln!(text, "- … and {} more", points.len() - most);
    }
    text
}

/// The text of `render` with as many table rows as fit into `bytes`; else its first lines.
pub(super) fn fit_rows(bytes: usize, render: impl Fn(usize) -> String) -> String {
    let mut rows = (1..=ROWS).rev();
    let fits = rows.find_map(|rows| Some(render(rows)).filter(|text| text.len() <= bytes));
    fits.unwrap_or_else(|| text::first_lines(&render(0), bytes.saturating_sub(1)) + "\n")
}

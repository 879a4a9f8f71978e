//! The screen that a run begins with: its tasks, and the order in which they are done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;

use omo_plan::model::{Task, TaskComplexity};

use super::SCREEN_BYTES;
use crate::report::table::{cell, table};
use crate::report::task_list::messages::{
    field_lines, fit_rows, goal_text, is_verification, list_some, model_of, rounds_text, status_word, task_list_name,
};
use crate::state::{RunState, TaskStanding, TaskStatus};

/// What a run begins with; at most [`SCREEN_BYTES`] long.
pub fn start_screen(state: &RunState) -> String {
    let order = tasks_in_order(state);
    fit_rows(SCREEN_BYTES, |rows| screen(state, &order, rows))
}

fn screen(state: &RunState, order: &[(&Task, TaskStanding)], rows: usize) -> String {
    let count = order.iter().filter(|(task, _)| !is_verification(task)).count();
    let mut text = "## Starting Execution\n\n".to_owned();
    text.push_str(&field_lines(&[
        ("Goal", goal_text(state)),
        ("Session", task_list_name(state)),
        ("Iteration", rounds_text(state)),
        ("Tasks", count.to_string()),
    ]));
    text.push_str("\n### Task Queue\n\n");
    let shown = order.get(..rows).unwrap_or(order);
    let queue: Vec<[String; 5]> = shown.iter().map(|(task, standing)| row(state, task, standing)).collect();
    text.push_str(&table(["ID", "Task", "Status", "Complexity", "Model"], &queue));
    text.push_str("### Execution Order\n\n");
    for (place, (task, standing)) in shown.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", place + 1, order_line(state, task, standing));
    }
    if order.len() > shown.len() {
        let _ = writeln!(text, "\n… and {} more: `omo agent task list`", order.len() - shown.len());
    }
    text.push_str("\nStarting workers...\n");
    text
}

fn row(state: &RunState, task: &Task, standing: &TaskStanding) -> [String; 5] {
    let complexity = match task.complexity {
        TaskComplexity::Simple => "simple",
        TaskComplexity::Standard => "standard",
        TaskComplexity::Complex => "complex",
    };
    // In the queue every task that was not begun is pending; the order below says what it waits for.
    let word = match standing {
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) => "pending",
        standing => status_word(state, task, standing),
    };
    [task.id.clone(), cell(&task.title, 40), word.to_owned(), complexity.to_owned(), model_of(state, task).to_owned()]
}

fn order_line(state: &RunState, task: &Task, standing: &TaskStanding) -> String {
    let open: Vec<&str> = task.deps.iter().map(String::as_str).filter(|id| !state.unblocks_dependents(id)).collect();
    let (mark, why) = match standing {
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) if open.is_empty() && task.deps.is_empty() => {
            ("READY", "no dependencies".to_owned())
        }
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) if open.is_empty() => {
            ("READY", format!("after {}", list_some(task.deps.iter().map(String::as_str))))
        }
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) if is_verification(task) => {
            ("BLOCKED", "depends on all".to_owned())
        }
        TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held) | TaskStanding::Blocked { .. } => {
            ("BLOCKED", format!("depends on {}", list_some(open)))
        }
        TaskStanding::Is(TaskStatus::Running) => ("RUNNING", "being worked on".to_owned()),
        TaskStanding::Is(TaskStatus::Failed | TaskStatus::Unverified) => ("FAILED", "to be done again".to_owned()),
        TaskStanding::Is(TaskStatus::Passed | TaskStatus::Claimed | TaskStatus::Skipped) => {
            ("DONE", status_word(state, task, standing).to_owned())
        }
    };
    format!("[{mark}] {} - {why}", task.id)
}

/// The tasks in an order in which they can be done: what is needed before what needs it, and else as in the plan.
fn tasks_in_order(state: &RunState) -> Vec<(&Task, TaskStanding)> {
    let mut standings: Vec<Option<(&Task, TaskStanding)>> = state.standings().into_iter().map(Some).collect();
    let places: BTreeMap<&str, usize> =
        state.plan.tasks.iter().enumerate().map(|(place, task)| (task.id.as_str(), place)).collect();
    let mut needed_by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut open: Vec<usize> = Vec::new();
    for (place, task) in state.plan.tasks.iter().enumerate() {
        let needs: Vec<usize> = task.deps.iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
        open.push(needs.len());
        for need in needs {
            needed_by.entry(need).or_default().push(place);
        }
    }
    let mut free: BinaryHeap<Reverse<usize>> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(place, _)| Reverse(place)).collect();
    let mut order = Vec::new();
    while let Some(Reverse(place)) = free.pop() {
        order.extend(standings.get_mut(place).and_then(Option::take));
        for dependent in needed_by.remove(&place).unwrap_or_default() {
            if let Some(open) = open.get_mut(dependent) {
                *open -= 1;
                if *open == 0 {
                    free.push(Reverse(dependent));
                }
            }
        }
    }
    // A plan with a circle is never run; what is in one is shown all the same.
    order.extend(standings.into_iter().flatten());
    order
}

//! Validation of a session's task files: ids, criteria, dependencies and paths.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::text::sanitize;

use super::criterion::parse_criterion_command;
use super::{TaskFile, VERIFY_TASK_ID};
use crate::diagnostic::{Code, Diagnostic};
use crate::fields::named_files::path_problem;
use crate::id::is_id;
use crate::model::{MAX_PLAN_TASKS, Task};
use crate::task_graph;

/// Id without leading zeros: `02` and `2` are one task.
pub(super) fn canonical_id(id: &str) -> &str {
    match id.trim_start_matches('0') {
        "" => id,
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => number,
        _ => id,
    }
}

pub(super) fn validate_tasks(tasks: &[&TaskFile]) -> Vec<Diagnostic> {
    if tasks.is_empty() {
        return vec![task_diagnostic(
            Code::NoTasks,
            None,
            "the session has no task".to_owned(),
        )];
    }
    if tasks.len() > MAX_PLAN_TASKS {
        let text = format!(
            "the session has {} tasks, and a run at most {MAX_PLAN_TASKS}",
            tasks.len()
        );
        return vec![task_diagnostic(Code::TooManyTasks, None, text)];
    }
    let mut diagnostics = Vec::new();
    let mut known = BTreeSet::new();
    for task in tasks {
        if !is_id(&task.id) {
            let text = format!(
                "`{}` is not an id: a task is called by its number",
                sanitize(&task.id, 60)
            );
            diagnostics.push(task_diagnostic(Code::InvalidId, None, text));
        } else if !known.insert(canonical_id(&task.id)) {
            let text = format!("there are two tasks {}", canonical_id(&task.id));
            diagnostics.push(task_diagnostic(Code::DuplicateId, Some(task), text));
        }
        if task.criteria.iter().all(|text| text.trim().is_empty()) {
            let text = format!(
                "task {} has no criteria: its worker says what shows that it is done",
                task.id
            );
            diagnostics.push(task_diagnostic(Code::MissingVerify, Some(task), text));
        }
        for check in task
            .criteria
            .iter()
            .filter_map(|text| parse_criterion_command(text))
        {
            if omo_core::check::task_check::has_pipe(&check.command) {
                let shown = sanitize(&check.command, 60);
                let text =
                    format!("`{shown}` has a pipe: without pipefail only what follows it counts");
                diagnostics.push(task_diagnostic(Code::PipeInVerify, Some(task), text));
            }
        }
    }
    for task in tasks {
        diagnostics.extend(
            task.dependencies()
                .iter()
                .filter_map(|id| check_dependency(task, id, &known)),
        );
    }
    diagnostics.extend(find_cycle(tasks));
    diagnostics
}

pub(super) fn validate_files(task: &Task) -> Vec<Diagnostic> {
    let found = task
        .files
        .iter()
        .filter_map(|file| path_problem(&file.path));
    found
        .map(|(code, text)| new_diagnostic(code, Some(task.id.clone()), text))
        .collect()
}

fn check_dependency(task: &TaskFile, id: &str, known: &BTreeSet<&str>) -> Option<Diagnostic> {
    let (code, text) = match canonical_id(id) {
        VERIFY_TASK_ID => (
            Code::Cycle,
            format!(
                "task {} waits for the verification, which comes after all tasks",
                task.id
            ),
        ),
        name if name == self::canonical_id(&task.id) => (
            Code::SelfDependency,
            format!("task {} depends on itself", task.id),
        ),
        name if !known.contains(name) => (
            Code::UnknownDependency,
            format!(
                "task {} waits for task {}, which is not there",
                task.id,
                sanitize(id, 60)
            ),
        ),
        _ => return None,
    };
    Some(task_diagnostic(code, Some(task), text))
}

pub(super) fn find_cycle(tasks: &[&TaskFile]) -> Option<Diagnostic> {
    // By sorted ids a cycle is always named from the same task on.
    let mut tasks = tasks.to_vec();
    tasks.sort_by_key(|task| canonical_id(&task.id));
    let places: BTreeMap<&str, usize> = tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (canonical_id(&task.id), place))
        .collect();
    let needs: Vec<Vec<usize>> = tasks
        .iter()
        .map(|task| {
            task.dependencies()
                .iter()
                .filter_map(|id| places.get(canonical_id(id)).copied())
                .collect()
        })
        .collect();
    let circle = task_graph::order_by_needs(&needs).err()?;
    let members: Vec<&TaskFile> = circle
        .iter()
        .filter_map(|place| tasks.get(*place).copied())
        .collect();
    let words = task_graph::circle_words(members.iter().map(|task| canonical_id(&task.id)));
    let text = format!("tasks wait for each other in a circle: {words}");
    Some(task_diagnostic(Code::Cycle, members.first().copied(), text))
}

fn task_diagnostic(code: Code, task: Option<&TaskFile>, text: String) -> Diagnostic {
    new_diagnostic(code, task.map(|task| task.id.clone()), text)
}

/// Diagnostic about a whole file, since a session's files are small.
fn new_diagnostic(code: Code, task: Option<String>, text: String) -> Diagnostic {
    Diagnostic {
        code,
        severity: code.severity(),
        span: 0..0,
        line: 1,
        task,
        text,
        help: None,
    }
}

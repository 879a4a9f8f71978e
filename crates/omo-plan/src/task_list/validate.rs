//! What is wrong with the tasks of a session.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::text::sanitize;

use super::criterion::parse_criterion_command;
use super::{TaskFile, VERIFY_TASK_ID};
use crate::diagnostic::{Code, Diagnostic};
use crate::fields::named_files::path_problem;
use crate::id::is_id;
use crate::model::{MAX_PLAN_TASKS, Task};

/// So many members of a circle are named.
const SHOWN: usize = 12;

/// What a task is known by: `02` and `2` are one number.
pub(super) fn canonical_id(id: &str) -> &str {
    match id.trim_start_matches('0') {
        "" => id,
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => number,
        _ => id,
    }
}

/// What is wrong with these tasks, which do not hold the one that verifies them.
pub(super) fn validate_tasks(tasks: &[&TaskFile]) -> Vec<Diagnostic> {
    if tasks.is_empty() {
        return vec![task_diagnostic(Code::NoTasks, None, "the session has no task".to_owned())];
    }
    if tasks.len() > MAX_PLAN_TASKS {
        let text = format!("the session has {} tasks, and a run at most {MAX_PLAN_TASKS}", tasks.len());
        return vec![task_diagnostic(Code::TooManyTasks, None, text)];
    }
    let mut diagnostics = Vec::new();
    let mut known = BTreeSet::new();
    for task in tasks {
        if !is_id(&task.id) {
            let text = format!("`{}` is no id: a task is called by its number", sanitize(&task.id, 60));
            diagnostics.push(task_diagnostic(Code::InvalidId, None, text));
        } else if !known.insert(canonical_id(&task.id)) {
            let text = format!("there are two tasks {}", canonical_id(&task.id));
            diagnostics.push(task_diagnostic(Code::DuplicateId, Some(task), text));
        }
        if task.criteria.iter().all(|text| text.trim().is_empty()) {
            let text = format!("task {} has no criteria: its worker says what shows that it is done", task.id);
            diagnostics.push(task_diagnostic(Code::MissingVerify, Some(task), text));
        }
        for check in task.criteria.iter().filter_map(|text| parse_criterion_command(text)) {
            if omo_core::check::task_check::has_pipe(&check.command) {
                let shown = sanitize(&check.command, 60);
                let text = format!("`{shown}` has a pipe: without pipefail only what stands behind it counts");
                diagnostics.push(task_diagnostic(Code::PipeInVerify, Some(task), text));
            }
        }
    }
    for task in tasks {
        diagnostics.extend(task.dependencies().iter().filter_map(|id| check_dependency(task, id, &known)));
    }
    diagnostics.extend(find_cycle(tasks));
    diagnostics
}

/// What is wrong with the files that a task names.
pub(super) fn validate_files(task: &Task) -> Vec<Diagnostic> {
    let found = task.files.iter().filter_map(|file| path_problem(&file.path));
    found.map(|(code, text)| new_diagnostic(code, Some(task.id.clone()), text)).collect()
}

/// What is wrong with one id that a task waits for.
fn check_dependency(task: &TaskFile, id: &str, known: &BTreeSet<&str>) -> Option<Diagnostic> {
    let (code, text) = match canonical_id(id) {
        VERIFY_TASK_ID => {
            (Code::Cycle, format!("task {} waits for the verification, which comes after all tasks", task.id))
        }
        name if name == self::canonical_id(&task.id) => {
            (Code::SelfDependency, format!("task {} depends on itself", task.id))
        }
        name if !known.contains(name) => (
            Code::UnknownDependency,
            format!("task {} waits for task {}, which is not there", task.id, sanitize(id, 60)),
        ),
        _ => return None,
    };
    Some(task_diagnostic(code, Some(task), text))
}

/// A circle of tasks that wait for each other, where there is one.
pub(super) fn find_cycle(tasks: &[&TaskFile]) -> Option<Diagnostic> {
    let mut open: BTreeMap<&str, (&TaskFile, Vec<String>)> =
        tasks.iter().map(|task| (canonical_id(&task.id), (*task, task.dependencies()))).collect();
    let ids: BTreeSet<&str> = open.keys().copied().collect();
    for (own, (_, needs)) in &mut open {
        // What is not there, and a task that waits for itself, was found before.
        needs.retain(|id| ids.contains(canonical_id(id)) && canonical_id(id) != *own);
    }
    let mut needed_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut left: BTreeMap<&str, usize> = open.iter().map(|(id, (_, needs))| (*id, needs.len())).collect();
    for (id, (_, needs)) in &open {
        for need in needs {
            needed_by.entry(canonical_id(need)).or_default().push(id);
        }
    }
    let mut free: Vec<&str> = left.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        left.remove(id);
        for dependent in needed_by.remove(id).unwrap_or_default() {
            if let Some(count) = left.get_mut(dependent) {
                *count -= 1;
                free.extend((*count == 0).then_some(dependent));
            }
        }
    }
    // Each of those that are left waits for one that is left: following them leads around the circle.
    let mut path: Vec<&str> = vec![left.keys().next()?];
    let start = loop {
        let (_, needs) = open.get(path.last()?)?;
        let next = needs.iter().map(|id| canonical_id(id)).find(|id| left.contains_key(id))?;
        if let Some(start) = path.iter().position(|known| *known == next) {
            break start;
        }
        path.push(next);
    };
    let members = path.get(start..)?;
    let first = members.first().copied();
    let mut shown: Vec<&str> = members.iter().copied().take(SHOWN).collect();
    shown.extend((members.len() > SHOWN).then_some("…"));
    shown.extend(first);
    let text = format!("tasks wait for each other in a circle: {}", shown.join(" → "));
    Some(task_diagnostic(Code::Cycle, first.and_then(|id| open.get(id)).map(|(task, _)| *task), text))
}

fn task_diagnostic(code: Code, task: Option<&TaskFile>, text: String) -> Diagnostic {
    new_diagnostic(code, task.map(|task| task.id.clone()), text)
}

/// A session's files are small: a diagnostic is about a whole one.
fn new_diagnostic(code: Code, task: Option<String>, text: String) -> Diagnostic {
    Diagnostic { code, severity: code.severity(), span: 0..0, line: 1, task, text, help: None }
}

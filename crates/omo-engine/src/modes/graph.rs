//! The tasks of a plan as one graph: sessions become dependencies.

use std::collections::BTreeMap;

use omo_plan::model::{FileAction, FileUse, GroupIsolation, Plan, Task, TaskGroup};
use omo_plan::paths;
use omo_plan::plan_summary::SESSION_PREFIX;
use omo_plan::task_graph;

/// Removes the groups of a plan: their order becomes dependencies, and tasks get their permissions.
pub(super) fn flattened(mut plan: Plan) -> Plan {
    let groups = std::mem::take(&mut plan.groups);
    let has_sessions = groups
        .iter()
        .any(|group| group.id.starts_with(SESSION_PREFIX));
    for (place, group) in groups.iter().enumerate() {
        let Some(first) = group.tasks.first().filter(|_| has_sessions) else {
            continue;
        };
        let others = groups
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place)
            .map(|(_, other)| other);
        let before = others.filter(|other| comes_before(&groups, other, group));
        let before: Vec<String> = before
            .filter_map(|other| other.tasks.last().cloned())
            .collect();
        if let Some(task) = plan.tasks.iter_mut().find(|task| task.id == *first) {
            task.deps.extend(before);
            task.deps.sort();
            task.deps.dedup();
        }
    }
    for task in &mut plan.tasks {
        let Some(group) = groups.iter().find(|group| group.tasks.contains(&task.id)) else {
            continue;
        };
        task.never_touch.extend(group.never_touch.iter().cloned());
        task.never_touch.dedup();
        if task.files.is_empty() {
            task.files = group
                .may_touch
                .iter()
                .map(|path| FileUse::new(path.clone(), FileAction::Modify))
                .collect();
        }
    }
    plan.tasks = in_order(std::mem::take(&mut plan.tasks));
    plan
}

/// A session, or the steps after all sessions, waits for another one: it says so, or a wave lies between.
fn comes_before(groups: &[TaskGroup], other: &TaskGroup, group: &TaskGroup) -> bool {
    let last_wave = groups
        .iter()
        .map(|known| known.wave)
        .filter(|stage| *stage < group.wave)
        .max();
    group.deps.contains(&other.id) || Some(other.wave) == last_wave
}

fn in_order(tasks: Vec<Task>) -> Vec<Task> {
    let places: BTreeMap<String, usize> = tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.clone(), place))
        .collect();
    let needs: Vec<Vec<usize>> = tasks
        .iter()
        .map(|task| {
            task.deps
                .iter()
                .filter_map(|id| places.get(id).copied())
                .collect()
        })
        .collect();
    // A plan with a circle is never run: its order stays.
    let Ok(order) = task_graph::order_by_needs(&needs) else {
        return tasks;
    };
    let mut left: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|place| left.get_mut(place).and_then(Option::take))
        .collect()
}

pub(super) fn dependents(tasks: &[Task]) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for id in tasks
        .iter()
        .filter(|task| !task.is_verification())
        .flat_map(|task| &task.deps)
    {
        *counts.entry(id.as_str()).or_insert(0) += 1;
    }
    counts
}

/// `true` if both tasks may change one file. A task that lists none may change any, unless
/// `are_free`: made for workers at once.
pub(super) fn may_collide(one: &Task, other: &Task, are_free: bool) -> bool {
    if one.files.is_empty() || other.files.is_empty() {
        return !are_free;
    }
    one.files.iter().any(|file| {
        other
            .files
            .iter()
            .any(|known| paths::paths_overlap(&file.path, &known.path))
    })
}

pub(super) fn group(id: String, title: String, tasks: Vec<String>, stage: usize) -> TaskGroup {
    TaskGroup {
        id,
        title,
        tasks,
        wave: stage,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: Vec::new(),
        never_touch: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

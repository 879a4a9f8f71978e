//! Arrangement for parallel clients, each in a worktree: one for each session of the plan, or for
//! each chain of dependent tasks.

use std::collections::BTreeMap;

use omo_git::worktree::is_worker_name;
use omo_plan::dialects::PlanKind;
use omo_plan::id::MAX_ID_BYTES;
use omo_plan::model::{GroupIsolation, OnTaskFail, Parallelism, Plan, RunPolicy, Task, TaskGroup};
use omo_plan::strategy::RunStrategy;

use super::graph::{dependents, flattened, group, may_collide};
use super::review::add_reviews;

/// Prefix of the ids of workers that this mode has made.
pub(crate) const WORKER_PREFIX: &str = "worker-";

/// Keeps sessions; else a chain of tasks is one worker, and workers of a wave share no file.
pub(super) fn arranged(plan: Plan) -> Plan {
    let has_workers = plan
        .groups
        .iter()
        .any(|group| group.id.starts_with(WORKER_PREFIX));
    if has_workers || RunStrategy::for_plan(&plan).starts_clients() {
        return plan;
    }
    // The tasks of a list were made for workers at the same time, and few of them name their files.
    let are_free = plan.dialect.kind() == PlanKind::TaskList;
    let mut plan = flattened(plan);
    add_reviews(&mut plan, true);
    let chains = chains(&plan.tasks);
    plan.groups = in_waves(&plan.tasks, &chains, are_free);
    plan.tasks = by_worker(std::mem::take(&mut plan.tasks), &plan.groups);
    plan.policy = RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel: Parallelism::Groups,
        max_workers: 0,
        ..plan.policy
    };
    plan
}

/// Positions of each worker's tasks: a task continues a chain if it needs the chain's last task alone, and
/// is its only dependent. A verification of the whole is a worker of its own.
fn chains(tasks: &[Task]) -> Vec<Vec<usize>> {
    let needed = dependents(tasks);
    let mut chain_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let before = match task.deps.as_slice() {
            [one] if !task.is_verification() && needed.get(one.as_str()) == Some(&1) => {
                chain_of.get(one.as_str())
            }
            _ => None,
        };
        let number = before.copied().unwrap_or(chains.len());
        match chains.get_mut(number) {
            Some(chain) => chain.push(place),
            None => chains.push(vec![place]),
        }
        chain_of.insert(&task.id, number);
    }
    chains
}

/// Each worker after the wave of all that it needs, and in none with another that may change the same file.
fn in_waves(tasks: &[Task], chains: &[Vec<usize>], are_free: bool) -> Vec<TaskGroup> {
    let mut wave_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut made: Vec<(usize, Vec<&Task>)> = Vec::new();
    for chain in chains {
        let chain_tasks: Vec<&Task> = chain.iter().filter_map(|place| tasks.get(*place)).collect();
        let needs = chain_tasks
            .iter()
            .flat_map(|task| &task.deps)
            .filter(|id| chain_tasks.iter().all(|task| task.id != **id));
        let mut wave = needs
            .filter_map(|id| wave_of.get(id.as_str()))
            .map(|wave| wave + 1)
            .max()
            .unwrap_or(0);
        while made
            .iter()
            .filter(|(known, _)| *known == wave)
            .flat_map(|(_, others)| others)
            .any(|other| {
                chain_tasks
                    .iter()
                    .any(|task| may_collide(task, other, are_free))
            })
        {
            wave += 1;
        }
        wave_of.extend(chain_tasks.iter().map(|task| (task.id.as_str(), wave)));
        made.push((wave, chain_tasks));
    }
    made.sort_by_key(|(wave, _)| *wave);
    made.into_iter()
        .map(|(wave, chain_tasks)| worker(wave, &chain_tasks))
        .collect()
}

fn worker(wave: usize, tasks: &[&Task]) -> TaskGroup {
    let (first, title) = tasks
        .first()
        .map(|task| (task.id.clone(), task.title.clone()))
        .unwrap_or_default();
    let ids = tasks.iter().map(|task| task.id.clone()).collect();
    TaskGroup {
        isolation: GroupIsolation::Worktree,
        names_all_deps: true,
        ..group(worker_id(&first), title, ids, wave)
    }
}

/// Id by the worker's first task, stable when the plan is edited around it, and valid in a branch.
fn worker_id(first: &str) -> String {
    let name = format!("{WORKER_PREFIX}{first}");
    if name.len() <= MAX_ID_BYTES && is_worker_name(&name) {
        return name;
    }
    let digest = omo_plan::digest::sha256_hex(first.as_bytes());
    format!("{WORKER_PREFIX}{}", digest.get(..16).unwrap_or(&digest))
}

fn by_worker(mut tasks: Vec<Task>, groups: &[TaskGroup]) -> Vec<Task> {
    let order: BTreeMap<&str, usize> = groups
        .iter()
        .flat_map(|group| &group.tasks)
        .enumerate()
        .map(|(place, id)| (id.as_str(), place))
        .collect();
    tasks.sort_by_key(|task| order.get(task.id.as_str()).copied());
    tasks
}

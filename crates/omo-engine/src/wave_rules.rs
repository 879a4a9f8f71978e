//! Rules of a wave: sessions that wait for one in conflict, and the checks of the whole between two waves.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::task_check::TaskCheckOutcome;
use omo_plan::model::{Plan, TaskGroup};

use crate::parallel_state::{GroupStatus, ParallelState, WaveCheck};
use crate::state::{RunState, TaskStatus};

/// Sessions that each one needs; one whose plan names none needs all earlier waves.
fn needs_by_session(plan: &Plan) -> BTreeMap<&str, BTreeSet<&str>> {
    let groups = &plan.groups;
    let group_of: BTreeMap<&str, &str> = groups
        .iter()
        .flat_map(|group| {
            group
                .tasks
                .iter()
                .map(|task| (task.as_str(), group.id.as_str()))
        })
        .collect();
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = groups
        .iter()
        .map(|group| {
            (
                group.id.as_str(),
                group.deps.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    for task in &plan.tasks {
        let Some(own) = group_of.get(task.id.as_str()) else {
            continue;
        };
        let others = task
            .deps
            .iter()
            .filter_map(|id| group_of.get(id.as_str()).copied())
            .filter(|id| id != own);
        needs.entry(own).or_default().extend(others);
    }
    for group in groups.iter().filter(|group| !group.names_all_deps) {
        let Some(own) = needs
            .get_mut(group.id.as_str())
            .filter(|own| own.is_empty())
        else {
            continue;
        };
        own.extend(
            groups
                .iter()
                .filter(|other| other.wave < group.wave)
                .map(|other| other.id.as_str()),
        );
    }
    needs
}

/// `true` for a session in conflict about which a person has to decide.
pub(crate) fn awaits_decision(
    state: &RunState,
    parallel: &ParallelState,
    group: &TaskGroup,
) -> bool {
    parallel.groups.get(&group.id).is_some_and(|group_state| {
        group_state.status == GroupStatus::InConflict
            && !group_state.is_to_redo
            && group_outcome(state, group).is_some()
    })
}

/// Each held-back session with those in conflict that it waits for, directly or not.
pub fn held_back<'a>(
    state: &'a RunState,
    parallel: &ParallelState,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let groups = &state.plan.groups;
    let mut held: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut left: Vec<&str> = Vec::new();
    for group in groups
        .iter()
        .filter(|group| awaits_decision(state, parallel, group))
    {
        held.entry(&group.id).or_default().insert(&group.id);
        left.push(&group.id);
    }
    if left.is_empty() {
        return held;
    }
    let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, needed) in needs_by_session(&state.plan) {
        for other in needed {
            dependents.entry(other).or_default().push(id);
        }
    }
    let merged: BTreeSet<&str> = groups
        .iter()
        .filter(|group| parallel.has_status(&group.id, &[GroupStatus::Merged]))
        .filter(|group| group_outcome(state, group) == Some(GroupStatus::Done))
        .map(|group| group.id.as_str())
        .collect();
    while let Some(id) = left.pop() {
        let causes = held.get(id).cloned().unwrap_or_default();
        for dependent in dependents
            .get(id)
            .into_iter()
            .flatten()
            .filter(|id| !merged.contains(*id))
        {
            let known = held.entry(dependent).or_default();
            let before = known.len();
            known.extend(causes.iter().copied());
            if known.len() > before {
                left.push(dependent);
            }
        }
    }
    held
}

/// The sessions that wait for this one, which is in conflict, in the order of the plan.
pub fn held_back_by<'a>(state: &'a RunState, id: &str) -> Vec<&'a str> {
    let Some(parallel) = &state.parallel else {
        return Vec::new();
    };
    let held = held_back(state, parallel);
    state
        .plan
        .groups
        .iter()
        .map(|group| group.id.as_str())
        .filter(|other| *other != id && held.get(other).is_some_and(|causes| causes.contains(id)))
        .collect()
}

/// `true` if sessions of waves before `wave` are merged, and were not checked together.
pub(crate) fn is_check_due(state: &RunState, parallel: &ParallelState, wave: usize) -> bool {
    !state.plan.final_checks.is_empty() && last_unchecked_wave(state, parallel, wave).is_some()
}

pub(crate) fn last_unchecked_wave(
    state: &RunState,
    parallel: &ParallelState,
    wave: usize,
) -> Option<usize> {
    let unchecked = parallel.merged.get(parallel.checked..).unwrap_or_default();
    let waves = state
        .plan
        .groups
        .iter()
        .filter(|group| unchecked.contains(&group.id))
        .map(|group| group.wave);
    waves.filter(|known| *known < wave).max()
}

/// The check that holds `wave` back: green before, red in the result, and nothing merged since.
pub(crate) fn broken_check(parallel: &ParallelState, wave: usize) -> Option<&WaveCheck> {
    let check = parallel.wave_check.as_ref()?;
    (!check.broken.is_empty() && check.tip == parallel.tip && check.wave < wave).then_some(check)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedChecks {
    /// Positions of checks that were green before: a merge since then has broken them.
    pub(crate) broken: Vec<usize>,
    /// Positions of checks that are also red without all of the run's work: a later wave may make them green.
    pub(crate) not_yet: Vec<usize>,
    /// Positions of checks that still have to be run without the work.
    pub(crate) unknown: Vec<usize>,
}

pub(crate) fn judge_red(parallel: &ParallelState, outcomes: &[TaskCheckOutcome]) -> RedChecks {
    let mut found = RedChecks::default();
    for (place, _) in outcomes
        .iter()
        .enumerate()
        .filter(|(_, outcome)| !outcome.is_green())
    {
        let list = match () {
            () if parallel.green_at.contains_key(&place) => &mut found.broken,
            () if parallel.red_before.contains(&place) => &mut found.not_yet,
            () => &mut found.unknown,
        };
        list.push(place);
    }
    found
}

/// The sessions that were merged since these checks were last green, in order.
pub(crate) fn merged_since_green<'a>(
    parallel: &'a ParallelState,
    broken: &[usize],
) -> &'a [String] {
    let green = broken
        .iter()
        .map(|place| parallel.green_at.get(place).copied().unwrap_or(0))
        .min()
        .unwrap_or(0);
    parallel.merged.get(green..).unwrap_or_default()
}

/// End of a group by its tasks, never by its client's output; `None` while a task is to do.
pub fn group_outcome(state: &RunState, group: &TaskGroup) -> Option<GroupStatus> {
    if group
        .tasks
        .iter()
        .any(|id| match state.tasks.get(id).map(|task| task.status) {
            Some(TaskStatus::Failed) => true,
            // Unproved or left out by a person, and its plan does not let that be: nothing behind it can be begun.
            Some(TaskStatus::Skipped | TaskStatus::Unverified) => !state.unblocks_dependents(id),
            _ => false,
        })
    {
        return Some(GroupStatus::Failed);
    }
    group
        .tasks
        .iter()
        .all(|id| state.unblocks_dependents(id))
        .then_some(GroupStatus::Done)
}

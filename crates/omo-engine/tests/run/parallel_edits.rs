//! Edits of a plan by its author while a run of it goes on.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use omo_plan::model::{Plan, Task, TaskGroup};
use proptest::prelude::*;

use crate::run::kit::{group, task};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    Text(usize),
    Remove(usize),
    Add(usize),
    Move(usize, usize),
    Session(usize),
    Wave(usize, usize),
    Drop(usize),
    Swap,
    Together,
    Whole,
}

/// Each step of a session needs the one before it.
pub(crate) fn in_order(mut plan: Plan) -> Plan {
    plan.groups.retain(|group| !group.tasks.is_empty());
    // No plan is run in which a session needs one of its own wave or a later one.
    let waves: BTreeMap<String, usize> = plan
        .groups
        .iter()
        .map(|group| (group.id.clone(), group.wave))
        .collect();
    for group in &mut plan.groups {
        group
            .deps
            .retain(|id| waves.get(id).is_some_and(|wave| *wave < group.wave));
    }
    for group in &plan.groups {
        let mut before: Option<&String> = None;
        for id in &group.tasks {
            let task = plan.tasks.iter_mut().find(|task| task.id == *id).unwrap();
            task.deps = before.into_iter().cloned().collect();
            before = Some(id);
        }
    }
    plan
}

pub(crate) fn edited(plan: &Plan, edit: Edit) -> Plan {
    let mut plan = plan.clone();
    let tasks = plan.tasks.len();
    let groups = plan.groups.len();
    let fresh = plan
        .tasks
        .iter()
        .filter_map(|task| task.id.parse::<usize>().ok())
        .max()
        .unwrap_or(0)
        + 1;
    let new = || Task {
        max_attempts: 2,
        ..task(&fresh.to_string())
    };
    match edit {
        Edit::Text(number) => plan.tasks[number % tasks].body_sha256.push('!'),
        Edit::Remove(number) => {
            if tasks > 1 {
                let id = plan.tasks.remove(number % tasks).id;
                for group in &mut plan.groups {
                    group.tasks.retain(|known| *known != id);
                }
            }
        }
        Edit::Add(place) => {
            plan.groups[place % groups].tasks.push(fresh.to_string());
            plan.tasks.push(new());
        }
        Edit::Move(number, place) => {
            let id = plan.tasks[number % tasks].id.clone();
            for group in &mut plan.groups {
                group.tasks.retain(|known| *known != id);
            }
            plan.groups[place % groups].tasks.push(id);
        }
        Edit::Session(wave) => {
            let id = (1..).map(|number| format!("session-{number}"));
            let id = id
                .into_iter()
                .find(|id| plan.groups.iter().all(|group| group.id != *id))
                .unwrap();
            plan.groups.push(TaskGroup {
                id,
                tasks: vec![fresh.to_string()],
                ..group(wave % 3)
            });
            plan.tasks.push(new());
        }
        Edit::Wave(place, wave) => plan.groups[place % groups].wave = wave % 3,
        Edit::Drop(place) => {
            if groups > 1 {
                let gone = plan.groups.remove(place % groups);
                plan.tasks.retain(|task| !gone.tasks.contains(&task.id));
            }
        }
        Edit::Swap => {
            if groups > 1 {
                let first = plan.groups[0].id.clone();
                plan.groups[0].id = std::mem::replace(&mut plan.groups[1].id, first);
            }
        }
        Edit::Together => {
            let tasks = plan
                .groups
                .iter()
                .flat_map(|group| group.tasks.clone())
                .collect();
            plan.groups = vec![TaskGroup {
                id: "plan".to_owned(),
                tasks,
                ..group(0)
            }];
        }
        Edit::Whole => {
            let command = format!("final after {fresh}");
            plan.final_checks = if plan.final_checks.is_empty() {
                vec![TaskCheck::new(&command)]
            } else {
                Vec::new()
            };
        }
    }
    in_order(plan)
}

pub(crate) fn any_edit() -> impl Strategy<Value = Edit> {
    let number = || 0..6_usize;
    prop_oneof![
        2 => number().prop_map(Edit::Text),
        1 => number().prop_map(Edit::Remove),
        3 => number().prop_map(Edit::Add),
        2 => (number(), number()).prop_map(|(task, place)| Edit::Move(task, place)),
        2 => number().prop_map(Edit::Session),
        1 => (number(), number()).prop_map(|(place, wave)| Edit::Wave(place, wave)),
        1 => number().prop_map(Edit::Drop),
        1 => Just(Edit::Swap),
        1 => Just(Edit::Together),
        1 => Just(Edit::Whole),
    ]
}

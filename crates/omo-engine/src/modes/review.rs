//! Review tasks for work that no command proves: a reviewer who has not done it judges its files.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::text::list_some;
use omo_plan::model::{Plan, ReviewTime, Task, TaskComplexity, TaskKind};
use omo_plan::proof::unproved_tasks;
use omo_plan::task_graph;
use omo_plan::{id, task_list::VERIFY_TASK_ID};

const MAX_NAMED: usize = 8;

/// Adds a review after each group with work that no command proves, or one after all, as the policy says. In a plan
/// whose tasks are worked on at the same time later tasks wait for the review.
pub(super) fn add_reviews(plan: &mut Plan, makes_others_wait: bool) {
    let unproved: BTreeSet<String> = unproved_tasks(plan).map(|task| task.id.clone()).collect();
    if unproved.is_empty() || !plan.policy.unproved_continues || plan.verification_task().is_some()
    {
        return;
    }
    let parts = match plan.policy.review {
        ReviewTime::Never => return,
        ReviewTime::End => vec![plan.tasks.iter().map(|task| task.id.clone()).collect()],
        ReviewTime::Waves if makes_others_wait => levels(&plan.tasks),
        ReviewTime::Waves => plan
            .groups
            .iter()
            .map(|group| group.tasks.clone())
            .collect(),
        ReviewTime::Tasks => unproved
            .iter()
            .map(|id| vec![id.clone()])
            .collect::<Vec<_>>(),
    };
    for part in parts
        .iter()
        .filter(|part| part.iter().any(|id| unproved.contains(id)))
    {
        let Some(id) = free_id(plan) else { return };
        if makes_others_wait && plan.policy.review != ReviewTime::End {
            hold_later_tasks(plan, part, &id);
        }
        insert_review(plan, part, &unproved, id);
    }
}

/// The id of the next review: the usual one of a verification, unless a task has it.
pub(super) fn free_id(plan: &Plan) -> Option<String> {
    let names = std::iter::once(VERIFY_TASK_ID.to_owned())
        .chain((1..=plan.tasks.len() + 1).map(|number| format!("{VERIFY_TASK_ID}-{number}")));
    names
        .into_iter()
        .find(|name| id::is_id(name) && plan.task(name).is_none())
}

fn levels(tasks: &[Task]) -> Vec<Vec<String>> {
    let places: BTreeMap<&str, usize> = tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), place))
        .collect();
    let needs: Vec<Vec<usize>> = tasks
        .iter()
        .map(|task| {
            task.deps
                .iter()
                .filter_map(|id| places.get(id.as_str()).copied())
                .collect()
        })
        .collect();
    let order = task_graph::order_by_needs(&needs).unwrap_or_default();
    let mut level_of: Vec<usize> = vec![0; tasks.len()];
    let mut levels: Vec<Vec<String>> = Vec::new();
    for place in order {
        let task_needs = needs.get(place).into_iter().flatten();
        let level = task_needs
            .filter_map(|need| level_of.get(*need))
            .map(|level| level + 1)
            .max()
            .unwrap_or(0);
        level_of
            .get_mut(place)
            .into_iter()
            .for_each(|known| *known = level);
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        let id = tasks.get(place).map(|task| task.id.clone());
        levels
            .get_mut(level)
            .into_iter()
            .for_each(|known| known.extend(id.clone()));
    }
    levels
}

fn hold_later_tasks(plan: &mut Plan, part: &[String], review: &str) {
    for task in plan
        .tasks
        .iter_mut()
        .filter(|task| !part.contains(&task.id) && !task.is_verification())
    {
        if task.deps.iter().any(|id| part.contains(id)) {
            task.deps.push(review.to_owned());
        }
    }
}

fn insert_review(plan: &mut Plan, part: &[String], unproved: &BTreeSet<String>, id: String) {
    let judged: Vec<&str> = part
        .iter()
        .map(String::as_str)
        .filter(|id| unproved.contains(*id))
        .collect();
    let title = format!("Review of {}", list_some(judged.iter().copied(), MAX_NAMED));
    let body = format!(
        "# {title}\n\nNo command proves these tasks. Judge each by its text and by what is in the files.\n"
    );
    let criteria = judged
        .iter()
        .map(|id| format!("{id} is done as the plan says, and nothing of it is missing"));
    let review = Task {
        kind: TaskKind::Verify,
        criteria: criteria.collect(),
        deps: part.to_vec(),
        complexity: TaskComplexity::Complex,
        contract: Some("a verdict, shown by commands".to_owned()),
        ..Task::new(id.clone(), title).with_body(body, [1, 1])
    };
    let place = plan
        .tasks
        .iter()
        .rposition(|task| part.contains(&task.id))
        .map_or(plan.tasks.len(), |place| place + 1);
    plan.tasks.insert(place, review);
    // The review belongs to the group of the last of them: a stop after that group comes after the review.
    if let Some(group) = plan
        .groups
        .iter_mut()
        .rev()
        .find(|group| group.tasks.iter().any(|id| part.contains(id)))
    {
        let place = group
            .tasks
            .iter()
            .rposition(|id| part.contains(id))
            .map_or(group.tasks.len(), |place| place + 1);
        group.tasks.insert(place, id);
    }
}

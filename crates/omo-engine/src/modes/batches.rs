//! Batches: tasks one after the other, up to the next stop for a person.

use omo_plan::model::{OnTaskFail, Parallelism, Plan, RunPolicy, Task, TaskGroup};

use super::ModeOptions;
use super::graph::{dependents, flattened, group};
use super::review::add_reviews;

/// Keeps a plan's batches, or makes some: a stop follows the first, and any with a hub or a mark.
pub(super) fn arranged(plan: Plan, options: &ModeOptions) -> Plan {
    if plan.groups.iter().any(|group| group.hard_stop) {
        return plan;
    }
    let mut plan = flattened(plan);
    plan.groups = in_batches(&plan.tasks, options);
    plan.policy = RunPolicy {
        on_task_fail: OnTaskFail::Continue,
        parallel: Parallelism::None,
        batch_size: options.batch_size,
        hub_dependents: options.hub_k,
        ..plan.policy
    };
    add_reviews(&mut plan, false);
    plan
}

fn in_batches(tasks: &[Task], options: &ModeOptions) -> Vec<TaskGroup> {
    let needed = dependents(tasks);
    let size = usize::try_from(options.batch_size)
        .unwrap_or(usize::MAX)
        .max(1);
    tasks
        .chunks(size)
        .enumerate()
        .map(|(place, tasks)| TaskGroup {
            hard_stop: place == 0
                || tasks.iter().any(|task| {
                    task.stop_after
                        || needed
                            .get(task.id.as_str())
                            .is_some_and(|count| *count >= options.hub_k.max(1))
                }),
            ..group(
                format!("batch-{}", place + 1),
                format!("Batch {}", place + 1),
                tasks.iter().map(|task| task.id.clone()).collect(),
                place,
            )
        })
        .collect()
}

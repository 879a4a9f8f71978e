//! Step by step: the session that was asked does one task after the other itself.

use omo_plan::model::{GroupIsolation, Parallelism, Plan, RunPolicy, TaskGroup};

use super::graph::{flattened, group};
use super::review::add_reviews;

/// All tasks in the user's own work tree, in order. Only the stops that the plan itself marks are kept.
pub(super) fn arranged(plan: Plan) -> Plan {
    let has_stops = plan.groups.iter().any(|group| group.hard_stop)
        || plan.tasks.iter().any(|task| task.stop_after);
    if has_stops || plan.policy.parallel == Parallelism::Tasks {
        return in_stretches(flattened(plan));
    }
    let mut plan = plan;
    add_reviews(&mut plan, false);
    plan.groups = plan
        .groups
        .into_iter()
        .map(|group| TaskGroup {
            wave: 0,
            deps: Vec::new(),
            isolation: GroupIsolation::Shared,
            ..group
        })
        .collect();
    plan.policy = RunPolicy {
        parallel: Parallelism::None,
        ..plan.policy
    };
    plan
}

fn in_stretches(mut plan: Plan) -> Plan {
    add_reviews(&mut plan, false);
    let mut stretches: Vec<TaskGroup> = Vec::new();
    for task in &plan.tasks {
        let place = stretches.len();
        match stretches.last_mut().filter(|last| !last.hard_stop) {
            Some(last) => last.tasks.push(task.id.clone()),
            None => stretches.push(group(
                format!("part-{}", place + 1),
                format!("Part {}", place + 1),
                vec![task.id.clone()],
                place,
            )),
        }
        if let Some(last) = stretches.last_mut() {
            last.hard_stop = task.stop_after;
        }
    }
    plan.groups = stretches;
    plan.policy = RunPolicy {
        parallel: Parallelism::None,
        ..plan.policy
    };
    plan
}

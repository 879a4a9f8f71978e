//! The batches that are dispatched in one go, up to the next stop at which a person is asked.

use std::collections::BTreeSet;

use crate::schedule::group_order;
use crate::state::RunState;

/// Open tasks of each batch up to the next stop; empty at the end of the run, or while a stop waits for a person.
pub fn next_batches(state: &RunState) -> Vec<Vec<&str>> {
    let standings = state.standings();
    let left: BTreeSet<&str> = standings
        .iter()
        .filter(|(_, standing)| !standing.is_ended())
        .map(|(task, _)| task.id.as_str())
        .collect();
    let mut batches = Vec::new();
    for place in group_order(&state.plan) {
        let Some(group) = state.plan.groups.get(place) else {
            continue;
        };
        let batch: Vec<&str> = group
            .tasks
            .iter()
            .map(String::as_str)
            .filter(|id| left.contains(id))
            .collect();
        if !batch.is_empty() {
            batches.push(batch);
        }
        if group.hard_stop && !state.is_stop_passed(place) {
            break;
        }
    }
    batches
}

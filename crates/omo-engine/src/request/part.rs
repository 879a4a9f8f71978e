//! The strategy of a plan, one session or a client for each, and the tasks and groups of its parts.

use omo_plan::model::{Plan, Task, TaskGroup};
use omo_plan::plan_summary::{SESSION_PREFIX, sessions_per_wave};
use omo_plan::strategy::RunStrategy;

use super::arguments::{PlanSelection, RunMode, RunRequest};
use crate::execution_mode::ExecutionMode;

/// The plan's own strategy if all of it starts without `--fg`, and else a single session. A resumed
/// run goes on as its ledger has it.
pub fn requested_strategy(plan: &Plan, request: &RunRequest) -> RunStrategy {
    let takes_all = matches!(request.mode(), RunMode::Execute | RunMode::DryRun)
        && request.selection == PlanSelection::Whole;
    if takes_all && !request.is_foreground {
        RunStrategy::for_plan(plan)
    } else {
        RunStrategy::SingleSession
    }
}

/// The strategy of an arranged plan: parallel clients only in `ExecutionMode::Parallel`, one for each group.
pub fn strategy_of_mode(plan: &Plan, mode: ExecutionMode) -> RunStrategy {
    if mode != ExecutionMode::Parallel {
        return RunStrategy::SingleSession;
    }
    let groups: Vec<&TaskGroup> = plan
        .groups
        .iter()
        .filter(|group| !group.tasks.is_empty())
        .collect();
    let parallel: usize = sessions_per_wave(&groups)
        .iter()
        .map(|(_, count)| *count)
        .filter(|count| *count > 1)
        .sum();
    RunStrategy::Sessions {
        parallel,
        sequential: groups.len() - parallel,
    }
}

pub fn selected_groups(plan: &Plan, part: PlanSelection) -> Vec<&TaskGroup> {
    plan.groups
        .iter()
        .filter(|group| match part {
            PlanSelection::Whole => true,
            PlanSelection::Step(number) => group.tasks.iter().any(|id| id.parse() == Ok(number)),
            PlanSelection::Session(number) => is_session(group, number),
        })
        .collect()
}

pub fn selected_tasks(plan: &Plan, part: PlanSelection) -> Vec<&Task> {
    plan.tasks
        .iter()
        .filter(|task| match part {
            PlanSelection::Whole => true,
            PlanSelection::Step(number) => task.id.parse() == Ok(number),
            PlanSelection::Session(number) => plan
                .group_of(&task.id)
                .is_some_and(|(_, group)| is_session(group, number)),
        })
        .collect()
}

fn is_session(group: &TaskGroup, number: u64) -> bool {
    group
        .id
        .strip_prefix(SESSION_PREFIX)
        .is_some_and(|id| id.parse() == Ok(number))
}

//! Waves: all tasks that can begin at once in one work tree, then a verification, and rounds over what failed.

use omo_plan::model::{
    OnFailure, OnTaskFail, Parallelism, Plan, ReviewTime, RunPolicy, Task, TaskComplexity, TaskKind,
};

use super::ModeOptions;
use super::graph::{flattened, group};
use super::review::{add_reviews, free_id};

/// Gives each task one attempt and adds a verification; a plan made for workers at once stays.
pub(super) fn arranged(plan: Plan, options: &ModeOptions) -> Plan {
    if plan.policy.parallel == Parallelism::Tasks {
        return plan;
    }
    let mut plan = flattened(plan);
    for task in &mut plan.tasks {
        // The changes of one worker cannot be taken back without those of others; another round does it again.
        task.on_failure = match task.on_failure {
            OnFailure::Escalate => OnFailure::Escalate,
            OnFailure::Revert | OnFailure::Retry | OnFailure::Skip | OnFailure::Hold => {
                OnFailure::Hold
            }
        };
        task.max_attempts = 1;
    }
    let skips_verification = options.skips_verification || plan.policy.review == ReviewTime::Never;
    if plan.verification_task().is_none() {
        if plan.policy.review != ReviewTime::End {
            add_reviews(&mut plan, true);
        }
        if !skips_verification {
            add_verification(&mut plan);
        }
    }
    let ids = plan.tasks.iter().map(|task| task.id.clone()).collect();
    plan.groups = vec![group("tasks".to_owned(), "Tasks".to_owned(), ids, 0)];
    plan.policy = RunPolicy {
        on_task_fail: OnTaskFail::NextRound,
        parallel: Parallelism::Tasks,
        max_workers: options.max_workers,
        max_rounds: options.max_iterations.max(1),
        skips_verification,
        ..plan.policy
    };
    plan
}

/// Adds a verification task. Without final checks it runs the checks of the tasks again, except for those of test tasks.
fn add_verification(plan: &mut Plan) {
    let Some(id) = free_id(plan) else { return };
    if plan.final_checks.is_empty() {
        for check in plan
            .tasks
            .iter()
            .filter(|task| task.kind != TaskKind::Tests)
            .flat_map(|task| &task.checks)
        {
            if !plan.final_checks.contains(check) {
                plan.final_checks.push(check.clone());
            }
        }
    }
    let body = "# Verification\n\nEvery task is done as the plan says, and shown to be.\n";
    plan.tasks.push(Task {
        kind: TaskKind::Verify,
        deps: plan.tasks.iter().map(|task| task.id.clone()).collect(),
        criteria: vec!["the goal of the plan is reached".to_owned()],
        complexity: TaskComplexity::Complex,
        contract: Some("a verdict, shown by commands".to_owned()),
        ..Task::new(id, "Verification").with_body(body, [1, 1])
    });
}

//! Checks that run without the work of a task, to see that they can fail: for tests written first,
//! and for an implementation whose tests are a task of their own.

use omo_core::check::counterfactual::{CheckCounterfactual, Counterfactual, WithoutChange};
use omo_core::check::task_check::{ExpectedExit, ExpectedResult, TaskCheck};
use omo_core::text::sanitize;
use omo_plan::model::{Plan, Task, TaskKind};

use crate::state::{RunState, TaskStatus};

pub(crate) fn red_check<'a>(plan: &'a Plan, task: &'a Task) -> Option<&'a TaskCheck> {
    if !matches!(task.kind, TaskKind::Impl | TaskKind::Doc) {
        return None;
    }
    task.red_check
        .as_ref()
        .or_else(|| tests_of(plan, task)?.red_check.as_ref())
}

fn tests_of<'a>(plan: &'a Plan, task: &Task) -> Option<&'a Task> {
    plan.task(task.pair.as_deref()?)
        .filter(|other| other.kind == TaskKind::Tests && task.kind == TaskKind::Impl)
}

/// `true` if a task's checks also run without its work, once they are green with it.
pub(crate) fn is_asked(plan: &Plan, task: &Task) -> bool {
    !task.checks.is_empty() && (red_check(plan, task).is_some() || tests_of(plan, task).is_some())
}

/// `true` if green checks without its work fail a task: an implementation whose tests exist.
pub(crate) fn must_be_red(plan: &Plan, task: &Task) -> bool {
    is_asked(plan, task) && tests_of(plan, task).is_some()
}

/// Checks that run without the work of a task: its own, and the one that has to fail then.
pub(crate) fn checks_to_prove(plan: &Plan, task: &Task) -> Vec<TaskCheck> {
    let mut checks = task.checks.clone();
    if let Some(red) = red_check(plan, task)
        && checks
            .iter()
            .all(|check| check.definition() != red.definition())
    {
        // With the work it passes.
        checks.push(TaskCheck {
            expect: ExpectedResult {
                exit: ExpectedExit::Zero,
                stdout_has: None,
            },
            ..red.clone()
        });
    }
    checks
}

pub(crate) fn unproved_implementation(
    plan: &Plan,
    task: &Task,
    answers: &[CheckCounterfactual],
) -> Option<String> {
    if !must_be_red(plan, task) {
        return None;
    }
    let mut own = answers
        .iter()
        .filter(|answer| task.checks.iter().any(|check| check.command == answer.name))
        .peekable();
    let is_red = answers.iter().any(|answer| answer.without.is_red());
    if is_red || own.peek().is_none() || !own.all(|answer| answer.without == WithoutChange::Green) {
        return None;
    }
    describe(answers)
}

/// Weakness of a passed task: the test that has to fail without its work does not, or the result is unknown.
pub fn weakness(state: &RunState, task: &Task) -> Option<String> {
    let task_state = state
        .tasks
        .get(&task.id)
        .filter(|task| task.status == TaskStatus::Passed)?;
    weakest_answer(
        &state.plan,
        task,
        &task_state.last_end.as_ref()?.without_work,
    )
}

fn weakest_answer(plan: &Plan, task: &Task, answers: &[CheckCounterfactual]) -> Option<String> {
    let red = red_check(plan, task);
    let known = answers
        .iter()
        .find(|answer| red.is_some_and(|red| red.command == answer.name))
        .or_else(|| answers.iter().max_by_key(|answer| rank(answer.without)))?;
    let command = sanitize(&known.name, 120).replace('`', "'");
    match known.without {
        WithoutChange::Red | WithoutChange::NotBuilt => None,
        WithoutChange::Green => Some(format!(
            "`{command}` is green without the work, too: it shows nothing about it"
        )),
        WithoutChange::Unknown => Some(format!(
            "whether `{command}` fails without the work could not be told: {}",
            sanitize(&known.reason, 200)
        )),
    }
}

/// Rank of a result, highest for the most telling one.
fn rank(without: WithoutChange) -> u8 {
    match without {
        WithoutChange::Unknown => 0,
        WithoutChange::Green => 1,
        WithoutChange::NotBuilt => 2,
        WithoutChange::Red => 3,
    }
}

pub fn describe(answers: &[CheckCounterfactual]) -> Option<String> {
    (!answers.is_empty())
        .then(|| Counterfactual::Known(answers.to_vec()).comparison_with_test_count())
        .flatten()
}

#[cfg(test)]
mod tests;

//! The standing of each task: its status, or the task that blocks it, computed on each call and never stored.

use std::collections::{BTreeMap, VecDeque};

use omo_core::check::task_check::TaskCheckOutcome;
use omo_plan::model::{OnFailure, Plan, PlannedState, RunPolicy, Task};
use omo_view::run_view::{Standing, TaskCounts};

use crate::state::{QuestionState, RunState, RunningAttempt, TaskStanding, TaskStatus};

impl RunState {
    /// Outcome of each check of the whole, in the order of the plan; `None` for one that was not run.
    pub(crate) fn final_outcomes(&self) -> impl Iterator<Item = Option<&TaskCheckOutcome>> {
        (0..self.plan.final_checks.len()).map(|place| self.final_checks.get(&place))
    }

    pub fn open_question(&self) -> Option<&QuestionState> {
        self.questions.iter().find(|state| state.answer.is_none())
    }

    /// `true` once the stop after a batch was passed; `group` is the position of the batch, from `0`.
    pub fn is_stop_passed(&self, group: usize) -> bool {
        self.plan.groups.get(group).is_some_and(|group| {
            group
                .tasks
                .iter()
                .all(|id| self.reviewed_tasks.contains(id))
        })
    }

    /// The standing of a task; `None` for one outside of the plan.
    pub fn standing(&self, id: &str) -> Option<TaskStanding> {
        let status = self.tasks.get(id)?.status;
        let blocker = self.blocked_tasks().get(id).map(|by| (*by).to_owned());
        Some(blocker.map_or(TaskStanding::Is(status), |by| TaskStanding::Blocked { by }))
    }

    pub fn standings(&self) -> Vec<(&Task, TaskStanding)> {
        let blocked = self.blocked_tasks();
        self.plan
            .tasks
            .iter()
            .map(|task| {
                let standing = match blocked.get(task.id.as_str()) {
                    Some(by) => TaskStanding::Blocked {
                        by: (*by).to_owned(),
                    },
                    None => TaskStanding::Is(self.status_of(&task.id)),
                };
                (task, standing)
            })
            .collect()
    }

    pub(crate) fn status_of(&self, id: &str) -> TaskStatus {
        self.tasks
            .get(id)
            .map(|state| state.status)
            .unwrap_or_default()
    }

    fn blocked_tasks(&self) -> BTreeMap<&str, &str> {
        let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut blocked = BTreeMap::new();
        let mut ends = VecDeque::new();
        for task in &self.plan.tasks {
            let status = self.status_of(&task.id);
            if matches!(status, TaskStatus::Pending | TaskStatus::Held) {
                for id in &task.deps {
                    dependents.entry(id).or_default().push(&task.id);
                }
            } else if status.is_ended() && !unblocks_dependents(&self.plan.policy, task, status) {
                ends.push_back(task.id.as_str());
            }
        }
        while let Some(by) = ends.pop_front() {
            for id in dependents.remove(by).unwrap_or_default() {
                blocked.entry(id).or_insert_with(|| {
                    ends.push_back(id);
                    by
                });
            }
        }
        blocked
    }

    /// `true` for a task whose dependents may begin: passed, claimed, or unproved or skipped as the plan allows.
    pub fn unblocks_dependents(&self, id: &str) -> bool {
        match self.status_of(id) {
            // The only status for which the plan is searched, as that is slow.
            TaskStatus::Skipped => self.plan.task(id).is_some_and(|task| {
                unblocks_dependents(&self.plan.policy, task, TaskStatus::Skipped)
            }),
            TaskStatus::Unverified => self.plan.policy.unproved_continues,
            status => matches!(status, TaskStatus::Passed | TaskStatus::Claimed),
        }
    }

    pub(crate) fn is_refused(&self, id: &str) -> bool {
        self.status_of(id) == TaskStatus::Failed
            && self
                .tasks
                .get(id)
                .is_some_and(|task| task.refused_as.is_some())
    }

    pub fn is_reviewed(&self) -> bool {
        let verdict = self
            .plan
            .verification_task()
            .and_then(|task| self.standing(&task.id));
        verdict == Some(TaskStanding::Is(TaskStatus::Passed))
    }

    pub(crate) fn lacks_a_task(&self) -> bool {
        self.plan
            .tasks
            .iter()
            .any(|task| match self.status_of(&task.id) {
                TaskStatus::Unverified => !self.plan.policy.unproved_continues,
                TaskStatus::Skipped => task.state != PlannedState::LeftOut,
                _ => false,
            })
    }

    pub(crate) fn is_outside_branch(&self) -> bool {
        self.parallel
            .as_ref()
            .is_some_and(|parallel| parallel.landed.is_none())
            || self.lacks_commits()
    }

    pub fn lacks_commits(&self) -> bool {
        self.missing_commits
            .iter()
            .any(|missing| missing.lacking.is_none())
    }

    /// Number of tasks by standing, verifications left out.
    pub fn task_counts(&self) -> TaskCounts {
        let mut counts = TaskCounts::default();
        for (task, standing) in self
            .standings()
            .into_iter()
            .filter(|(task, _)| !task.is_verification())
        {
            counts.total += 1;
            match view_standing(task, &standing) {
                Standing::Passed => counts.passed += 1,
                Standing::Claimed => counts.claimed += 1,
                Standing::Failed => counts.failed += 1,
                Standing::Unproved => counts.unproved += 1,
                Standing::Blocked | Standing::Skipped | Standing::LeftOut => counts.blocked += 1,
                Standing::Running | Standing::Interrupted | Standing::Pending => {
                    counts.pending += 1;
                }
            }
        }
        counts
    }

    /// Number of the task's latest attempt, from `1`.
    pub(crate) fn attempt_of(&self, id: &str) -> u32 {
        self.tasks.get(id).map_or(1, |task| task.attempts)
    }

    pub fn running_attempts(&self) -> impl Iterator<Item = (&str, &RunningAttempt)> {
        self.tasks
            .iter()
            .filter_map(|(id, task)| Some((id.as_str(), task.running.as_ref()?)))
    }
}

pub(crate) fn view_standing(task: &Task, standing: &TaskStanding) -> Standing {
    match standing {
        TaskStanding::Blocked { .. } => Standing::Blocked,
        TaskStanding::Is(TaskStatus::Pending) => Standing::Pending,
        TaskStanding::Is(TaskStatus::Running) => Standing::Running,
        TaskStanding::Is(TaskStatus::Held) => Standing::Interrupted,
        TaskStanding::Is(TaskStatus::Passed) => Standing::Passed,
        TaskStanding::Is(TaskStatus::Claimed) => Standing::Claimed,
        TaskStanding::Is(TaskStatus::Unverified) => Standing::Unproved,
        TaskStanding::Is(TaskStatus::Failed) => Standing::Failed,
        TaskStanding::Is(TaskStatus::Skipped) if task.state == PlannedState::LeftOut => {
            Standing::LeftOut
        }
        TaskStanding::Is(TaskStatus::Skipped) => Standing::Skipped,
    }
}

pub(crate) fn unblocks_dependents(policy: &RunPolicy, task: &Task, status: TaskStatus) -> bool {
    match status {
        TaskStatus::Passed | TaskStatus::Claimed | TaskStatus::Unverified => {
            is_work_done(policy, status)
        }
        TaskStatus::Skipped => {
            task.on_failure == OnFailure::Skip || task.state == PlannedState::LeftOut
        }
        TaskStatus::Pending | TaskStatus::Running | TaskStatus::Held | TaskStatus::Failed => false,
    }
}

/// `true` where nothing is left for a worker: passed, claimed, or unproved where the plan allows it.
pub(crate) fn is_work_done(policy: &RunPolicy, status: TaskStatus) -> bool {
    match status {
        TaskStatus::Passed | TaskStatus::Claimed => true,
        TaskStatus::Unverified => policy.unproved_continues,
        _ => false,
    }
}

/// `true` for a task without a Task Contract in a plan that requires one for each: it is never begun.
pub(crate) fn lacks_contract(plan: &Plan, task: &Task) -> bool {
    plan.policy.requires_contracts && task.contract.is_none()
}

//! The next step of a run, one pure function of its state. There is always an action or an end: the run is over where
//! nothing can be begun, no worker is at work and no question is open.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use omo_plan::model::{
    GroupIsolation, OnFailure, OnTaskFail, Parallelism, Plan, PlanDecision, Precondition, Task,
    TaskGroup,
};
use omo_plan::paths;

use crate::event::{QuestionKind, RunResult};
use crate::parallel_schedule::ParallelAction;
use crate::standing::{lacks_contract, unblocks_dependents};
use crate::state::{
    ANSWER_CONTINUE, ANSWER_ONE_BY_ONE, ANSWER_STOP, ANSWER_WITHDRAWN, QuestionState, RunPhase,
    RunState, TaskStanding, TaskStatus,
};
use crate::{parallel_schedule, rounds};

const MAX_WORKERS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextAction<'a> {
    /// Wait for the answer of a person; nothing else is begun before.
    Ask(&'a QuestionState),
    AskNew(QuestionKind),
    Start(Vec<&'a Task>),
    Wait(Vec<&'a str>),
    Parallel(ParallelAction<'a>),
    CommitAgain(&'a Task),
    FinalChecks,
    NextRound {
        /// Ids of tasks to do again, with reasons.
        reopened: Vec<(String, String)>,
    },
    End(RunResult),
    Over,
}

pub fn next_action(state: &RunState) -> NextAction<'_> {
    if state.phase != RunPhase::Executing {
        return NextAction::Over;
    }
    if let Some(parallel) = &state.parallel {
        if let Some(action) = before_clients(state) {
            return action;
        }
        // A question of one session holds up no other session: `parallel_schedule` asks it.
        return match parallel_schedule::next_action(state, parallel) {
            ParallelAction::End(result) => NextAction::End(result),
            ParallelAction::FinalChecks => NextAction::FinalChecks,
            ParallelAction::Ask(question) => NextAction::Ask(question),
            ParallelAction::Open(about) => NextAction::AskNew(about),
            step => NextAction::Parallel(step),
        };
    }
    let running: Vec<&str> = state.running_attempts().map(|(id, _)| id).collect();
    if state.is_stopped {
        return if running.is_empty() {
            NextAction::End(RunResult::Failed)
        } else {
            NextAction::Wait(running)
        };
    }
    if let Some(question) = state.open_question() {
        return NextAction::Ask(question);
    }
    if let Some(about) = due_question(state) {
        return NextAction::AskNew(about);
    }
    if let Some(task) = state.refused_commit(Some(ANSWER_CONTINUE)) {
        return NextAction::CommitAgain(task);
    }
    let view = View::new(state);
    let stops = view.failures().any(|task| view.stops_the_run(task));
    if stops && running.is_empty() {
        return NextAction::End(RunResult::Failed);
    }
    // Nothing more begins after a failed verification: open tasks are done in the next round.
    if running.is_empty()
        && rounds::has_failed_verification(state)
        && let Some(action) = next_round(state)
    {
        return action;
    }
    if !stops {
        if let Some(group) = view.due_stop() {
            return NextAction::AskNew(QuestionKind::HardStop { group });
        }
        let ready = view.startable_tasks();
        if !ready.is_empty() {
            return NextAction::Start(ready);
        }
    }
    if !running.is_empty() {
        return NextAction::Wait(running);
    }
    if let Some(action) = next_round(state) {
        return action;
    }
    if view.failures().next().is_some() || !view.unfinished_tasks.is_empty() {
        return NextAction::End(RunResult::CompletedWithFailures);
    }
    final_check_action(&view)
}

/// Questions before the first client is started: verification, entry condition and open decisions of the plan.
fn before_clients(state: &RunState) -> Option<NextAction<'_>> {
    if state.is_stopped || state.running_attempts().next().is_some() {
        return None;
    }
    state
        .questions
        .iter()
        .find(|asked| {
            let about = &asked.question.kind;
            asked.answer.is_none()
                && matches!(
                    about,
                    QuestionKind::Verification
                        | QuestionKind::EntryCondition { .. }
                        | QuestionKind::Decisions { .. }
                )
        })
        .map(NextAction::Ask)
        .or_else(|| due_before_all(state).map(NextAction::AskNew))
}

/// The next round, or the run's end after the last round. `None` without a task to be done again.
fn next_round(state: &RunState) -> Option<NextAction<'_>> {
    let reopened = rounds::tasks_to_reopen(state);
    if state.plan.policy.on_task_fail != OnTaskFail::NextRound || reopened.is_empty() {
        return None;
    }
    let is_last = state.round >= state.plan.policy.max_rounds;
    Some(if is_last {
        NextAction::End(RunResult::Failed)
    } else {
        NextAction::NextRound { reopened }
    })
}

fn final_check_action<'a>(view: &View<'a>) -> NextAction<'a> {
    let state = view.state;
    if state
        .final_outcomes()
        .flatten()
        .any(|outcome| !outcome.is_green())
    {
        NextAction::End(RunResult::Failed)
    } else if state.final_outcomes().any(|outcome| outcome.is_none()) {
        NextAction::FinalChecks
    } else if state.lacks_a_task() || state.lacks_commits() {
        NextAction::End(RunResult::CompletedWithFailures)
    } else {
        NextAction::End(RunResult::Complete)
    }
}

/// The next question that has to be asked before any further task begins.
fn due_question(state: &RunState) -> Option<QuestionKind> {
    due_before_all(state)
        .or_else(|| state.due_commit_question())
        .or_else(|| due_judgment(state))
}

fn due_before_all(state: &RunState) -> Option<QuestionKind> {
    if state
        .plan
        .preconditions
        .iter()
        .any(|precondition| matches!(precondition, Precondition::Verification { approved: false }))
        && !was_answered(state, &QuestionKind::Verification)
    {
        return Some(QuestionKind::Verification);
    }
    if let Some(about) = due_entry(state).filter(|about| !was_answered(state, about)) {
        return Some(about);
    }
    due_decisions(state)
}

fn due_entry(state: &RunState) -> Option<QuestionKind> {
    state
        .plan
        .preconditions
        .iter()
        .find_map(|precondition| match precondition {
            Precondition::EntryCondition { text, checks } if checks.is_empty() => {
                Some(QuestionKind::EntryCondition { text: text.clone() })
            }
            _ => None,
        })
}

fn was_answered(state: &RunState, about: &QuestionKind) -> bool {
    state.questions.iter().any(|asked| {
        asked.question.kind == *about
            && asked
                .answer
                .as_ref()
                .is_some_and(|answer| answer.option == ANSWER_CONTINUE)
    })
}

/// The next blocking decision or one without a recommendation, by itself; after these, all others in one question.
fn due_decisions(state: &RunState) -> Option<QuestionKind> {
    let open = state
        .plan
        .preconditions
        .iter()
        .filter_map(|precondition| match precondition {
            Precondition::Decision(decision) if !is_settled(state, decision) => Some(decision),
            _ => None,
        });
    let (single, others): (Vec<_>, Vec<_>) =
        open.partition(|decision| decision.blocking || decision.recommended.is_none());
    let asks_one_by_one = state.questions.iter().any(|asked| {
        matches!(&asked.question.kind, QuestionKind::Decisions { decisions } if decisions.len() > 1)
            && asked
                .answer
                .as_ref()
                .is_some_and(|answer| answer.option == ANSWER_ONE_BY_ONE)
    });
    let asked = match (single.as_slice(), others.as_slice()) {
        ([], []) => return None,
        ([first, ..], _) => slice::from_ref(first),
        ([], [first, _, ..]) if asks_one_by_one => slice::from_ref(first),
        ([], together) => together,
    };
    Some(QuestionKind::Decisions {
        decisions: asked.iter().map(|decision| (*decision).clone()).collect(),
    })
}

/// A decision that needs no question: chosen in the plan, or answered when it was asked by itself.
fn is_settled(state: &RunState, decision: &PlanDecision) -> bool {
    decision.chosen.is_some()
        || state.questions.iter().any(|asked| {
            let QuestionKind::Decisions { decisions } = &asked.question.kind else {
                return false;
            };
            matches!(decisions.as_slice(), [single] if single.is_same_question(decision))
                && asked
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.option != ANSWER_WITHDRAWN)
        })
}

fn due_judgment(state: &RunState) -> Option<QuestionKind> {
    state
        .plan
        .tasks
        .iter()
        .find(|task| {
            let task_state = state.tasks.get(&task.id);
            task.on_failure == OnFailure::Escalate
                && task_state.is_some_and(|task_state| {
                    task_state.status == TaskStatus::Failed && task_state.judgment.is_none()
                })
        })
        .map(|task| QuestionKind::Escalated {
            task: task.id.clone(),
        })
}

pub(crate) fn group_order(plan: &Plan) -> Vec<usize> {
    let mut places: Vec<(usize, usize)> = plan
        .groups
        .iter()
        .enumerate()
        .map(|(place, group)| (group.wave, place))
        .collect();
    places.sort_unstable();
    places.into_iter().map(|(_, place)| place).collect()
}

/// Facts of a state that the rules below ask for again and again, looked up once.
struct View<'a> {
    state: &'a RunState,
    standings: Vec<(&'a Task, TaskStanding)>,
    unfinished_tasks: BTreeSet<&'a str>,
    group_of: BTreeMap<&'a str, usize>,
}

impl<'a> View<'a> {
    fn new(state: &'a RunState) -> Self {
        let standings = state.standings();
        let left = standings
            .iter()
            .filter(|(_, standing)| !standing.is_ended());
        let unfinished_tasks = left.map(|(task, _)| task.id.as_str()).collect();
        let groups = state.plan.groups.iter().enumerate();
        let group_of = groups
            .flat_map(|(place, group)| group.tasks.iter().map(move |id| (id.as_str(), place)));
        Self {
            state,
            unfinished_tasks,
            group_of: group_of.collect(),
            standings,
        }
    }

    fn failures(&self) -> impl Iterator<Item = &'a Task> {
        let failed = self
            .standings
            .iter()
            .filter(|(task, standing)| match standing {
                TaskStanding::Is(status) => {
                    status.is_ended()
                        && !unblocks_dependents(&self.state.plan.policy, task, *status)
                }
                TaskStanding::Blocked { .. } => true,
            });
        failed.map(|(task, _)| *task)
    }

    /// The failed task stops the run: a person said so, or the policy does and no person has said otherwise.
    fn stops_the_run(&self, task: &Task) -> bool {
        match self
            .state
            .tasks
            .get(&task.id)
            .and_then(|task| task.judgment.as_deref())
        {
            Some(ANSWER_STOP) => true,
            Some(_) => false,
            None => {
                self.state.plan.policy.on_task_fail == OnTaskFail::Stop && self.has_failed(task)
            }
        }
    }

    /// The task itself has failed, and not a dependency; nor did a person leave it out.
    fn has_failed(&self, task: &Task) -> bool {
        match self.state.tasks.get(&task.id).map(|task| task.status) {
            Some(TaskStatus::Unverified) => !self.state.plan.policy.unproved_continues,
            status => status == Some(TaskStatus::Failed),
        }
    }

    fn is_over(&self, group: &TaskGroup) -> bool {
        group
            .tasks
            .iter()
            .all(|id| !self.unfinished_tasks.contains(id.as_str()))
    }

    /// Position of the ended batch at which the run stops for a person now; `None` with nothing left to do.
    fn due_stop(&self) -> Option<usize> {
        let groups = &self.state.plan.groups;
        let mut ended = group_order(&self.state.plan)
            .into_iter()
            .take_while(|place| groups.get(*place).is_some_and(|group| self.is_over(group)));
        ended
            .find(|place| self.has_open_stop(*place))
            .filter(|_| !self.unfinished_tasks.is_empty())
    }

    fn has_open_stop(&self, place: usize) -> bool {
        self.state
            .plan
            .groups
            .get(place)
            .is_some_and(|group| group.hard_stop)
            && !self.state.is_stop_passed(place)
    }

    fn startable_tasks(&self) -> Vec<&'a Task> {
        let policy = &self.state.plan.policy;
        let limit = match (policy.parallel, policy.max_workers) {
            (Parallelism::None, _) => 1,
            (Parallelism::Groups | Parallelism::Tasks, 0) => MAX_WORKERS,
            (Parallelism::Groups | Parallelism::Tasks, limit) => {
                usize::try_from(limit).map_or(MAX_WORKERS, |limit| limit.min(MAX_WORKERS))
            }
        };
        let open = self.open_groups();
        let mut at_work: Vec<&Task> = self
            .standings
            .iter()
            .filter(|(_, standing)| *standing == TaskStanding::Is(TaskStatus::Running))
            .map(|(task, _)| *task)
            .collect();
        let mut ready = Vec::new();
        for (task, standing) in &self.standings {
            if at_work.len() >= limit {
                break;
            }
            let is_uncommitted = self
                .state
                .tasks
                .get(&task.id)
                .is_some_and(|task| task.uncommitted.is_some());
            let waits = matches!(
                standing,
                TaskStanding::Is(TaskStatus::Pending | TaskStatus::Held)
            ) && !is_uncommitted;
            if waits
                && self
                    .group_of
                    .get(task.id.as_str())
                    .is_none_or(|place| open.contains(place))
                && task
                    .deps
                    .iter()
                    .all(|id| self.state.unblocks_dependents(id))
                && !lacks_contract(&self.state.plan, task)
                && at_work
                    .iter()
                    .all(|other| self.can_run_together(task, other))
            {
                at_work.push(task);
                ready.push(*task);
            }
        }
        ready
    }

    /// Positions of groups that may begin: every earlier stage, dependency and stop before them is past.
    fn open_groups(&self) -> BTreeSet<usize> {
        let groups = &self.state.plan.groups;
        let order = group_order(&self.state.plan);
        let first_stop = order
            .iter()
            .position(|place| self.has_open_stop(*place))
            .unwrap_or(order.len());
        let reached = order.into_iter().take(first_stop.saturating_add(1));
        let first_wave = groups
            .iter()
            .filter(|group| !self.is_over(group))
            .map(|group| group.wave)
            .min();
        reached
            .filter(|place| {
                groups.get(*place).is_some_and(|group| {
                    let mut deps = groups.iter().filter(|dep| group.deps.contains(&dep.id));
                    Some(group.wave) == first_wave && deps.all(|dep| self.is_over(dep))
                })
            })
            .collect()
    }

    /// Two tasks can run at the same time: in work trees of their own, or in one where they share no file.
    fn can_run_together(&self, one: &Task, other: &Task) -> bool {
        // A work tree under verification stays as it is.
        if [one, other].iter().any(|task| task.is_verification()) {
            return false;
        }
        let places = [one, other].map(|task| self.group_of.get(task.id.as_str()).copied());
        let [first, second] = places;
        let has_worktree = places.into_iter().flatten().any(|place| {
            let group = self.state.plan.groups.get(place);
            group.is_some_and(|group| group.isolation == GroupIsolation::Worktree)
        });
        if first != second && has_worktree {
            return true;
        }
        // A session does one thing after the other.
        if first == second && self.state.plan.policy.parallel == Parallelism::Groups {
            return false;
        }
        // The author of a session's tasks made them for workers side by side, and few of them name files.
        let names_no_file = one.files.is_empty() || other.files.is_empty();
        self.state.is_task_list() && names_no_file || have_disjoint_files(one, other)
    }
}

/// Two tasks can share a work tree at the same time: both name their files, and none of them can be the same.
pub fn have_disjoint_files(one: &Task, other: &Task) -> bool {
    let names_files = !one.files.is_empty() && !other.files.is_empty();
    names_files
        && one.files.iter().all(|file| {
            other
                .files
                .iter()
                .all(|other_file| !paths::paths_overlap(&file.path, &other_file.path))
        })
}

//! The next step of a run with parallel workers, one pure function of the state: sessions start a wave at a time, and
//! are merged as they are done; a conflict holds back only those that need it. The user's branch moves last, once:
//! everything before that can be done again or thrown away.

use omo_plan::model::{Task, TaskGroup};

use crate::event::{QuestionKind, RunResult};
use crate::parallel_state::{GroupState, GroupStatus, ParallelState};
use crate::state::{
    ANSWER_CONTINUE, MAX_LOST_WORKERS, QuestionState, RunPhase, RunState, TaskStatus,
};
use crate::wave_rules::{self, group_outcome};

const MAX_WORKERS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParallelAction<'a> {
    Start(Vec<&'a TaskGroup>),
    Wait(Vec<&'a str>),
    /// Retry a refused commit of this task of a session, since the user has answered so.
    CommitAgain(&'a TaskGroup, &'a Task),
    Merge(&'a TaskGroup),
    Ask(&'a QuestionState),
    Open(QuestionKind),
    /// Run the checks of the whole before this wave begins, with everything merged that can be.
    CheckWave(usize),
    FinalChecks,
    Land,
    /// Remove these sessions' work trees, and keep work that is in no branch of the user.
    Clean(Vec<&'a str>),
    End(RunResult),
}

/// Reason why no client can start once the whole budget was spent.
pub const BUDGET_SPENT: &str =
    "the budget of the run is spent; --resume --max-budget-usd X sets another one";

/// The next action of the driver; `parallel` is the part of `state` about its workers.
pub fn next_action<'a>(state: &'a RunState, parallel: &'a ParallelState) -> ParallelAction<'a> {
    if parallel.landed.is_some() {
        let result = if state.lacks_a_task() {
            RunResult::CompletedWithFailures
        } else {
            RunResult::Complete
        };
        return clean_worktrees(state, parallel, |_| true).unwrap_or(ParallelAction::End(result));
    }
    let view = View { state, parallel };
    let running: Vec<&str> =
        view.ids_where(|group| view.status(group) == Some(GroupStatus::Running));
    if state.is_stopped {
        return view.end_action(running);
    }
    if let Some(asked) = view.question_of_all() {
        return asked;
    }
    if let Some(commit_action) = view.commit_again() {
        return commit_action;
    }
    let held = wave_rules::held_back(state, parallel);
    let mut open: Vec<&TaskGroup> = view
        .groups()
        .filter(|group| !view.is_merged(group) && !held.contains_key(group.id.as_str()))
        .collect();
    // The current wave: the first with a session that can still be merged.
    let Some(wave) = open.iter().map(|group| group.wave).min() else {
        return if held.is_empty() {
            after_all_merged(state, parallel)
        } else {
            view.ask_or_end(running, false)
        };
    };
    open.retain(|group| group.wave == wave);
    // Whatever else is at work, and in any order of the plan.
    if let Some(group) = open
        .iter()
        .filter(|group| view.can_merge(group))
        .min_by_key(|group| {
            view.state_of(group)
                .map(|group_state| group_state.ended_seq)
        })
    {
        return ParallelAction::Merge(group);
    }
    // Earlier waves are merged: their work trees would only take up room.
    if let Some(clean) = clean_worktrees(state, parallel, |group| {
        group.wave < wave && view.is_merged(group)
    }) {
        return clean;
    }
    // Sessions at work go on; nothing more begins once one has failed.
    let has_failed = open.iter().any(|group| view.has_failed(group));
    let room = if has_failed {
        0
    } else {
        max_workers(parallel).saturating_sub(running.len())
    };
    let ready: Vec<&TaskGroup> = open
        .into_iter()
        .filter(|group| view.can_begin(group))
        .take(room)
        .collect();
    if !ready.is_empty() {
        if let Some(first) = view.before_wave(wave, &running) {
            return first;
        }
        // Leftovers of an earlier try go before it begins anew.
        return clean_worktrees(state, parallel, |group| {
            ready.iter().any(|known| known.id == group.id) && view.has_ended(group)
        })
        .unwrap_or(ParallelAction::Start(ready));
    }
    view.ask_or_end(running, has_failed)
}

/// Sessions of a landed run with more to do, which go on from the present tip of the user's branch.
pub fn landed_with_more_work(state: &RunState) -> Option<&ParallelState> {
    let parallel = state
        .parallel
        .as_ref()
        .filter(|parallel| parallel.landed.is_some() && state.phase == RunPhase::Executing)?;
    let view = View { state, parallel };
    let is_checked =
        (0..state.plan.final_checks.len()).all(|place| state.final_checks.contains_key(&place));
    (!is_checked || view.groups().any(|group| !view.is_merged(group))).then_some(parallel)
}

pub fn accepts_billing(state: &RunState) -> bool {
    state
        .parallel
        .as_ref()
        .is_some_and(|parallel| parallel.policy.accepts_billing)
        || state.questions.iter().any(|known| {
            matches!(known.question.kind, QuestionKind::Billing { .. })
                && known
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.option == ANSWER_CONTINUE)
        })
}

struct View<'a> {
    state: &'a RunState,
    parallel: &'a ParallelState,
}

impl<'a> View<'a> {
    fn groups(&self) -> impl Iterator<Item = &'a TaskGroup> + use<'a> {
        self.state.plan.groups.iter()
    }

    fn state_of(&self, group: &TaskGroup) -> Option<&'a GroupState> {
        self.parallel.groups.get(&group.id)
    }

    fn status(&self, group: &TaskGroup) -> Option<GroupStatus> {
        self.state_of(group).map(|group_state| group_state.status)
    }

    fn ids_where(&self, is: impl Fn(&TaskGroup) -> bool) -> Vec<&'a str> {
        self.groups()
            .filter(|group| is(group))
            .map(|group| group.id.as_str())
            .collect()
    }

    /// The group is part of the run's result, and nothing in it was left out or has to be done again.
    fn is_merged(&self, group: &TaskGroup) -> bool {
        self.status(group) == Some(GroupStatus::Merged)
            && group_outcome(self.state, group) == Some(GroupStatus::Done)
    }

    /// The group has ended with something not done, perhaps reopened afterwards.
    fn has_failed(&self, group: &TaskGroup) -> bool {
        self.has_ended(group) && group_outcome(self.state, group) == Some(GroupStatus::Failed)
    }

    /// The group had ended: begun again, it has something to do again.
    fn has_ended(&self, group: &TaskGroup) -> bool {
        self.status(group).is_some_and(GroupStatus::is_ended)
    }

    fn can_begin(&self, group: &TaskGroup) -> bool {
        let is_open = match self.status(group) {
            None | Some(GroupStatus::Ready) => true,
            Some(GroupStatus::Running | GroupStatus::Done) => false,
            Some(GroupStatus::Failed) => !self.has_failed(group),
            Some(GroupStatus::Merged) => group_outcome(self.state, group).is_none(),
            // Also with nothing left to do: the next attempt meets no conflict.
            Some(GroupStatus::InConflict) => {
                group_outcome(self.state, group).is_none()
                    || self
                        .state_of(group)
                        .is_some_and(|group_state| group_state.is_to_redo)
            }
        };
        is_open
            && self.why_stuck(group).is_none()
            && !self.waits_for_an_answer(group)
            && !group.tasks.iter().any(|id| {
                self.state
                    .tasks
                    .get(id)
                    .is_some_and(|task| task.uncommitted.is_some())
            })
    }

    /// A retry of a refused commit, once its session has no client any more.
    fn commit_again(&self) -> Option<ParallelAction<'a>> {
        let task = self.state.refused_commit(Some(ANSWER_CONTINUE))?;
        let (_, group) = self.state.plan.group_of(&task.id)?;
        let may_begin =
            self.status(group) == Some(GroupStatus::Ready) && self.why_stuck(group).is_none();
        may_begin.then_some(ParallelAction::CommitAgain(group, task))
    }

    fn can_merge(&self, group: &TaskGroup) -> bool {
        self.state_of(group).is_some_and(|group_state| {
            group_state.status == GroupStatus::Done && group_state.stuck_reason.is_none()
        })
    }

    fn why_stuck(&self, group: &TaskGroup) -> Option<String> {
        let group_state = self.state_of(group)?;
        group_state.stuck_reason.clone().or_else(|| {
            (group_state.idle_exits >= MAX_LOST_WORKERS).then(|| {
                match group_state.reason.as_deref().unwrap_or_default() {
                    "" => "its clients end without beginning with a step".to_owned(),
                    last => format!(
                        "its clients end without beginning with a step; the last one: {last}"
                    ),
                }
            })
        })
    }

    fn waits_for_an_answer(&self, group: &TaskGroup) -> bool {
        self.state
            .questions
            .iter()
            .filter(|question| question.answer.is_none())
            .any(|question| match &question.question.kind {
                QuestionKind::CheckNotRunnable { task, .. }
                | QuestionKind::CommitRefused { task, .. }
                | QuestionKind::Escalated { task } => group.tasks.contains(task),
                _ => false,
            })
    }

    fn question_of_all(&self) -> Option<ParallelAction<'a>> {
        if let Some(question) = self.state.questions.iter().find(|question| {
            question.answer.is_none()
                && (matches!(
                    &question.question.kind,
                    QuestionKind::Billing { .. } | QuestionKind::LandingRefused { .. }
                ))
        }) {
            return Some(ParallelAction::Ask(question));
        }
        let payer = self
            .parallel
            .policy
            .payer
            .as_ref()
            .filter(|_| !accepts_billing(self.state))?;
        Some(ParallelAction::Open(QuestionKind::Billing {
            payer: payer.clone(),
        }))
    }

    /// Asked once no client is at work. A stuck session is not asked about where one failed: it would come again.
    fn question(&self, has_failed: bool) -> Option<ParallelAction<'a>> {
        if let Some(question) = self.state.open_question() {
            return Some(ParallelAction::Ask(question));
        }
        if let Some(about) = self.state.due_commit_question() {
            return Some(ParallelAction::Open(about));
        }
        if has_failed {
            return None;
        }
        let stuck = self
            .groups()
            .find_map(|group| Some((group, self.why_stuck(group)?)));
        if let Some((group, why)) = stuck {
            return Some(ParallelAction::Open(QuestionKind::Stuck {
                group: group.id.clone(),
                reason: why,
            }));
        }
        // A session that will be done again, once its wave has come, was asked about.
        let group = self
            .groups()
            .find(|group| wave_rules::awaits_decision(self.state, self.parallel, group))?;
        let files = self
            .state_of(group)
            .and_then(|group_state| group_state.reason.clone())
            .unwrap_or_default();
        Some(ParallelAction::Open(QuestionKind::Conflict {
            group: group.id.clone(),
            files,
        }))
    }

    /// The step before a session of this wave begins from the run's result. `None` where it can begin.
    fn before_wave(&self, wave: usize, running: &[&'a str]) -> Option<ParallelAction<'a>> {
        if !running.is_empty() {
            return None;
        }
        if wave_rules::broken_check(self.parallel, wave).is_some() {
            return Some(self.ask_or_end(Vec::new(), false));
        }
        if !wave_rules::is_check_due(self.state, self.parallel, wave) {
            return None;
        }
        Some(ask_about_landing(self.parallel).unwrap_or(ParallelAction::CheckWave(wave)))
    }

    /// The step when nothing more can begin: those at work finish, then a person is asked, and else the run ends.
    fn ask_or_end(&self, running: Vec<&'a str>, has_failed: bool) -> ParallelAction<'a> {
        if !running.is_empty() {
            return ParallelAction::Wait(running);
        }
        self.question(has_failed)
            .unwrap_or_else(|| self.end_action(running))
    }

    fn end_action(&self, running: Vec<&'a str>) -> ParallelAction<'a> {
        if !running.is_empty() {
            return ParallelAction::Wait(running);
        }
        clean_worktrees(self.state, self.parallel, |_| true)
            .unwrap_or(ParallelAction::End(RunResult::Failed))
    }
}

fn ask_about_landing<'a>(parallel: &ParallelState) -> Option<ParallelAction<'a>> {
    parallel.landing_question.clone().map(ParallelAction::Open)
}

fn after_all_merged<'a>(state: &'a RunState, parallel: &'a ParallelState) -> ParallelAction<'a> {
    if state
        .final_outcomes()
        .flatten()
        .any(|outcome| !outcome.is_green())
    {
        return clean_worktrees(state, parallel, |_| true)
            .unwrap_or(ParallelAction::End(RunResult::Failed));
    }
    match ask_about_landing(parallel) {
        Some(question) => question,
        None if state.final_outcomes().any(|outcome| outcome.is_none()) => {
            ParallelAction::FinalChecks
        }
        None => ParallelAction::Land,
    }
}

fn clean_worktrees<'a>(
    state: &'a RunState,
    parallel: &ParallelState,
    is_selected: impl Fn(&TaskGroup) -> bool,
) -> Option<ParallelAction<'a>> {
    let left = state
        .plan
        .groups
        .iter()
        .filter(|group| {
            parallel
                .groups
                .get(&group.id)
                .is_some_and(|group| group.worktree.is_some())
        })
        .filter(|group| is_selected(group));
    let left: Vec<&str> = left.map(|group| group.id.as_str()).collect();
    (!left.is_empty()).then_some(ParallelAction::Clean(left))
}

fn max_workers(parallel: &ParallelState) -> usize {
    // A machine elsewhere takes as many as its launcher says.
    let most = parallel
        .policy
        .profile
        .as_ref()
        .and_then(|profile| usize::try_from(profile.at_once).ok());
    let most = most.unwrap_or(MAX_WORKERS);
    match usize::try_from(parallel.policy.max_workers) {
        Ok(0) | Err(_) => most,
        Ok(wanted) => wanted.min(most),
    }
}

/// The first open task of a session; `None` where a worker is at one, none is left, or an end lets none begin.
pub fn next_task_of<'a>(state: &'a RunState, group: &TaskGroup) -> Option<&'a Task> {
    if group
        .tasks
        .iter()
        .any(|id| state.status_of(id) == TaskStatus::Running)
    {
        return None;
    }
    let first = group
        .tasks
        .iter()
        .find(|id| !state.status_of(id).is_ended() || !state.unblocks_dependents(id))?;
    if state
        .tasks
        .get(first)
        .is_some_and(|task| task.uncommitted.is_some())
    {
        return None;
    }
    let task = state
        .plan
        .task(first)
        .filter(|_| !state.status_of(first).is_ended())?;
    task.deps
        .iter()
        .all(|id| state.unblocks_dependents(id))
        .then_some(task)
}

pub(crate) fn running_group_of<'a>(
    state: &'a RunState,
    parallel: &ParallelState,
    task: &str,
) -> Option<&'a TaskGroup> {
    let group = state
        .plan
        .groups
        .iter()
        .find(|group| group.tasks.iter().any(|id| id == task))?;
    parallel
        .has_status(&group.id, &[GroupStatus::Running])
        .then_some(group)
}

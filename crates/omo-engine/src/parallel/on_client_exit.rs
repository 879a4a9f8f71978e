//! The exit of a session's client: its last message and the ledger decide the next step.

use std::path::PathBuf;

use omo_claude::client_end::{
    ClientEnd, ClientProcessEnd, FollowUp, LedgerFacts, SessionOutput, classify_end, follow_up,
    told_cost,
};
use omo_core::text::sanitize;
use omo_git::proved_worktree::{ProvedWorktree, WorktreeGone};
use omo_plan::model::TaskGroup;
use omo_remote::outcome::process_end;

use super::{DriveError, ParallelDriver, find_worker};
use crate::event::EventKind;
use crate::state::{RunPhase, RunState};
use crate::verbs;
use crate::wave_rules::group_outcome;
use crate::work::{EngineError, SilentWatcher, worker_tree};

impl ParallelDriver<'_> {
    /// Records the end of the client of worker `id`, and has its session resumed, held or ended.
    pub(super) fn on_client_exit(
        &mut self,
        id: &str,
        process: &ClientProcessEnd,
        output: &SessionOutput,
    ) -> Result<(), DriveError> {
        let end = classify_end(process, output, (self.engine.now)());
        let state = self.engine.run.state()?;
        let Some(group) = find_worker(&state, id).cloned() else {
            return Ok(());
        };
        if state
            .parallel
            .as_ref()
            .is_some_and(|parallel| parallel.policy.launcher.is_some())
        {
            return self.take_in_remote_work(&group, process_end(process));
        }
        let goes_on = !state.is_over();
        let (files, tree_error) = match self.files_changed_by(&state, &group) {
            Ok(files) => (files, None),
            Err(tree_error) => (Vec::new(), Some(tree_error.to_string()).filter(|_| goes_on)),
        };
        let facts = LedgerFacts {
            tasks_left: tasks_left(&state, &group),
            was_resumed: self.was_resumed.contains(id),
        };
        let follow = if tree_error.is_some() {
            FollowUp::Settled
        } else if goes_on {
            follow_up(&end, output, facts)
        } else {
            FollowUp::Hold("the run was stopped")
        };
        if let FollowUp::Resume { session } = &follow {
            self.was_resumed.insert(id.to_owned());
            self.to_resume.insert(id.to_owned(), session.clone());
        } else {
            self.was_resumed.remove(id);
        }
        let known = state.group_state(id);
        let reported_cost = told_cost(&end, output);
        let cost = known
            .map(|known| known.cost_of_client(reported_cost))
            .unwrap_or_default();
        let ended = EventKind::WorkerEnded {
            group: id.to_owned(),
            how: describe_client_end(&end),
            cost,
        };
        let is_running = known.is_some_and(|known| known.process.is_some());
        let detail = client_end_detail(&end);
        self.record(|state| {
            let mut events: Vec<EventKind> = is_running.then_some(ended).into_iter().collect();
            if state.phase == RunPhase::Executing {
                events.extend(match &tree_error {
                    Some(why) => verbs::lost_worktree_events(state, &group, why),
                    None => verbs::client_end_events(state, &group, &follow, files, &detail),
                });
            }
            events
        })?;
        self.end_if_done(&group).map(drop)
    }

    /// Retries the commit that `git` refused, in the session's work tree, and goes on with the session.
    pub(super) fn commit_again(
        &self,
        state: &RunState,
        group: &TaskGroup,
        task: &str,
    ) -> Result<(), DriveError> {
        let tree = worker_tree(state, self.engine.run.id(), &group.id);
        let failed = match tree.unwrap_or_else(|| Err(WorktreeGone::NoFolder(PathBuf::new()))) {
            Ok(worktree) => match self
                .engine
                .in_tree(worktree)
                .commit_again(task, &mut SilentWatcher)
            {
                Ok(_) => None,
                Err(EngineError::Cancelled) => return Ok(()),
                Err(error) => Some(error.to_string()),
            },
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = failed {
            return self
                .report_stuck::<()>(
                    group,
                    &format!("its commit could not be tried again: {why}"),
                )
                .map(drop);
        }
        self.end_if_done(group).map(drop)
    }

    fn files_changed_by(
        &self,
        state: &RunState,
        group: &TaskGroup,
    ) -> Result<Vec<String>, WorktreeGone> {
        let tree = state
            .group_state(&group.id)
            .and_then(|known| known.worktree.clone());
        let (Some(tree), Some((id, running))) = (tree, verbs::running_task_in(state, group)) else {
            return Ok(Vec::new());
        };
        let Some(task) = state.plan.task(id) else {
            return Ok(Vec::new());
        };
        let folder = PathBuf::from(tree);
        let Ok(name) = self.worker_name(&group.id) else {
            return Err(WorktreeGone::NoFolder(folder));
        };
        let worktree = ProvedWorktree::of_worker(&self.repository, &name, &folder)?;
        Ok(self
            .engine
            .in_tree(worktree)
            .changed_files(state, task, running))
    }
}

/// Number of tasks of a session that have not ended; `0` where the session itself has.
fn tasks_left(state: &RunState, group: &TaskGroup) -> u32 {
    if group_outcome(state, group).is_some() {
        return 0;
    }
    let left = group.tasks.iter().filter(|id| {
        state
            .tasks
            .get(*id)
            .is_none_or(|task| !task.status.is_ended())
    });
    u32::try_from(left.count()).unwrap_or(u32::MAX).max(1)
}

fn describe_client_end(end: &ClientEnd) -> String {
    match end {
        ClientEnd::Ended => "it ended by itself".to_owned(),
        ClientEnd::TurnsSpent => "it had taken all of its turns".to_owned(),
        ClientEnd::BudgetSpent => "it had spent its budget".to_owned(),
        ClientEnd::UsageLimit { until: Some(until) } => {
            format!("it met a limit of use, which is reset at {until}")
        }
        ClientEnd::UsageLimit { until: None } => "it met a limit of use".to_owned(),
        ClientEnd::ApiError { status, detail } => {
            let status = status
                .map(|status| format!(" ({status})"))
                .unwrap_or_default();
            format!("the API failed{status}: {}", sanitize(detail, 200))
        }
        ClientEnd::TimedOut => "its time was up".to_owned(),
        ClientEnd::Stopped => "it was stopped".to_owned(),
        ClientEnd::Killed { signal } => {
            let signal = signal
                .map(|signal| format!(" with signal {signal}"))
                .unwrap_or_default();
            format!("it was killed{signal}")
        }
        ClientEnd::NeverBegan(why) => format!("it never began: {}", sanitize(why, 200)),
        ClientEnd::Garbage(why) => format!("it ended without a result: {}", sanitize(why, 200)),
    }
}

fn client_end_detail(end: &ClientEnd) -> String {
    match end {
        ClientEnd::ApiError { detail, .. }
        | ClientEnd::NeverBegan(detail)
        | ClientEnd::Garbage(detail) => detail.clone(),
        _ => String::new(),
    }
}

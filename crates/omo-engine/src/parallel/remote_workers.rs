//! The work of workers elsewhere: pushes are fetched and judged here step by step, as if done in the session's tree.

use omo_claude::client_end::FollowUp;
use omo_core::text::sanitize;
use omo_git::integrate::release_kept;
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::remote;
use omo_git::task_trailers::find_task_commit;
use omo_git::worktree::{WorkerName, checkout_at};
use omo_plan::model::TaskGroup;
use omo_remote::branches::Collected;
use omo_remote::launcher::Launcher;
use omo_remote::outcome::RemoteEnd;

use super::{DriveError, ParallelDriver};
use crate::event::EventKind;
use crate::parallel::remote_branches::{count_launches, find_kept_launch};
use crate::state::{RunPhase, TaskStatus};
use crate::work::{CompletionReport, Engine, EngineError, SilentWatcher, WorkerCommit};
use crate::{parallel_schedule, verbs};

enum Judgement {
    Settled,
    Missing(String),
    Refused(String),
}

impl ParallelDriver<'_> {
    /// Takes in a finished worker elsewhere: its push is fetched, deleted there and judged here.
    pub(super) fn take_in_remote_work(
        &self,
        group: &TaskGroup,
        end: RemoteEnd,
    ) -> Result<(), DriveError> {
        self.pause_unfinished_judgement(group)?;
        let state = self.engine.run.state()?;
        let Some(terms) = state
            .parallel
            .as_ref()
            .map(|parallel| parallel.policy.clone())
        else {
            return Ok(());
        };
        let goes_on = !state.is_over();
        let (number, name) = (
            count_launches(self.engine.run, &group.id),
            self.worker_name(&group.id)?,
        );
        // At the end of a run its user waits: a remote that was silent once is not asked for each of its workers.
        let Some(launcher) = self.launcher(&terms, String::new()) else {
            return Ok(());
        };
        let collected = match self.silence.get().filter(|_| !goes_on) {
            Some(why) => Err(why.clone()),
            None => launcher.take_in(&name).map_err(|error| error.to_string()),
        };
        if let Err(why) = &collected
            && !goes_on
        {
            let _ = self.silence.set(why.clone());
        }
        let mut how = end.summary;
        let mut follow = if goes_on {
            end.follow
        } else {
            FollowUp::Hold("the run was stopped")
        };
        let mut stuck = None;
        let mut collected = collected.unwrap_or_else(|error| {
            stuck = Some(format!(
                "what was pushed could not be fetched from {}: {error}",
                terms.remote_name()
            ));
            Collected::default()
        });
        if collected.tips.iter().all(|(launch, ..)| *launch != number)
            && let Some((tip, keeper)) =
                find_kept_launch(self.engine.run, &self.repository, &name, number)?
        {
            // A supervisor that died before the judgement has fetched the push, and deleted it and its report there.
            "what it pushed was fetched before its supervisor ended".clone_into(&mut how);
            (stuck, collected.fetch_error) = (None, None);
            collected.tips.push((number, tip, keeper));
        }
        let pushed = collected
            .tips
            .iter()
            .find(|(launch, ..)| *launch == number)
            .map(|(_, tip, _)| tip.as_str());
        // A push that exists and did not arrive is not nothing: no attempt is used for it.
        stuck = stuck.or_else(|| collected.fetch_error.clone().filter(|_| pushed.is_none()));
        if goes_on && stuck.is_none() {
            match self.judge_pushed(group, &name, pushed)? {
                Judgement::Settled => follow = FollowUp::Settled,
                Judgement::Refused(why) => (follow, stuck) = (FollowUp::Settled, Some(why)),
                Judgement::Missing(task) => {
                    stuck = self.start_missing_task(group, &task, &follow)?;
                }
            }
        } else if stuck.is_some() {
            follow = FollowUp::Settled;
        }
        if let Some(why) = stuck.as_ref().filter(|_| !goes_on) {
            how = format!("{how}; {why}");
        }
        for left in collected.undeleted.iter().chain(&collected.fetch_error) {
            how = format!("{how}; {left}");
        }
        for kept in self.release_kept_commits(&name, collected.tips)? {
            how = format!("{how}; what it pushed is kept as {kept}");
        }
        let (id, how) = (group.id.clone(), sanitize(&how, 500));
        self.record(|state| {
            let known = state.group_state(&id);
            let is_running =
                known.is_some_and(|known| known.process.is_some() || known.job.is_some());
            let ended = EventKind::WorkerEnded {
                group: id.clone(),
                how: how.clone(),
                cost: end.cost,
            };
            let mut events: Vec<EventKind> = is_running.then_some(ended).into_iter().collect();
            if state.phase == RunPhase::Executing {
                events.extend(verbs::client_end_events(
                    state,
                    group,
                    &follow,
                    Vec::new(),
                    &end.detail,
                ));
                events.extend(stuck.map(|why| EventKind::GroupStuck {
                    group: id.clone(),
                    reason: sanitize(&why, 500),
                }));
            }
            events
        })?;
        self.end_if_done(group).map(drop)
    }

    /// Pauses a step whose judgement a dead supervisor began: no worker elsewhere begins one here.
    fn pause_unfinished_judgement(&self, group: &TaskGroup) -> Result<(), DriveError> {
        self.record(|state| {
            verbs::pause_event(state, group, "its supervisor ended while it was judged")
                .filter(|_| state.phase == RunPhase::Executing)
                .into_iter()
                .collect()
        })
        .map(drop)
    }

    /// Judges each step in order, up to the first that does not pass.
    fn judge_pushed(
        &self,
        group: &TaskGroup,
        name: &WorkerName,
        pushed: Option<&str>,
    ) -> Result<Judgement, DriveError> {
        let tree = name.path(&self.repository);
        let state = self.engine.run.state()?;
        let base = state.group_state(&group.id).map(|known| known.base.clone());
        let mut good = self.last_good_commit(&state, group, &base.unwrap_or_default())?;
        let pushed = pushed.unwrap_or(&good).to_owned();
        checkout_at(&self.repository, name, &good)?;
        if !self
            .repository
            .contains(&pushed, std::slice::from_ref(&good))?
        {
            let why = "what was pushed does not go on from the commit that it was given: history was rewritten";
            return Ok(Judgement::Refused(format!(
                "{why} ({pushed} does not follow from {good})"
            )));
        }
        let commits = remote::commit_messages(&self.repository, &good, &pushed)?;
        let engine = match ProvedWorktree::of_worker(&self.repository, name, &tree) {
            Ok(worktree) => self.engine.in_tree(worktree),
            Err(error) => return Ok(Judgement::Refused(error.to_string())),
        };
        loop {
            let state = self.engine.run.state()?;
            let Some(task) = parallel_schedule::next_task_of(&state, group) else {
                return Ok(Judgement::Settled);
            };
            let Some(commit) = find_task_commit(&commits, self.engine.run.id(), &task.id) else {
                return Ok(Judgement::Missing(task.id.clone()));
            };
            if !self
                .repository
                .contains(commit, std::slice::from_ref(&good))?
            {
                let why = format!(
                    "the commit of step {} does not follow from the step before it",
                    task.id
                );
                return Ok(Judgement::Refused(why));
            }
            let judged = self.judge_pushed_task(&engine, name, &task.id, &good, commit);
            let has_passed = match judged {
                Ok(has_passed) => has_passed,
                // The judgement is no longer needed.
                Err(DriveError::Engine(EngineError::Cancelled)) => return Ok(Judgement::Settled),
                Err(DriveError::Engine(EngineError::Refused(refusal))) => {
                    checkout_at(&self.repository, name, &good)?;
                    return Ok(Judgement::Refused(format!(
                        "step {} could not be judged: {}",
                        task.id, refusal.message
                    )));
                }
                Err(error) => return Err(error),
            };
            if !has_passed {
                checkout_at(&self.repository, name, &good)?;
                return Ok(Judgement::Settled);
            }
            commit.clone_into(&mut good);
        }
    }

    /// Judges one step: the difference between the commit before it and its own, and its checks on its own.
    fn judge_pushed_task(
        &self,
        engine: &Engine,
        name: &WorkerName,
        task: &str,
        before: &str,
        commit: &str,
    ) -> Result<bool, DriveError> {
        let started = engine.start(task, &mut SilentWatcher)?;
        checkout_at(&self.repository, name, commit)?;
        let files = remote::changed_files(&self.repository, before, commit)?;
        let committed = WorkerCommit {
            commit: commit.to_owned(),
            files,
        };
        let judged = engine.done(
            &started.ticket,
            CompletionReport::default(),
            Some(&committed),
            &mut SilentWatcher,
        )?;
        Ok(judged
            .state
            .tasks
            .get(task)
            .is_some_and(|task| task.status == TaskStatus::Passed))
    }

    /// Begins a step without a push, so that its end can be written down; gives the reason of a failure.
    fn start_missing_task(
        &self,
        group: &TaskGroup,
        task: &str,
        follow: &FollowUp,
    ) -> Result<Option<String>, DriveError> {
        if !matches!(
            follow,
            FollowUp::FailAttempt(_) | FollowUp::Hold(_) | FollowUp::HoldOrAsk(_)
        ) {
            return Ok(None);
        }
        let name = self.worker_name(&group.id)?;
        let worktree = match ProvedWorktree::of_worker(
            &self.repository,
            &name,
            &name.path(&self.repository),
        ) {
            Ok(worktree) => worktree,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let started = self
            .engine
            .in_tree(worktree)
            .start(task, &mut SilentWatcher);
        match started {
            Ok(_) | Err(EngineError::Cancelled) => Ok(None),
            Err(EngineError::Refused(refusal)) => Ok(Some(refusal.message)),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases references to commits that the branch of its session has; gives the names of the others.
    fn release_kept_commits(
        &self,
        name: &WorkerName,
        tips: Vec<(u32, String, WorkerName)>,
    ) -> Result<Vec<String>, DriveError> {
        let branch_tip = self.repository.commit_of(&name.branch_reference())?;
        let mut kept = Vec::new();
        for (_, tip, keeper) in tips {
            if branch_tip.as_ref().is_some_and(|branch_tip| {
                self.repository
                    .contains(branch_tip, std::slice::from_ref(&tip))
                    .unwrap_or(false)
            }) {
                release_kept(&self.repository, &keeper)?;
            } else {
                kept.push(keeper.keep_reference());
            }
        }
        Ok(kept)
    }
}

//! End of a run's processes: each polls if the run needs it, and `cancel` waits for its commits.

use std::fmt::Write;
use std::time::{Duration, Instant};

use omo_git::integrate::{settle_last_landing, unsigned_commits};
use omo_git::remote::commit_messages;
use omo_git::repository::GitRepository;
use omo_git::task_trailers::find_task_commit;
use omo_plan::refusal::VerbRefusal;

use super::{CommandWatcher, Engine, EngineError};
use crate::event::EventKind;
use crate::parallel::user_branch_base;
use crate::parallel_state::GroupStatus;
use crate::report::taken_back::displaced_line;
use crate::report::ultraplan::short_commit;
use crate::state::RunState;
use crate::{Run, RunStoreError, verbs};

const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time for a commit to end before its user is told of the wait.
const QUIET: Duration = Duration::from_secs(1);

/// Poll of a run's state every half second, for its end.
struct RunLookout<'a, N> {
    run: &'a Run,
    is_needed: N,
    every: Duration,
    looked: Option<Instant>,
    is_over: bool,
}

impl<'a, N: Fn(&RunState) -> bool> RunLookout<'a, N> {
    fn new(run: &'a Run, is_needed: N) -> Self {
        Self {
            run,
            is_needed,
            every: POLL_INTERVAL,
            looked: None,
            is_over: false,
        }
    }

    fn goes_on(&mut self) -> bool {
        if !self.is_over
            && self
                .looked
                .is_none_or(|looked| looked.elapsed() >= self.every)
        {
            self.looked = Some(Instant::now());
            self.is_over = match self.run.state() {
                Ok(state) => !(self.is_needed)(&state),
                Err(error) => matches!(error, RunStoreError::NotFound(_)),
            };
        }
        !self.is_over
    }
}

impl Engine<'_> {
    /// Closure to call again and again, which returns `false` once the run is over.
    pub(crate) fn is_needed(&self) -> impl FnMut() -> bool {
        let mut lookout = RunLookout::new(self.run, |state: &RunState| !state.is_over());
        move || lookout.goes_on()
    }

    /// As [`Engine::is_needed`], until the watcher ends it.
    pub(super) fn is_wanted(&self, watcher: &mut impl CommandWatcher) -> impl FnMut() -> bool {
        self.is_wanted_while(watcher, |state| !state.is_over())
    }

    /// As [`Engine::is_wanted`], as long as the run is in such a state.
    pub(super) fn is_wanted_while(
        &self,
        watcher: &mut impl CommandWatcher,
        is_needed: impl Fn(&RunState) -> bool,
    ) -> impl FnMut() -> bool {
        let mut lookout = RunLookout::new(self.run, is_needed);
        move || watcher.should_continue() && lookout.goes_on()
    }
}

impl Engine<'_> {
    /// Cancels the run; returns lines about a commit under way, as [`Engine::end_commits`].
    pub fn cancel(
        &self,
        reason: &str,
        patience: Duration,
    ) -> Result<(String, RunState), EngineError> {
        self.end_commits(true, patience, |state| verbs::cancel_run(state, reason))
    }

    /// Reports that the worker of a task is gone, as [`Engine::end_commits`].
    pub fn lose_worker(
        &self,
        task: &str,
        patience: Duration,
    ) -> Result<(String, RunState), EngineError> {
        let is_judged = match self.run.try_lock_check(task) {
            // Refused below as an unknown task.
            Err(RunStoreError::Id(_)) => false,
            lock => lock?.is_none(),
        };
        self.end_commits(is_judged, patience, |state| {
            verbs::report_lost_worker(state, task)
        })
    }

    /// Gives the lines about a commit or landing under way: after that nothing moves the user's branch for the run but
    /// a commit that outlasts `patience`. Without `may_commit` a commit under way is that of another task.
    fn end_commits(
        &self,
        may_commit: bool,
        patience: Duration,
        decide: impl FnOnce(&RunState) -> Result<EventKind, VerbRefusal>,
    ) -> Result<(String, RunState), EngineError> {
        let repository = GitRepository::find(self.root);
        let checked_out = || repository.as_ref()?.commit_of("HEAD").ok()?;
        let before = checked_out().unwrap_or_default();
        let mut at_work = Vec::new();
        let state = self.decide(|state| {
            at_work = state
                .running_attempts()
                .map(|(id, _)| id.to_owned())
                .collect();
            Ok(vec![decide(state)?])
        })?;
        at_work.retain(|id| {
            state
                .tasks
                .get(id)
                .is_some_and(|task| task.running.is_none())
        });
        let mut alone = self.run.lock_branch(Duration::ZERO)?;
        let was_free = alone.is_some();
        if alone.is_none() && !may_commit {
            return Ok((String::new(), state));
        }
        if alone.is_none() {
            alone = self.run.lock_branch(QUIET.min(patience))?;
        }
        if alone.is_none() {
            (self.warn)("what it is committing is being ended; this waits for that");
            alone = self.run.lock_branch(patience)?;
        }
        let is_free = alone.is_some();
        let settled = match &repository {
            Some(repository) if is_free && state.parallel.is_some() => {
                settle_last_landing(repository)
            }
            _ => Ok(()),
        };
        if is_free {
            self.settle_commit(&self.run.state()?);
        }
        let now = checked_out().unwrap_or_default();
        let landed = unrecorded_landing(&state, &now);
        let committed_task = self.unrecorded_commit(&state, &at_work, &now);
        let is_moved = before != now || landed.is_some() || committed_task.is_some();
        if let Some([from, to]) = landed.filter(|_| is_free) {
            self.record_landing(from, to)?;
        }
        if let Some(task) = committed_task {
            self.note_commit(&state, task, &now)?;
        }
        let commit = short_commit(&now);
        let mut words = match settled {
            _ if !is_free => {
                " What it is committing has not ended yet, and may still come: see `git log -1`."
                    .to_owned()
            }
            Err(error) => format!(
                " Its move of your branch was cut short: {error}; `omo run resume` ends that."
            ),
            Ok(()) if is_moved => format!(" Your branch moved before it ended, to {commit}."),
            Ok(()) if was_free => String::new(),
            Ok(()) => format!(" What it was committing was ended; your branch is at {commit}."),
        };
        for kept in self
            .run
            .state()?
            .displaced
            .iter()
            .skip_while(|kept| state.displaced.contains(kept))
        {
            let _ = write!(words, " Note: {}.", displaced_line(kept));
        }
        Ok((words, state))
    }

    fn unrecorded_commit<'a>(
        &self,
        state: &RunState,
        ended: &'a [String],
        commit: &str,
    ) -> Option<&'a String> {
        let repository = GitRepository::find(self.root).filter(|_| {
            !state.tasks.values().any(|task| {
                task.last_end
                    .as_ref()
                    .is_some_and(|end| end.commit.as_deref() == Some(commit))
            })
        })?;
        let last = commit_messages(&repository, &format!("{commit}^"), commit).ok()?;
        ended
            .iter()
            .find(|task| find_task_commit(&last, self.run.id(), task) == Some(commit))
    }

    fn note_commit(&self, state: &RunState, task: &str, commit: &str) -> Result<(), EngineError> {
        let Some(task_state) = state.tasks.get(task) else {
            return Ok(());
        };
        let reason = task_state.reason.as_deref().unwrap_or_default();
        let reason = format!(
            "{reason}; its commit {} was made before that",
            short_commit(commit)
        );
        let held = EventKind::TaskHeld {
            task: task.to_owned(),
            attempt: task_state.attempts + 1,
            reason,
            is_pause: true,
        };
        self.transact(|_| Ok((vec![held], ()))).map(drop)
    }

    /// Records a landing whose process ended before it could, unless it was recorded meanwhile.
    fn record_landing(&self, from: String, to: String) -> Result<(), EngineError> {
        let unsigned = GitRepository::find(self.root)
            .and_then(|found| unsigned_commits(&found, &from, &to).ok());
        let landed = EventKind::Landed {
            from,
            to,
            unsigned: unsigned.unwrap_or_default(),
            other_checkouts: Vec::new(),
        };
        self.transact(|state| {
            let is_new = state
                .parallel
                .as_ref()
                .is_some_and(|parallel| parallel.landed.is_none());
            Ok((is_new.then_some(landed).into_iter().collect(), ()))
        })
        .map(drop)
    }
}

/// The unrecorded move of the user's branch: its old tip, and the checked-out commit.
fn unrecorded_landing(state: &RunState, commit: &str) -> Option<[String; 2]> {
    let parallel = state
        .parallel
        .as_ref()
        .filter(|parallel| parallel.landed.is_none())?;
    let from = user_branch_base(state, parallel)
        .filter(|from| *from != commit && parallel.tip == commit)?;
    let is_whole = state
        .plan
        .groups
        .iter()
        .all(|group| parallel.has_status(&group.id, &[GroupStatus::Merged]));
    is_whole.then(|| [from.to_owned(), commit.to_owned()])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use omo_core::timestamp::Timestamp;
    use omo_plan::dialects::{BatchOptions, read};

    use super::*;
    use crate::RunStore;
    use crate::event::EventActor;
    use crate::execution_mode::ExecutionMode;
    use crate::work::RunOpening;

    #[test]
    fn a_run_goes_on_until_it_is_over_or_gone_and_is_looked_at_now_and_then() {
        for is_removed in [false, true] {
            let temp = tempfile::tempdir().unwrap();
            let (root, home) = (temp.path().join("p"), temp.path().join("home"));
            fs::create_dir_all(root.join(".git")).unwrap();
            fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::create_dir(&home).unwrap();
            let opened = EventKind::from(RunOpening {
                plan: read("docs/plan.md", b"", BatchOptions::default()),
                commands_digest: String::new(),
                root: root.display().to_string(),
                worktree: None,
                head: None,
                scope: None,
                mode: ExecutionMode::StepByStep,
                guard: None,
            });
            let (actor, now) = (EventActor::default(), Timestamp::from_millis(0));
            let runs = RunStore::create(&root, Some(&home)).unwrap();
            let (run, _) = runs.begin(&actor, now, opened, Vec::new()).unwrap();
            let lookout = |every| RunLookout {
                every,
                ..RunLookout::new(&run, |state: &RunState| !state.is_over())
            };
            let (mut always, mut once) = (lookout(Duration::ZERO), lookout(Duration::MAX));
            assert!(always.goes_on() && once.goes_on());
            let ledger = fs::read(run.ledger_path()).unwrap();
            fs::write(run.ledger_path(), "no ledger\n").unwrap();
            assert!(always.goes_on(), "what cannot be read says nothing");
            fs::write(run.ledger_path(), ledger).unwrap();
            if is_removed {
                fs::remove_dir_all(run.folder()).unwrap();
            } else {
                let cancelled = EventKind::RunCancelled {
                    reason: String::new(),
                };
                run.transact(&actor, now, |_| Ok((vec![cancelled], ())))
                    .unwrap();
            }
            assert!(!always.goes_on() && !always.goes_on());
            assert!(once.goes_on(), "it is not due");
        }
    }
}

//! The end of everything that a run has started: once the run is over, what still works for it is ended.

use std::time::{Duration, Instant};

use omo_git::integrate::{settle_last_move, unsigned_commits};
use omo_git::remote::commit_messages;
use omo_git::repository::GitRepository;

use super::{CommandWatcher, Engine, EngineError};
use crate::event::EventKind;
use crate::parallel::user_branch_base;
use crate::parallel_state::GroupStatus;
use crate::report::ultraplan::short_commit;
use crate::state::{RunState, TaskState};
use crate::task_commits::find_task_commit;
use crate::{Run, RunStoreError, verbs};

/// How often the ledger is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time for a commit to end before its user is told that it is waited for.
const QUIET: Duration = Duration::from_secs(1);

/// Looks every now and then whether a run goes on.
struct RunLookout<'a> {
    run: &'a Run,
    every: Duration,
    looked: Option<Instant>,
    is_over: bool,
}

impl<'a> RunLookout<'a> {
    fn new(run: &'a Run) -> Self {
        Self { run, every: LOOK_EVERY, looked: None, is_over: false }
    }

    fn goes_on(&mut self) -> bool {
        if !self.is_over && self.looked.is_none_or(|looked| looked.elapsed() >= self.every) {
            self.looked = Some(Instant::now());
            self.is_over = match self.run.state() {
                Ok(state) => state.is_over(),
                Err(error) => matches!(error, RunStoreError::NotFound(_)),
            };
        }
        !self.is_over
    }
}

impl Engine<'_> {
    /// Tells, asked again and again, whether the run still needs what was started for it.
    pub(crate) fn is_needed(&self) -> impl FnMut() -> bool {
        let mut lookout = RunLookout::new(self.run);
        move || lookout.goes_on()
    }

    /// As [`Engine::is_needed`], unless who looks on ends it.
    pub(super) fn is_wanted(&self, watcher: &mut impl CommandWatcher) -> impl FnMut() -> bool {
        let mut is_needed = self.is_needed();
        move || watcher.should_continue() && is_needed()
    }
}

impl Engine<'_> {
    /// Ends the run before its end, and gives what to tell of a commit or a landing that was under way. Behind that
    /// nothing moves the user's branch for it any more, but for a commit that does not end for so long.
    pub fn cancel(&self, reason: &str, patience: Duration) -> Result<(String, RunState), EngineError> {
        let repository = GitRepository::find(self.root);
        let checked_out = || repository.as_ref()?.commit_of("HEAD").ok()?;
        let before = checked_out().unwrap_or_default();
        let state = self.decide(|state| Ok(vec![verbs::cancel_run(state, reason)?]))?;
        let was_free = self.run.lock_branch(Duration::ZERO)?.is_some();
        let is_free = was_free || self.run.lock_branch(QUIET.min(patience))?.is_some() || {
            (self.warn)("what it is committing is being ended; this waits for that");
            self.run.lock_branch(patience)?.is_some()
        };
        let settled = match &repository {
            Some(repository) if is_free && state.parallel.is_some() => settle_last_move(repository),
            _ => Ok(()),
        };
        let now = checked_out().unwrap_or_default();
        let landed = unrecorded_landing(&state, &now);
        let is_moved = before != now || landed.is_some() || (!was_free && self.is_last_of_run(&state, &now));
        if let Some([from, to]) = landed.filter(|_| is_free) {
            self.record_landing(from, to)?;
        }
        let commit = short_commit(&now);
        let words = match settled {
            _ if !is_free => {
                " What it is committing has not ended yet, and may still come: see `git log -1`.".to_owned()
            }
            Err(error) => format!(" Its move of your branch was cut short: {error}; `omo run resume` ends that."),
            Ok(()) if is_moved => format!(" Your branch moved before it ended, to {commit}."),
            Ok(()) if was_free => String::new(),
            Ok(()) => format!(" What it was committing was ended; your branch is at {commit}."),
        };
        Ok((words, state))
    }

    /// Whether a commit is that of a step which the ledger does not have.
    fn is_last_of_run(&self, state: &RunState, commit: &str) -> bool {
        let is_recorded =
            |known: &TaskState| known.last_end.as_ref().is_some_and(|end| end.commit.as_deref() == Some(commit));
        let last = GitRepository::find(self.root)
            .and_then(|repository| commit_messages(&repository, &format!("{commit}^"), commit).ok())
            .unwrap_or_default();
        let is_of = |task| find_task_commit(&last, self.run.id(), task) == Some(commit);
        !state.tasks.values().any(is_recorded) && state.tasks.keys().any(|task| is_of(task))
    }

    /// Records a landing whose process ended before it could, unless it was recorded meanwhile.
    fn record_landing(&self, from: String, to: String) -> Result<(), EngineError> {
        let unsigned = GitRepository::find(self.root).and_then(|found| unsigned_commits(&found, &from, &to).ok());
        let landed =
            EventKind::Landed { from, to, unsigned: unsigned.unwrap_or_default(), other_checkouts: Vec::new() };
        let is_new = |state: &RunState| state.parallel.as_ref().is_some_and(|parallel| parallel.landed.is_none());
        self.transact(|state| Ok((is_new(state).then_some(landed).into_iter().collect(), ()))).map(drop)
    }
}

/// The move of the user's branch that was made and that the ledger does not have: from where, and to the commit that is
/// checked out.
fn unrecorded_landing(state: &RunState, commit: &str) -> Option<[String; 2]> {
    let parallel = state.parallel.as_ref().filter(|parallel| parallel.landed.is_none())?;
    let from = user_branch_base(state, parallel).filter(|from| *from != commit && parallel.tip == commit)?;
    let is_whole = state.plan.groups.iter().all(|group| parallel.has_status(&group.id, &[GroupStatus::Merged]));
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
            let lookout = |every| RunLookout { every, ..RunLookout::new(&run) };
            let (mut always, mut once) = (lookout(Duration::ZERO), lookout(Duration::MAX));
            assert!(always.goes_on() && once.goes_on());
            let ledger = fs::read(run.ledger_path()).unwrap();
            fs::write(run.ledger_path(), "no ledger\n").unwrap();
            assert!(always.goes_on(), "what cannot be read says nothing");
            fs::write(run.ledger_path(), ledger).unwrap();
            if is_removed {
                fs::remove_dir_all(run.folder()).unwrap();
            } else {
                let cancelled = EventKind::RunCancelled { reason: String::new() };
                run.transact(&actor, now, |_| Ok((vec![cancelled], ()))).unwrap();
            }
            assert!(!always.goes_on() && !always.goes_on());
            assert!(once.goes_on(), "it is not due");
        }
    }
}

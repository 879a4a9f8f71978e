//! The end of everything that a run has started: once the run is over, what still works for it is ended.

use std::time::{Duration, Instant};

use omo_git::repository::GitRepository;

use super::{CommandWatcher, Engine, EngineError};
use crate::report::ultraplan::short_commit;
use crate::state::RunState;
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
        let checked_out = || GitRepository::find(self.root)?.commit_of("HEAD").ok()?;
        let before = checked_out();
        let state = self.decide(|state| Ok(vec![verbs::cancel_run(state, reason)?]))?;
        let was_free = self.run.lock_branch(Duration::ZERO)?.is_some();
        let is_free = was_free || self.run.lock_branch(QUIET.min(patience))?.is_some() || {
            (self.warn)("what it is committing is being ended; this waits for that");
            self.run.lock_branch(patience)?.is_some()
        };
        let now = checked_out();
        let commit = short_commit(now.as_deref().unwrap_or_default());
        let words = match before == now {
            _ if !is_free => {
                " What it is committing has not ended yet, and may still come: see `git log -1`.".to_owned()
            }
            false => format!(" Your branch moved before it ended, to {commit}."),
            true if was_free => String::new(),
            true => format!(" What it was committing was ended; your branch is at {commit}."),
        };
        Ok((words, state))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use omo_core::timestamp::Timestamp;
    use omo_plan::dialects::{BatchOptions, read};

    use super::*;
    use crate::RunStore;
    use crate::event::{EventActor, EventKind};
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

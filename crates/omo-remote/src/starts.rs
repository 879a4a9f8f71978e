//! `Starts`: starts of workers in threads, since one may take 90 seconds while its run goes on.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use omo_core::text::sanitize;

use crate::decision::EngineState;
use crate::follow::COMMANDS_AT_ONCE;
use crate::job::JobValues;
use crate::launcher::{CommandFailure, Launcher};

/// A failed [`Launcher::start`](crate::launcher::Launcher::start).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Reason of the failure.
    pub message: String,
    /// Reason why the job could not be ended, though the scheduler may have taken it.
    pub failed_cancel: Option<String>,
}

type EndedStart = (JobValues, Result<(), Refusal>);

#[derive(Debug)]
pub struct Starts {
    under_way: BTreeSet<String>,
    sender: Sender<EndedStart>,
    /// Receiver in a lock that is never taken: it makes the struct `Sync`.
    ended: Mutex<Receiver<EndedStart>>,
}

impl Default for Starts {
    fn default() -> Self {
        let (sender, ended) = channel();
        Self {
            under_way: BTreeSet::new(),
            sender,
            ended: Mutex::new(ended),
        }
    }
}

impl Starts {
    pub fn begin(&mut self, launcher: &Arc<impl Launcher + 'static>, job: JobValues) {
        self.under_way.insert(job.job.clone());
        let (launcher, sender) = (Arc::clone(launcher), self.sender.clone());
        std::thread::spawn(move || {
            let started = launcher.start(&job).map(drop);
            let started = started.map_err(|failure| end_refused(&*launcher, &job, failure));
            // The receiver is gone once the run is driven no longer.
            let _ = sender.send((job, started));
        });
    }

    /// The next finished start, if there is one by now.
    pub fn next_ended(&mut self) -> Option<EndedStart> {
        let ended = self
            .ended
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .try_recv()
            .ok()?;
        self.under_way.remove(&ended.0.job);
        Some(ended)
    }

    pub fn is_under_way(&self, job: &str) -> bool {
        self.under_way.contains(job)
    }

    pub fn room(&self) -> usize {
        COMMANDS_AT_ONCE.saturating_sub(self.under_way.len())
    }
}

/// Cancels a failed start: the job may have been taken all the same.
fn end_refused(launcher: &dyn Launcher, values: &JobValues, failure: CommandFailure) -> Refusal {
    let CommandFailure {
        why: message,
        is_timeout,
    } = failure;
    let failed_cancel = match launcher.cancel(values) {
        Err(failure) if is_timeout => Some(failure.why),
        Err(_) if is_listed(launcher, &values.job) => {
            launcher.cancel(values).err().map(|failure| failure.why)
        }
        // Refused while its scheduler is away: most likely it was never there.
        Ok(()) | Err(_) => None,
    };
    Refusal {
        message,
        failed_cancel: failed_cancel.map(|why| sanitize(&why, 300)),
    }
}

fn is_listed(launcher: &dyn Launcher, job: &str) -> bool {
    let listed = launcher.list().and_then(Result::ok).unwrap_or_default();
    listed
        .get(job)
        .is_some_and(|state| !matches!(state, EngineState::Ended(_)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use omo_git::remote::RemoteError;
    use omo_git::worktree::WorkerName;

    use super::*;
    use crate::branches::Collected;
    use crate::launcher::Started;

    /// A scheduler that takes the jobs called `taken`, lists the one called `stays`, and ends none.
    struct Stubborn;

    impl Launcher for Stubborn {
        fn start(&self, job: &JobValues) -> Result<Started, CommandFailure> {
            let refused = || CommandFailure {
                why: "full".to_owned(),
                is_timeout: job.job == "slow",
            };
            (job.job == "taken")
                .then_some(Started::HandedOver)
                .ok_or_else(refused)
        }

        fn list(&self) -> Option<Result<BTreeMap<String, EngineState>, String>> {
            Some(Ok([("stays".to_owned(), EngineState::Running)].into()))
        }

        fn cancel(&self, _: &JobValues) -> Result<(), CommandFailure> {
            Err(CommandFailure {
                why: "no".to_owned(),
                is_timeout: false,
            })
        }

        fn logs(&self, _: &JobValues) -> Option<Result<String, String>> {
            None
        }

        fn take_in(&self, _: &WorkerName) -> Result<Collected, RemoteError> {
            Ok(Collected::default())
        }
    }

    #[test]
    fn a_start_ends_beside_its_run_and_one_that_may_be_there_is_told() {
        let (mut starts, launcher) = (Starts::default(), Arc::new(Stubborn));
        let refused = |failed_cancel: Option<&str>| {
            Err(Refusal {
                message: "full".to_owned(),
                failed_cancel: failed_cancel.map(str::to_owned),
            })
        };
        for (name, expected) in [
            ("taken", Ok(())),
            ("slow", refused(Some("no"))),
            ("stays", refused(Some("no"))),
            ("gone", refused(None)),
        ] {
            starts.begin(
                &launcher,
                JobValues {
                    job: name.to_owned(),
                    ..JobValues::default()
                },
            );
            assert!(starts.is_under_way(name) && starts.room() == COMMANDS_AT_ONCE - 1);
            let ended = std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(5));
                starts.next_ended()
            });
            assert_eq!(
                ended.flatten().next().map(|(_, started)| started),
                Some(expected),
                "{name}"
            );
            assert!(!starts.is_under_way(name));
        }
    }
}

//! Workers that an engine runs somewhere else: they are handed over, asked about, cancelled and taken in again. What an
//! engine and a worker say decides how long omo waits; what was pushed is judged here as everywhere.
//!
//! A worker is called by a name that was chosen and written down before it was handed over: a supervisor that comes after
//! a dead one asks for the same names, and goes on.

mod cancellation;
mod poll;
mod submit;
pub(super) mod worker_log;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use omo_plan::model::TaskGroup;
use omo_remote::contact::ContactWatch;
use omo_remote::decision::{EngineAnswer, EngineState};
use omo_remote::exchange::WorkerReport;

use crate::event::WorkerPeer;
use crate::parallel::remote_branches::Silence;

use cancellation::{CancelSilence, Cancellation};

/// How long a worker that was refused waits before it is handed over again; the time doubles up to the greatest.
const FIRST_BACK_OFF: Duration = Duration::from_secs(5);
const LAST_BACK_OFF: Duration = Duration::from_secs(300);

/// What this process knows of the workers that an engine has, beside what the ledger says.
#[derive(Debug, Default)]
pub(super) struct JobBoard {
    /// When the engine was asked last.
    polled_at: Option<Instant>,
    /// The commits of the reports that were read, and what they say.
    reports: BTreeMap<String, (String, WorkerReport)>,
    /// The workers that the engine has listed, and whether it did not when it was last asked.
    missing: BTreeMap<String, bool>,
    /// Whether the last look could read the reports.
    has_read_reports: bool,
    /// The workers that the engine was asked to end.
    cancelled: BTreeMap<String, Cancellation>,
    /// Whether a command that ends workers hangs.
    cancel_silence: CancelSilence,
    /// Whether the remote repository and the engine answer.
    contacts: BTreeMap<WorkerPeer, ContactWatch>,
    /// Why the remote repository does not answer, once the run is over and it was found out.
    pub(super) silence: Silence,
    /// Until when a session that was refused waits, and how often it was.
    back_off: BTreeMap<String, (Instant, u32)>,
}

impl JobBoard {
    /// Whether a session was refused so lately that it is not handed over again yet.
    pub(super) fn is_backing_off(&self, group: &str) -> bool {
        self.back_off.get(group).is_some_and(|(until, _)| Instant::now() < *until)
    }

    /// Has a session wait that was refused; gives how often it was, one after the other.
    fn refuse(&mut self, group: &str) -> u32 {
        let (until, times) = self.back_off.entry(group.to_owned()).or_insert((Instant::now(), 0));
        let wait = FIRST_BACK_OFF.saturating_mul(2_u32.saturating_pow(*times)).min(LAST_BACK_OFF);
        (*until, *times) = (Instant::now() + wait, times.saturating_add(1));
        *times
    }

    /// Has sessions wait as if they had been refused: others were, a moment ago.
    pub(super) fn hold_back<'g>(&mut self, groups: impl Iterator<Item = &'g TaskGroup>) {
        for group in groups {
            self.refuse(&group.id);
        }
    }

    /// What an engine that was asked says of a worker. One that lists nothing for a moment has lost nothing: where it does
    /// not list a worker for the first time, that is no answer.
    fn engine_answer<'s>(&mut self, job: &str, listed: Option<&'s EngineState>) -> EngineAnswer<'s> {
        if let Some(state) = listed {
            self.missing.insert(job.to_owned(), false);
            return EngineAnswer::Listed(state);
        }
        match self.missing.get_mut(job) {
            None => EngineAnswer::Unlisted { was_listed: false },
            Some(true) => EngineAnswer::Unlisted { was_listed: true },
            Some(is_missing) => {
                *is_missing = true;
                EngineAnswer::Unknown
            }
        }
    }

    /// Forgets what is known of a worker that has ended.
    fn forget(&mut self, job: &str) {
        self.reports.remove(job);
        self.missing.remove(job);
        self.cancelled.remove(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_is_not_listed_once_is_not_gone() {
        let (running, mut board) = (EngineState::Running, JobBoard::default());
        let unlisted = |was_listed| EngineAnswer::Unlisted { was_listed };
        for (listed, expected) in [
            (None, unlisted(false)),
            (Some(&running), EngineAnswer::Listed(&running)),
            (None, EngineAnswer::Unknown),
            (Some(&running), EngineAnswer::Listed(&running)),
            (None, EngineAnswer::Unknown),
            (None, unlisted(true)),
        ] {
            assert_eq!(board.engine_answer("j", listed), expected, "{listed:?}");
        }
    }
}

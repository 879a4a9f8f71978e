//! Workers that an engine is asked to end: again where it could not be asked, and told where that does not help.

use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_remote::decision::{EngineAnswer, EngineState};
use omo_remote::launcher::CommandFailure;

use super::submit::STARTS_AT_ONCE;
use crate::event::EventKind;
use crate::parallel::{DriveError, ParallelDriver, parallel_map};
use crate::parallel_state::{ParallelState, SubmittedWorker};

/// So often an engine is asked to end a worker, with a look in between. Each time may take as long as one of its
/// commands may, and the user of a cancelled run waits.
const MAX_TRIES: u32 = 3;
/// It is not asked again after this, from the first time on.
const TRY_FOR: Duration = Duration::from_secs(2 * 60);

/// What came of having an engine end a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cancellation {
    /// When it was asked first.
    since: Instant,
    tries: u32,
    /// Why it could not be asked the last time.
    failure: Option<String>,
}

impl Cancellation {
    fn begin(now: Instant) -> Self {
        Self { since: now, tries: 0, failure: None }
    }

    /// For how long the engine has been asked.
    pub(super) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn note(&mut self, answer: Result<(), String>) {
        self.tries = self.tries.saturating_add(1);
        self.failure = answer.err();
    }

    /// Whether the engine is to be asked again.
    fn is_to_repeat(&self) -> bool {
        self.failure.is_some() && self.tries < MAX_TRIES && self.elapsed() < TRY_FOR
    }
}

/// A `cancel` that does not end in its time: everything else waits for it, the user of a cancelled run too, and so the
/// next ones are not asked for a while.
#[derive(Debug, Default)]
pub(super) struct CancelSilence {
    last: Option<(Instant, String)>,
}

impl CancelSilence {
    fn note(&mut self, answer: &Result<(), CommandFailure>, now: Instant) {
        if let Err(CommandFailure { why, is_timeout: true }) = answer {
            self.last = Some((now, why.clone()));
        }
    }

    /// Why it is not asked now.
    fn reason(&self, now: Instant) -> Option<&str> {
        let (at, why) = self.last.as_ref()?;
        (now.saturating_duration_since(*at) < TRY_FOR).then_some(why.as_str())
    }
}

/// Whether a worker may be at work, by what its engine says: one that it has no longer needs no end.
pub(super) fn may_be_there(engine: EngineAnswer) -> bool {
    match engine {
        EngineAnswer::Listed(state) => !matches!(state, EngineState::Ended(_)),
        EngineAnswer::Unknown => true,
        // It may not list it yet.
        EngineAnswer::Unlisted { was_listed } => !was_listed,
    }
}

impl ParallelDriver<'_> {
    /// Has the engine end workers, each once where it could be asked, and otherwise some times.
    pub(in crate::parallel) fn cancel_jobs(&mut self, parallel: &ParallelState, jobs: Vec<(String, SubmittedWorker)>) {
        let now = Instant::now();
        let is_wanted =
            |job: &SubmittedWorker| self.jobs.cancelled.get(&job.name).is_none_or(Cancellation::is_to_repeat);
        let wanted: Vec<_> = jobs.into_iter().filter(|(_, job)| is_wanted(job)).collect();
        let Some(engine) = self.engine_commands(parallel, String::new()) else { return };
        let values: Vec<_> = wanted.iter().map(|(group, job)| self.job_values(group, job)).collect();
        let mut answers = Vec::new();
        for some in values.chunks(STARTS_AT_ONCE) {
            if let Some(why) = self.jobs.cancel_silence.reason(Instant::now()) {
                answers.extend(some.iter().map(|_| Err(why.to_owned())));
                continue;
            }
            let asked = parallel_map(some, |values| engine.cancel(values));
            for answer in &asked {
                self.jobs.cancel_silence.note(answer, Instant::now());
            }
            answers.extend(asked.into_iter().map(|answer| answer.map_err(|failure| failure.why)));
        }
        for ((_, job), answer) in wanted.into_iter().zip(answers) {
            self.jobs.cancelled.entry(job.name).or_insert_with(|| Cancellation::begin(now)).note(answer);
        }
    }

    /// Whether the engine is to be asked once more to end a worker that may be there.
    pub(super) fn is_cancel_to_repeat(&self, job: &SubmittedWorker) -> bool {
        self.jobs.cancelled.get(&job.name).is_some_and(Cancellation::is_to_repeat)
    }

    /// Writes down that a worker which may be there could not be ended, where that is so.
    pub(super) fn record_failed_cancel(&self, group: &str, job: &SubmittedWorker) -> Result<(), DriveError> {
        let failure = self.jobs.cancelled.get(&job.name).and_then(|cancellation| cancellation.failure.as_deref());
        let Some(why) = failure.map(|why| sanitize(why, 300)) else { return Ok(()) };
        let (group, job) = (group.to_owned(), job.name.clone());
        self.record(|_| vec![EventKind::WorkerNotCancelled { group, job, reason: why }]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_that_fails_is_tried_again_and_not_without_end() {
        let mut cancellation = Cancellation::begin(Instant::now());
        cancellation.note(Ok(()));
        assert!(!cancellation.is_to_repeat());
        let mut cancellation = Cancellation::begin(Instant::now());
        for is_to_repeat in [true, true, false] {
            cancellation.note(Err("no".to_owned()));
            assert_eq!(cancellation.is_to_repeat(), is_to_repeat);
        }
        assert_eq!(cancellation.failure.as_deref(), Some("no"));
    }

    #[test]
    fn a_cancel_that_hangs_holds_up_one_look_and_not_each_worker() {
        let (mut silence, now) = (CancelSilence::default(), Instant::now());
        let failure = |is_timeout| Err(CommandFailure { why: "no end".to_owned(), is_timeout });
        for answer in [Ok(()), failure(false)] {
            silence.note(&answer, now);
            assert_eq!(silence.reason(now), None);
        }
        silence.note(&failure(true), now);
        assert_eq!(silence.reason(now + TRY_FOR / 2), Some("no end"));
        assert_eq!(silence.reason(now + TRY_FOR), None);
    }

    #[test]
    fn a_worker_that_its_engine_has_no_longer_needs_no_end() {
        let ended = EngineState::Ended("FAILED".to_owned());
        for (engine, expected) in [
            (EngineAnswer::Unknown, true),
            (EngineAnswer::Listed(&EngineState::Running), true),
            (EngineAnswer::Listed(&EngineState::Queued), true),
            (EngineAnswer::Listed(&ended), false),
            (EngineAnswer::Unlisted { was_listed: false }, true),
            (EngineAnswer::Unlisted { was_listed: true }, false),
        ] {
            assert_eq!(may_be_there(engine), expected, "{engine:?}");
        }
    }
}

//! Requests to schedulers to end workers: repeated after a failure, and reported where that does not help.

use std::time::{Duration, Instant};

use crate::decision::{EngineAnswer, EngineState};
use crate::launcher::CommandFailure;

/// Maximum requests: each may last as long as a launcher's command, while the user waits.
const MAX_TRIES: u32 = 3;
const TRY_FOR: Duration = Duration::from_secs(2 * 60);

/// Requests to end one worker: their number, and the failure of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cancellation {
    since: Instant,
    tries: u32,
    pub(crate) failure: Option<String>,
}

impl Cancellation {
    pub(crate) fn begin(now: Instant) -> Self {
        Self {
            since: now,
            tries: 0,
            failure: None,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    pub(crate) fn note(&mut self, answer: Result<(), String>) {
        self.tries = self.tries.saturating_add(1);
        self.failure = answer.err();
    }

    pub(crate) fn is_to_repeat(&self) -> bool {
        self.failure.is_some() && self.tries < MAX_TRIES && self.elapsed() < TRY_FOR
    }
}

/// A `cancel` that timed out: the next ones are skipped for a while, since all wait for them.
#[derive(Debug, Default)]
pub(crate) struct CancelSilence {
    last: Option<(Instant, String)>,
}

impl CancelSilence {
    pub(crate) fn note(&mut self, answer: &Result<(), CommandFailure>, now: Instant) {
        if let Err(CommandFailure {
            why,
            is_timeout: true,
        }) = answer
        {
            self.last = Some((now, why.clone()));
        }
    }

    pub(crate) fn reason(&self, now: Instant) -> Option<&str> {
        let (at, why) = self.last.as_ref()?;
        (now.saturating_duration_since(*at) < TRY_FOR).then_some(why.as_str())
    }
}

/// `true` unless the scheduler has ended or lost the worker.
pub(crate) fn may_be_there(engine: EngineAnswer) -> bool {
    match engine {
        EngineAnswer::Listed(state) => !matches!(state, EngineState::Ended(_)),
        EngineAnswer::Unknown => true,
        // A new worker may not be listed yet.
        EngineAnswer::Unlisted { was_listed } => !was_listed,
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
        let failure = |is_timeout| {
            Err(CommandFailure {
                why: "no end".to_owned(),
                is_timeout,
            })
        };
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

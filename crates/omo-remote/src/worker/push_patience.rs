//! Retry of the pushes at the end of a worker: pauses from 2 s, doubled up to 30 s, for 15 minutes at most.

use std::time::{Duration, Instant};

/// Time for all tries: server maintenance seldom takes longer, a waiting machine costs money, schedulers allow it.
const BOUND: Duration = Duration::from_secs(15 * 60);
/// Pause after the first failed push, doubled after each more up to [`LAST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub(super) struct PushPatience {
    until: Instant,
    pause: Duration,
}

impl PushPatience {
    pub(super) fn begin(now: Instant) -> Self {
        Self {
            until: now + BOUND,
            pause: FIRST_PAUSE,
        }
    }

    /// Pause before the next try; `None` once [`BOUND`] has passed.
    pub(super) fn next_pause(&mut self, now: Instant) -> Option<Duration> {
        let pause = self.pause.min(self.left(now));
        self.pause = self.pause.saturating_mul(2).min(LAST_PAUSE);
        (!pause.is_zero()).then_some(pause)
    }

    pub(super) fn left(&self, now: Instant) -> Duration {
        self.until.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_grow_and_come_to_an_end() {
        let begun = Instant::now();
        let (mut patience, mut now) = (PushPatience::begin(begun), begun);
        let mut pauses = Vec::new();
        while let Some(pause) = patience.next_pause(now) {
            now += pause;
            pauses.push(pause.as_secs());
        }
        assert_eq!(pauses.get(..6), Some([2, 4, 8, 16, 30, 30].as_slice()));
        assert_eq!(now - begun, BOUND);
        assert_eq!(patience.next_pause(now), None);
    }
}

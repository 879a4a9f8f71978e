//! Silence of a scheduler or remote repository: reported once after three minutes, as is its end.

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;

/// Silence before it is reported, in milliseconds: a restart of a server is over by then.
const TOLD_AFTER_MILLIS: i64 = 3 * 60 * 1_000;
const REASON_CHARS: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContactNews {
    /// No answer for `TOLD_AFTER_MILLIS`.
    Lost {
        since: Timestamp,
        /// Error of the last request.
        reason: String,
    },
    Restored,
}

/// Watch for the silence of one [`WorkerPeer`](crate::peer::WorkerPeer).
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactWatch {
    silent_since: Option<Timestamp>,
}

impl ContactWatch {
    /// News by the outcome `look` of a request; `is_told` if the ledger has a silence without end.
    pub fn note(
        &mut self,
        look: Result<(), &str>,
        is_told: bool,
        now: Timestamp,
    ) -> Option<ContactNews> {
        match look {
            Ok(()) => {
                self.silent_since = None;
                is_told.then_some(ContactNews::Restored)
            }
            Err(reason) => {
                let since = *self.silent_since.get_or_insert(now);
                let is_long = now
                    .millis_since(since)
                    .is_some_and(|millis| millis >= TOLD_AFTER_MILLIS);
                (is_long && !is_told).then(|| ContactNews::Lost {
                    since,
                    reason: sanitize(reason, REASON_CHARS),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_told_once_it_is_long_and_so_is_its_end() {
        let mut watch = ContactWatch::default();
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let lost = |since, reason: &str| {
            Some(ContactNews::Lost {
                since: at(since),
                reason: reason.into(),
            })
        };
        let restored = Some(ContactNews::Restored);
        for (seconds, look, is_told, expected) in [
            (0, Ok(()), false, None),
            (10, Err("a"), false, None),
            (180, Err("a"), false, None),
            (181, Ok(()), false, None),
            (200, Err("b"), false, None),
            (380, Err("c\nd"), false, lost(200, "c d")),
            (390, Err("c"), true, None),
            (400, Ok(()), true, restored.clone()),
            (410, Err("d"), false, None),
            // The supervisor that told it is gone.
            (420, Ok(()), true, restored),
        ] {
            assert_eq!(
                watch.note(look, is_told, at(seconds)),
                expected,
                "{seconds}"
            );
        }
    }
}

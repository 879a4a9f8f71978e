//! Pushes at the end of a worker: tried for longer, and the clone is kept where they fail.

use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_git::remote::worker_clone::PushStop;

use super::Worker;
use super::push_patience::PushPatience;
use super::reporter::Reporter;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Worker<'_> {
    /// Pushes at the end of the worker, and goes on while the remote that took its first report is away. A worker that
    /// was asked to end has little time, and tries no more often than usual.
    pub(super) fn push_at_end(
        &self,
        reporter: &mut Reporter,
        push: &mut dyn FnMut(&mut Reporter) -> Result<(), PushStop>,
    ) -> Result<(), PushStop> {
        loop {
            let is_hurried = (self.is_asked_to_end)();
            if is_hurried {
                reporter.clone.hurry();
            }
            let pushed = push(reporter);
            let Err(PushStop::Failed(why)) = &pushed else {
                return pushed;
            };
            if is_hurried || !reporter.has_claimed() || !reporter.clone.is_as_made() {
                return pushed;
            }
            let now = Instant::now();
            let patience = reporter
                .patience
                .get_or_insert_with(|| PushPatience::begin(now));
            // Asked to end meanwhile, it tries once more.
            if !(self.is_asked_to_end)() {
                let Some(pause) = patience.next_pause(now) else {
                    return pushed;
                };
                (self.say)(&format!(
                    "it waits for the remote, which does not answer its last push: {}; the next try is in {} s, and the last one in {} min",
                    sanitize(why, 300),
                    pause.as_secs(),
                    patience.left(now).as_secs().div_ceil(60),
                ));
                self.pause(pause);
            }
        }
    }

    /// Keeps the clone with unpushed work; returns `why` with its place.
    pub(super) fn keep_work(&self, reporter: &Reporter, why: String) -> String {
        // With settings that the client has changed, git could run anything there.
        if !reporter.clone.is_as_made() {
            return why;
        }
        let folder = reporter.clone.top().display();
        match self.scratch.keep() {
            Ok(()) => format!("{why}; its work is kept in {folder}"),
            Err(error) => format!("{why}; its work could not be kept: {error}"),
        }
    }

    /// Keeps the clone only while it has unpushed commits.
    pub(super) fn keep_unpushed(&self, reporter: &Reporter) {
        let Some(head) = reporter.clone.head() else {
            return;
        };
        let holds_work = head != reporter.tip;
        let changed = match (holds_work, self.scratch.is_kept()) {
            (true, false) if reporter.clone.is_as_made() => self.scratch.keep(),
            (false, true) => self.scratch.release(),
            _ => return,
        };
        if let Err(why) = changed {
            (self.say)(&format!(
                "commits that were not pushed cannot be kept: {why}"
            ));
        }
    }

    fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while !(self.is_asked_to_end)() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }
}

//! Ends a hook in time, whatever hangs: a network file system, a client that does not read. A timer
//! watches a usual hook, to whose work a thread would add a tenth; a thread watches a hook that
//! runs checks, and every hook on systems without timers.

use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::platform::timer;

/// Time of a hook once it has something to do.
const LIMIT: Duration = Duration::from_millis(1_200);

#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchState {
    Nothing,
    Timer,
    Thread(Instant),
}

static WATCH: Mutex<WatchState> = Mutex::new(WatchState::Nothing);
static MOVED: Condvar = Condvar::new();
static LAST_WORDS: Mutex<Option<TimeoutAction>> = Mutex::new(None);

type TimeoutAction = Box<dyn FnOnce() + Send>;
const LAST_WORDS_LIMIT: Duration = Duration::from_millis(400);

/// Sets the note that is written when the time of checks runs out.
pub fn on_timeout(words: impl FnOnce() + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
}

// In a thread of its own: what hangs may be the file system.
fn run_timeout_action() {
    let words = LAST_WORDS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let Some(words) = words else { return };
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        words();
        // The client has stopped waiting where it took too long.
        let _ = done.send(());
    });
    let _ = is_done.recv_timeout(LAST_WORDS_LIMIT);
}

pub fn start() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if *watch == WatchState::Nothing {
        *watch = WatchState::Timer;
        if !timer::start(LIMIT) {
            drop(watch);
            extend_limit(LIMIT);
        }
    }
}

/// Gives the hook `limit` from now, for checks.
pub fn extend_limit(limit: Duration) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::mem::replace(&mut *watch, WatchState::Thread(Instant::now() + limit));
    match before {
        WatchState::Thread(_) => MOVED.notify_all(),
        WatchState::Nothing | WatchState::Timer => {
            timer::disarm();
            std::thread::spawn(watch_deadline);
        }
    }
}

/// Gives the hook its usual time from now, once the checks are done.
pub fn reset_limit() {
    extend_limit(LIMIT);
}

/// Ends the process as a hook always ends: with 0, and with nothing left running.
#[expect(
    clippy::exit,
    reason = "the only way out of a watchdog thread and of a panic"
)]
pub fn exit_hook() {
    crate::termination::end_started_processes();
    std::process::exit(0);
}

fn watch_deadline() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    while let WatchState::Thread(deadline) = *watch {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            run_timeout_action();
            exit_hook();
        }
        let waited = MOVED.wait_timeout(watch, left);
        watch = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_said_once_and_waited_for_no_longer_than_they_may_take() {
        let (said, hears) = mpsc::channel();
        on_timeout(move || said.send(()).unwrap());
        run_timeout_action();
        run_timeout_action();
        assert_eq!(hears.try_iter().count(), 1);
        let (never, waits) = mpsc::channel::<()>();
        on_timeout(move || _ = waits.recv());
        run_timeout_action();
        drop(never);
    }
}

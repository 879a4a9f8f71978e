//! Sees to it that a hook which has found something to do ends in time, whatever hangs: a network
//! file system, a client that does not read.
//!
//! Reading stdin has a deadline of its own, and a session without a run ends right after it, so
//! that most calls need none of this. A timer watches the usual work: a thread would cost a tenth
//! of it. Only a hook that runs checks, which take long anyway, has a thread.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a hook may take from when it has found something to do.
const LIMIT: Duration = Duration::from_millis(1_200);

/// What watches, and until when.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    Nothing,
    Timer,
    Thread(Instant),
}

static WATCH: Mutex<Watch> = Mutex::new(Watch::Nothing);
static MOVED: Condvar = Condvar::new();

/// Starts the watchdog, once.
pub fn start() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if *watch == Watch::Nothing {
        *watch = Watch::Timer;
        if !timer::start() {
            drop(watch);
            extend(LIMIT);
        }
    }
}

/// From now on the hook may take so long: it runs checks, which its user may wait for.
pub fn extend(limit: Duration) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::mem::replace(&mut *watch, Watch::Thread(Instant::now() + limit));
    match before {
        Watch::Thread(_) => MOVED.notify_all(),
        Watch::Nothing | Watch::Timer => {
            timer::disarm();
            std::thread::spawn(watch_on);
        }
    }
}

/// The checks are done: the usual time from now.
pub fn back_to_usual() {
    extend(LIMIT);
}

/// Ends the process as a hook always ends: with 0.
#[expect(clippy::exit, reason = "the only way out of a watchdog thread and of a panic")]
pub fn leave() {
    std::process::exit(0);
}

fn watch_on() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    while let Watch::Thread(deadline) = *watch {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            leave();
        }
        let waited = MOVED.wait_timeout(watch, left);
        watch = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// A timer whose signal ends the process with 0.
#[cfg(target_os = "linux")]
mod timer {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock};

    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;

    use super::LIMIT;

    /// Whether the signal ends the process.
    static ENDS: OnceLock<Arc<AtomicBool>> = OnceLock::new();

    /// Starts it; `false` where there is none to be had.
    pub(super) fn start() -> bool {
        let ends = ENDS.get_or_init(|| Arc::new(AtomicBool::new(true)));
        let handled = signal_hook::flag::register_conditional_shutdown(Signal::SIGALRM as i32, 0, Arc::clone(ends));
        let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 });
        let (Ok(_), Ok(mut timer)) = (handled, Timer::new(ClockId::CLOCK_MONOTONIC, notify)) else { return false };
        let set = timer.set(Expiration::OneShot(LIMIT.into()), TimerSetTimeFlags::empty());
        // Dropping it would stop it; it goes with the process.
        std::mem::forget(timer);
        set.is_ok()
    }

    /// From now on its signal ends nothing.
    pub(super) fn disarm() {
        if let Some(ends) = ENDS.get() {
            ends.store(false, Ordering::SeqCst);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    pub(super) fn start() -> bool {
        false
    }

    pub(super) fn disarm() {}
}

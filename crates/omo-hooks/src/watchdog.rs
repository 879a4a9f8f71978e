//! Sees to it that a hook which has found something to do ends in time, whatever hangs: a network
//! file system, a client that does not read.
//!
//! Reading stdin has a deadline of its own, and a session without a run ends right after it, so
//! that most calls need none of this.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a hook may take from when it has found something to do.
const LIMIT: Duration = Duration::from_millis(1_200);

/// When the process is ended; `None` while there is no watchdog.
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);

/// Starts the watchdog, once.
pub fn start() {
    let mut deadline = DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
    if deadline.is_none() {
        *deadline = Some(Instant::now() + LIMIT);
        drop(deadline);
        if !timer::start() {
            start_thread();
        }
    }
}

/// From now on the hook may take so long: it runs checks, which its user may wait for.
pub fn extend(limit: Duration) {
    start();
    *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + limit);
    timer::set(limit);
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

fn start_thread() {
    std::thread::spawn(|| {
        loop {
            let deadline = *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
            match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None | Some(Duration::ZERO) => leave(),
                Some(left) => std::thread::sleep(left),
            }
        }
    });
}

/// A timer whose signal ends the process with 0.
#[cfg(target_os = "linux")]
mod timer {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;

    use super::LIMIT;

    thread_local! {
        /// Of the one thread that hooks do their work in. Dropping a timer would stop it.
        static TIMER: RefCell<Option<Timer>> = const { RefCell::new(None) };
    }

    /// Starts it; `false` where there is none to be had.
    pub(super) fn start() -> bool {
        let leave_at_once = Arc::new(AtomicBool::new(true));
        let handled = signal_hook::flag::register_conditional_shutdown(Signal::SIGALRM as i32, 0, leave_at_once);
        let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 });
        let (Ok(_), Ok(timer)) = (handled, Timer::new(ClockId::CLOCK_MONOTONIC, notify)) else { return false };
        TIMER.replace(Some(timer));
        set(LIMIT)
    }

    /// Sets it anew; `false` where there is none.
    pub(super) fn set(limit: Duration) -> bool {
        let set = |timer: &mut Timer| timer.set(Expiration::OneShot(limit.into()), TimerSetTimeFlags::empty()).is_ok();
        TIMER.with_borrow_mut(|timer| timer.as_mut().is_some_and(set))
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    use std::time::Duration;

    pub(super) fn start() -> bool {
        false
    }

    pub(super) fn set(_limit: Duration) -> bool {
        false
    }
}

//! Sees to it that a hook which has found something to do ends in time, whatever hangs: a network
//! file system, a client that does not read.
//!
//! Reading stdin has a deadline of its own, and a session without a run ends right after it, so
//! that most calls need none of this.

use std::sync::Once;
use std::time::Duration;

/// How long a hook may take from when it has found something to do.
const LIMIT: Duration = Duration::from_millis(1_200);

/// Starts the watchdog, once.
pub fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        if !start_timer() {
            start_thread();
        }
    });
}

/// Ends the process as a hook always ends: with 0.
#[expect(clippy::exit, reason = "the only way out of a watchdog thread and of a panic")]
pub fn leave() {
    std::process::exit(0);
}

fn start_thread() {
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        leave();
    });
}

/// A timer whose signal ends the process with 0; `false` where there is none.
#[cfg(target_os = "linux")]
fn start_timer() -> bool {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;

    let leave_at_once = Arc::new(AtomicBool::new(true));
    let handled = signal_hook::flag::register_conditional_shutdown(Signal::SIGALRM as i32, 0, leave_at_once);
    let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 });
    let (Ok(_), Ok(mut timer)) = (handled, Timer::new(ClockId::CLOCK_MONOTONIC, notify)) else { return false };
    let set = timer.set(Expiration::OneShot(LIMIT.into()), TimerSetTimeFlags::empty());
    // Dropping it would stop it; it goes with the process.
    std::mem::forget(timer);
    set.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn start_timer() -> bool {
    false
}

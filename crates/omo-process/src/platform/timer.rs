//! Linux: a timer whose signal ends this process with exit status 0.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

static ENDS: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts the timer; `false` where the system gives none.
pub(crate) fn start(limit: Duration) -> bool {
    let ends = ENDS.get_or_init(|| Arc::new(AtomicBool::new(true)));
    let handled = signal_hook::flag::register_conditional_shutdown(
        Signal::SIGALRM as i32,
        0,
        Arc::clone(ends),
    );
    let notify = SigEvent::new(SigevNotify::SigevSignal {
        signal: Signal::SIGALRM,
        si_value: 0,
    });
    let (Ok(_), Ok(mut timer)) = (handled, Timer::new(ClockId::CLOCK_MONOTONIC, notify)) else {
        return false;
    };
    let set = timer.set(
        Expiration::OneShot(limit.into()),
        TimerSetTimeFlags::empty(),
    );
    // Dropping a timer stops it; this one goes with the process.
    std::mem::forget(timer);
    set.is_ok()
}

/// Keeps a running timer from ending the process.
pub(crate) fn disarm() {
    if let Some(ends) = ENDS.get() {
        ends.store(false, Ordering::SeqCst);
    }
}

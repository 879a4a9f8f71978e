//! Waiting for a condition.

use std::thread;
use std::time::{Duration, Instant};

/// Time after which a condition counts as one that never comes. No test is about speed: a busy machine is slow.
pub const HANG: Duration = Duration::from_secs(300);
/// Pause between two looks at a condition that cannot notify us.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Calls `probe` until it gives a value.
///
/// # Errors
///
/// `what` has not come within [`HANG`].
pub fn wait_until<T>(what: &str, probe: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    within(HANG, probe).ok_or_else(|| anyhow::anyhow!("{what} did not come within {HANG:?}"))
}

/// Calls `probe` until it gives a value; `None` where it gives none within `limit`.
pub fn within<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let value = probe();
        if value.is_some() || start.elapsed() >= limit {
            return value;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

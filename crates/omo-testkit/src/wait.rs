//! Waiting for a condition with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How often a condition that cannot notify us is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Calls `probe` until it gives a value; an error says what did not come within `limit`.
pub fn wait_until<T>(what: &str, limit: Duration, mut probe: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = probe() {
            return Ok(value);
        }
        if start.elapsed() >= limit {
            anyhow::bail!("{what} did not come within {limit:?}");
        }
        thread::sleep(LOOK_EVERY);
    }
}

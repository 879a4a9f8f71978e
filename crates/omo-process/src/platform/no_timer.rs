//! Systems without a timer that ends the process: a thread of `watchdog` watches from the start.

use std::time::Duration;

pub(crate) fn start(_limit: Duration) -> bool {
    false
}

pub(crate) fn disarm() {}

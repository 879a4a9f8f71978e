//! Being asked to end, by the caller or by Ctrl-C. A process that has started others ends them first, unless it only
//! notes that it was asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::platform;

/// From now on a request to end sets `asked`, and does not end this process. Where the system does not
/// offer that, the request ends the process as before.
pub fn flag_termination(asked: &Arc<AtomicBool>) {
    platform::flag_termination(asked);
}

/// Ends all that this process has started and still waits for. It starts nothing after that: it is about to end.
pub fn end_started_processes() {
    platform::end_groups();
}

//! Termination of omo's processes: a request of the caller, Ctrl-C, a limit on the size of files. A
//! process that has started others ends them first, unless it only notes that it was asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::platform;

/// From now on a request to end sets `asked`, and does not end this process. Where the system does not
/// offer that, the request ends the process as before.
pub fn flag_termination(asked: &Arc<AtomicBool>) {
    platform::flag_termination(asked);
}

/// From now on a started program begins with the default action of INT, QUIT, HUP and TERM, also where this process was
/// started with them ignored, by `&` or `nohup`. This process goes on ignoring those.
pub fn reset_signals_of_started_programs() {
    platform::reset_signals_of_started_programs();
}

/// Ends all that this process has started and still waits for. It starts nothing after that: it is about to end.
pub fn end_started_processes() {
    platform::end_groups();
}

/// From now on a limit on the size of files (`ulimit -f`) makes a write fail; by itself the system
/// would end the process in the middle of it. Programs that are started later do not inherit this.
/// Where there is no such limit nothing happens.
pub fn outlive_size_limit() {
    platform::outlive_size_limit();
}

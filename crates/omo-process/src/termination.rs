//! The end of omo's processes: by a request of the caller, Ctrl-C, or a limit on the size of files.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::platform;

/// Has a request to end set `asked` from now on, where the system offers that.
pub fn flag_termination(asked: &Arc<AtomicBool>) {
    platform::flag_termination(asked);
}

/// Default actions of INT, QUIT, HUP and TERM for programs started from now on, also where this process ignores
/// them (`&`, `nohup`).
pub fn reset_signals_of_started_programs() {
    platform::reset_signals_of_started_programs();
}

/// Ends all processes that this one waits for, and starts none after that: it is about to end.
pub fn end_started_processes() {
    platform::end_groups();
}

/// Makes a write beyond a limit on the size of files (`ulimit -f`) fail, instead of ending the process in the middle
/// of it. Programs that are started later do not inherit this.
pub fn outlive_size_limit() {
    platform::outlive_size_limit();
}

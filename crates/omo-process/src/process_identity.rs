//! Whether a process still lives, and what tells it from a later one with the same number.

use crate::platform;

/// Whether a process lives; `None` where that cannot be told. A process that has ended does not, even
/// if its parent has not asked for its status yet, where the system can tell that.
pub fn is_alive(pid: u32) -> Option<bool> {
    platform::is_alive(pid)
}

/// What tells a process from every other one that has had its number since the machine was started;
/// `None` where there is no such process, or no such mark on this system.
pub fn start_mark(pid: u32) -> Option<String> {
    platform::start_mark(pid)
}

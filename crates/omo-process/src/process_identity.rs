//! Life of processes, and marks that tell one from a later one with the same number.

use crate::platform;

/// Life of a process; `None` where that cannot be told. A process that has ended counts as dead,
/// even if its parent has not asked for its status yet, where the system can tell that.
pub fn is_alive(pid: u32) -> Option<bool> {
    platform::is_alive(pid)
}

/// Mark of a process among all that have had its number since the machine was started; `None`
/// without such a process, or on a system without such marks.
pub fn start_mark(pid: u32) -> Option<String> {
    platform::start_mark(pid)
}

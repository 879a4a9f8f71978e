//! Life of processes, and marks that tell one from a later one with the same number.

use crate::platform;

/// `false` for a zombie too; `None` where the system cannot tell.
pub fn is_alive(pid: u32) -> Option<bool> {
    platform::is_alive(pid)
}

/// Unique among processes with this number since boot; `None` without such a process or such marks.
pub fn start_mark(pid: u32) -> Option<String> {
    platform::start_mark(pid)
}

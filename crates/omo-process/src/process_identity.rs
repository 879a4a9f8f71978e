//! Life of a process, and its start mark: a later process with the same number has another.

use crate::platform;

/// `true` for a live process, `false` for a zombie too; `None` where the system cannot tell.
pub fn is_alive(pid: u32) -> Option<bool> {
    platform::is_alive(pid)
}

/// Mark unique among processes with this number since boot; `None` without process or marks.
pub fn start_mark(pid: u32) -> Option<String> {
    platform::start_mark(pid)
}

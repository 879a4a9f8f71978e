//! Linux: facts about a process in `/proc/PID/stat`, and the signals that this process ignores.

use std::fs::File;
use std::io::Read;

/// Fields of `/proc/PID/stat`.
pub(super) struct ProcessStat {
    /// `Z` for a zombie.
    pub(super) state: String,
    pub(super) parent: String,
    pub(super) leader: String,
    /// In ticks since boot.
    pub(super) start: String,
}

pub(super) fn stat_of(pid: i32) -> Option<ProcessStat> {
    let mut line = String::new();
    File::open(format!("/proc/{pid}/stat"))
        .ok()?
        .read_to_string(&mut line)
        .ok()?;
    // `pid (name) state parent …`; a name may hold anything.
    let (_, after) = line.rsplit_once(") ")?;
    let mut fields = after.split_ascii_whitespace().map(str::to_owned);
    let (state, parent) = (fields.next()?, fields.next()?);
    // Session leader and start are the 6th and the 22nd field.
    Some(ProcessStat {
        state,
        parent,
        leader: fields.nth(1)?,
        start: fields.nth(15)?,
    })
}

/// Bit mask of the signals that this process ignores.
pub(super) fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

//! What a dead supervisor has left running: found by its number and by when it began, and ended.

use std::time::{Duration, Instant};

use omo_process::platform::{GroupEnding, end_group};
use omo_process::process_identity::{is_alive, start_mark};
use serde::{Deserialize, Serialize};

/// How long a session may take to put its things away once it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What tells a process that was started from any other one, for the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number, which is that of its process group as well.
    pub pid: u32,
    /// When it began; `None` where the system does not tell.
    pub start: Option<String>,
}

/// What has become of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It has ended.
    Ended,
    /// Some process has its number, and it cannot be told whether it is the same one.
    Unknown,
}

/// Looks for a process.
pub fn find_process(mark: &ProcessIdentity) -> ProcessState {
    match (is_alive(mark.pid), &mark.start, start_mark(mark.pid)) {
        (Some(true), Some(then), Some(now)) if *then == now => ProcessState::Running,
        (Some(false), ..) | (Some(true), Some(_), Some(_)) => ProcessState::Ended,
        _ => ProcessState::Unknown,
    }
}

/// Ends a process and all of its group, where it is for certain the one that was started: it is asked,
/// and ended when it does not follow. Gives what became of it.
pub fn end_process(mark: &ProcessIdentity) -> ProcessState {
    for ending in [GroupEnding::Asked, GroupEnding::AtOnce] {
        if find_process(mark) != ProcessState::Running {
            break;
        }
        end_group(mark.pid, ending);
        let last = Instant::now() + GRACE;
        while find_process(mark) == ProcessState::Running && Instant::now() < last {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    find_process(mark)
}

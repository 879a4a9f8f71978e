//! Finds and ends processes that a dead supervisor left, by process id and start time.

use std::time::{Duration, Instant};

use omo_process::platform::{GroupEnding, end_group};
use omo_process::process_identity::{is_alive, start_mark};
use serde::{Deserialize, Serialize};

const GRACE: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Also the id of its process group.
    pub pid: u32,
    /// Mark of the start time; `None` on a system without such marks.
    pub start: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Running,
    Ended,
    /// A process has this id; it may be a later one.
    Unknown,
}

pub fn find_process(mark: &ProcessIdentity) -> ProcessState {
    match (is_alive(mark.pid), &mark.start, start_mark(mark.pid)) {
        (Some(true), Some(then), Some(now)) if *then == now => ProcessState::Running,
        (Some(false), ..) | (Some(true), Some(_), Some(_)) => ProcessState::Ended,
        _ => ProcessState::Unknown,
    }
}

/// Ends a process and its group, first gently, if it is certainly the one that `mark` names;
/// returns its state afterwards.
pub fn end_process(mark: &ProcessIdentity) -> ProcessState {
    for ending in [GroupEnding::Asked, GroupEnding::AtOnce] {
        if find_process(mark) != ProcessState::Running {
            break;
        }
        end_group(mark.pid, ending);
        let last = Instant::now() + GRACE;
        while find_process(mark) == ProcessState::Running && Instant::now() < last {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    find_process(mark)
}

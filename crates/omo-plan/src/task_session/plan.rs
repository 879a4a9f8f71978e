//! A task session as a plan.

use crate::model::{Plan, Unit};
use crate::task_session::{SessionFile, TaskFile};

/// The task that verifies all others.
pub const VERIFY: &str = "verify";

/// The plan of a session: its tasks, and behind them the one that verifies them, unless that is skipped.
pub fn plan(_session: &SessionFile, _tasks: &[TaskFile], _folder: &str, _skips_verification: bool) -> Plan {
    unreachable!()
}

/// A task as a unit: its criteria that are commands are its checks, the others are to be judged.
pub fn unit(_task: &TaskFile) -> Unit {
    unreachable!()
}

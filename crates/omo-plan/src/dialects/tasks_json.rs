//! The dialect of task lists: a folder of files, one for each task, which [`crate::task_list`] reads.

use super::{PlanDialect, PlanKind};

/// Task lists. No single file is one.
#[derive(Debug)]
pub struct TasksJsonDialect;

impl PlanDialect for TasksJsonDialect {
    fn name(&self) -> &'static str {
        "tasks-json"
    }

    fn kind(&self) -> PlanKind {
        PlanKind::TaskList
    }
}

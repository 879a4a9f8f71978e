//! Dialect of task lists: folders of JSON files, which [`crate::task_list`] reads.

use super::{PlanDialect, PlanKind};

/// Dialect of task lists.
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

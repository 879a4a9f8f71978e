//! `tasks.json` of Task Master: tags, tasks, subtasks.

use super::PlanDialect;

/// `tasks.json` of Task Master: tags, tasks, subtasks.
#[derive(Debug)]
pub struct TaskMasterDialect;

impl PlanDialect for TaskMasterDialect {
    fn name(&self) -> &'static str {
        "task-master"
    }
}

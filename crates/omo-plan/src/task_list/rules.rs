//! Rules of task lists: each verb turns file contents into new ones, or refuses without a change.

mod creation;
mod criteria;
mod doubtful_words;
mod explorers;
mod ids;
mod json_path;
mod phases;
mod tasks;

use crate::refusal::VerbRefusal;
use crate::task_list::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase, VERIFY_TASK_ID};

pub use creation::{NewTask, NewTaskList, new_task, new_task_list, resume_task_list};
pub use criteria::split_criteria;
pub use explorers::{ExplorerFinding, add_explorer_finding, awaits_explorers, expect_explorers};
use ids::next_task_id;
pub use ids::{parse_task_id, sort_tasks};
pub use json_path::{format_value, value_at_path};
pub use phases::{EXPLORATION_STAGES, TaskListChange, TaskListWork, parse_phase, update_task_list};
pub use tasks::{TaskChange, TaskEdit, parse_status, require_removable, update_task};

fn require_open(session: &TaskListFile) -> Result<(), VerbRefusal> {
    if matches!(
        session.phase,
        TaskListPhase::Complete | TaskListPhase::Cancelled
    ) {
        let (id, word) = (&session.session_id, session.phase.word());
        return Err(VerbRefusal::precondition(
            format!("session {id} is {word}: its tasks stay as they are"),
            NEW_TASK_LIST_HINT,
        ));
    }
    Ok(())
}

/// Advice for a session that is over.
const NEW_TASK_LIST_HINT: &str =
    "`omo agent tasks create` begins a new one; what there is now is kept beside it";

fn unresolved_tasks(tasks: &[TaskFile]) -> impl Iterator<Item = &TaskFile> {
    tasks
        .iter()
        .filter(|task| task.id != VERIFY_TASK_ID && task.status != TaskFileStatus::Resolved)
}

//! What each verb may change of a task session, and what it says where it may not.
//!
//! Every rule takes what the files say and gives what they should say, or why not. Nothing is read or
//! written here, so a refusal has changed nothing.

mod begin;
mod context;
mod doubtful;
mod field;
mod ids;
mod session;
mod tasks;

pub use begin::{NewTask, NewTaskList, began, criteria, new_task, resumed};
pub use context::{ExplorerFinding, add_explorer, expect_explorers, is_awaited};
pub use field::{field, shown};
pub use ids::{in_order, next_id, task_id};
pub use session::{EXPLORATION_STAGES, TaskListChange, TaskListWork, changed_session, phase};
pub use tasks::{TaskChange, changed_task, status};

use crate::run::verbs::{VerbRefusal, VerbRefusalKind};
use crate::task_session::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase, VERIFY};

fn refused(message: impl Into<String>, hint: impl Into<String>) -> VerbRefusal {
    VerbRefusal { kind: VerbRefusalKind::Precondition, message: message.into(), hint: hint.into() }
}

/// Nothing about the tasks of a session that is done, or was given up, changes any more.
fn has_to_go_on(session: &TaskListFile) -> Result<(), VerbRefusal> {
    if matches!(session.phase, TaskListPhase::Complete | TaskListPhase::Cancelled) {
        let (id, word) = (&session.session_id, session.phase.word());
        return Err(refused(format!("session {id} is {word}: its tasks stay as they are"), NEW_SESSION));
    }
    Ok(())
}

/// What leads out of a session that is over.
const NEW_SESSION: &str = "`omo agent tasks create` begins a new one; what there is now is kept beside it";

/// The tasks that are not resolved, but for the one that verifies the others.
fn unresolved(tasks: &[TaskFile]) -> impl Iterator<Item = &TaskFile> {
    tasks.iter().filter(|task| task.id != VERIFY && task.status != TaskFileStatus::Resolved)
}

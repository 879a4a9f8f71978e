//! The note of a session that is not done, which the start of a later one in the same project reads.
//!
//! It is a service to people and holds up nothing: the session's own files are the truth.

use std::path::{Path, PathBuf};

use omo_core::session::task_list::OpenTaskList;
use omo_engine::report::task_list::render;
use omo_engine::state::{RunState, TaskStanding, TaskStatus};
use omo_engine::task_list_store::TaskListFolder;
use omo_plan::model::TaskKind;
use omo_plan::task_list::{TaskFileStatus, TaskListPhase, VERIFY_TASK_ID};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::project_root;
use omo_state::task_list_note::{self, TaskListNoteError};

/// Notes where a session stands, as its files say it now.
pub(crate) fn note_from_files(env: &ProcessEnv, session: &TaskListFolder) {
    let Ok(file) = session.session() else { return };
    let Some(root) = project(Path::new(&file.working_dir)) else { return };
    let tasks = session.tasks().ok().flatten().unwrap_or_default().tasks;
    let tasks: Vec<_> = tasks.iter().filter(|task| task.id != VERIFY_TASK_ID).collect();
    let done = tasks.iter().filter(|task| task.status == TaskFileStatus::Resolved).count();
    let (id, goal) = (session.id().to_string(), file.goal);
    write_note(env, &root, file.phase, OpenTaskList { id, goal, ..with_counts(tasks.len(), done) });
}

/// Notes where a session stands, as its run says it now.
pub(crate) fn note_from_run(env: &ProcessEnv, state: &RunState) {
    let tasks = || state.plan.tasks.iter().filter(|task| task.kind != TaskKind::Verify);
    let is_done =
        |id: &str| matches!(state.standing(id), Some(TaskStanding::Is(TaskStatus::Passed | TaskStatus::Claimed)));
    let done = tasks().filter(|task| is_done(&task.id)).count();
    let (id, goal) = (state.task_list_id().to_owned(), state.plan.goal.clone());
    let open = OpenTaskList { id, goal, ..with_counts(tasks().count(), done) };
    write_note(env, Path::new(&state.root), render::phase_of_run(state), open);
}

/// Forgets a session that was removed.
pub(crate) fn forget_note(env: &ProcessEnv, id: &str, working_dir: &str) {
    if let Some(root) = project(Path::new(working_dir)) {
        let forgotten = clear(&root, id, env);
        warn(forgotten);
    }
}

fn with_counts(total: usize, done: usize) -> OpenTaskList {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    OpenTaskList { total: number(total), done: number(done), ..OpenTaskList::default() }
}

fn write_note(env: &ProcessEnv, root: &Path, phase: TaskListPhase, session: OpenTaskList) {
    let kept = if can_be_continued(phase) {
        let session = OpenTaskList { phase: phase.word().to_owned(), ..session };
        GuardedFolder::create_state(root)
            .map_err(TaskListNoteError::from)
            .and_then(|folder| task_list_note::set(&folder, session, env.state_home.as_deref(), env.now))
    } else {
        clear(root, &session.id, env)
    };
    warn(kept);
}

fn clear(root: &Path, id: &str, env: &ProcessEnv) -> Result<(), TaskListNoteError> {
    let Some(folder) = GuardedFolder::open_state(root)? else { return Ok(()) };
    task_list_note::clear(&folder, id, env.state_home.as_deref())
}

/// Whether its user can go on with a session by one of the commands.
fn can_be_continued(phase: TaskListPhase) -> bool {
    match phase {
        TaskListPhase::Planning
        | TaskListPhase::PlanningComplete
        | TaskListPhase::Execution
        | TaskListPhase::Verification
        | TaskListPhase::Failed => true,
        TaskListPhase::Documentation | TaskListPhase::Complete | TaskListPhase::Cancelled | TaskListPhase::Unknown => {
            false
        }
    }
}

/// The project that a session works in; `None` where its folder is no longer there.
fn project(folder: &Path) -> Option<PathBuf> {
    let folder = Some(folder).filter(|folder| folder.is_absolute() && folder.is_dir())?;
    project_root::find_project(folder)
}

fn warn(kept: Result<(), TaskListNoteError>) {
    if let Err(error) = kept {
        crate::output::print_warning(&format!(
            "where this session stands is not shown when another one begins here: {error}"
        ));
    }
}

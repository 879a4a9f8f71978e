//! Note of an unfinished task list in the project's state, shown when another session starts there.
//! The files of the list stay the truth.

use std::path::{Path, PathBuf};

use omo_core::session::task_list::OpenTaskList;
use omo_engine::program_files::task_folder::{phase_of_run, task_status};
use omo_engine::state::RunState;
use omo_engine::task_list_store::TaskListFolder;
use omo_plan::task_list::{TaskFileStatus, TaskListPhase, VERIFY_TASK_ID};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::project_root;
use omo_state::task_list_note::{self, TaskListNoteError};

pub(crate) fn note_from_files(env: &ProcessEnv, session: &TaskListFolder) {
    let Ok(file) = session.session() else { return };
    let Some(root) = project(Path::new(&file.working_dir)) else {
        return;
    };
    let tasks = session.tasks().ok().flatten().unwrap_or_default().tasks;
    let work = tasks.iter().filter(|task| task.id != VERIFY_TASK_ID);
    let are_done = work.map(|task| task.status == TaskFileStatus::Resolved);
    write_note(
        env,
        &root,
        file.phase,
        session.id().as_str(),
        file.goal,
        are_done,
    );
}

pub(crate) fn note_from_run(env: &ProcessEnv, state: &RunState) {
    let work = state.plan.work_tasks();
    let are_done = work.map(|task| {
        state
            .standing(&task.id)
            .is_some_and(|standing| task_status(&standing) == TaskFileStatus::Resolved)
    });
    let (phase, id, goal) = (
        phase_of_run(state),
        state.task_list_id(),
        state.plan.goal.clone(),
    );
    write_note(env, Path::new(&state.root), phase, id, goal, are_done);
}

pub(crate) fn forget_note(env: &ProcessEnv, id: &str, working_dir: &str) {
    if let Some(root) = project(Path::new(working_dir)) {
        let forgotten = clear(&root, id, env);
        warn(forgotten);
    }
}

/// Keeps the note of a session that a command can continue, and removes any other.
fn write_note(
    env: &ProcessEnv,
    root: &Path,
    phase: TaskListPhase,
    id: &str,
    goal: String,
    are_done: impl Iterator<Item = bool>,
) {
    use TaskListPhase::{Cancelled, Complete, Documentation, Unknown};
    if matches!(phase, Documentation | Complete | Cancelled | Unknown) {
        return warn(clear(root, id, env));
    }
    let (mut total, mut done) = (0, 0);
    for is_done in are_done {
        total += 1;
        done += u32::from(is_done);
    }
    let (id, phase) = (id.to_owned(), phase.word().to_owned());
    let open = OpenTaskList {
        id,
        goal,
        phase,
        total,
        done,
        ..OpenTaskList::default()
    };
    let folder = GuardedFolder::create_state(root).map_err(TaskListNoteError::from);
    warn(
        folder.and_then(|folder| {
            task_list_note::set(&folder, open, env.state_home.as_deref(), env.now)
        }),
    );
}

fn clear(root: &Path, id: &str, env: &ProcessEnv) -> Result<(), TaskListNoteError> {
    let Some(folder) = GuardedFolder::open_state(root)? else {
        return Ok(());
    };
    task_list_note::clear(&folder, id, env.state_home.as_deref())
}

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

//! `omo tasks show|update`.

use omo_engine::task_list_store::SESSION_FILE;
use omo_plan::task_list::TaskListPhase;
use omo_plan::task_list::rules::{self, TaskListChange, TaskListWork};
use omo_state::env::ProcessEnv;

use crate::commands::tasks::arguments::{GetOptions, UpdateOptions};
use crate::error::CommandError;
use crate::task_list_files::{self, print, print_done, print_field};

/// Prints a session, a value of it, or where it is.
pub(crate) fn show_task_list(env: &ProcessEnv, options: &GetOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    if options.dir {
        return print(&folder.path().display().to_string());
    }
    if options.file {
        return print(&folder.path().join(SESSION_FILE).display().to_string());
    }
    // Nothing is printed of a file that is no session.
    folder.session()?;
    let bytes = folder.session_bytes()?;
    match &options.field {
        None => print(String::from_utf8_lossy(&bytes).trim_end()),
        Some(path) => {
            let value = serde_json::from_slice(&bytes).unwrap_or_default();
            print_field(&value, path, &format!("session {}", folder.id()))
        }
    }
}

/// Changes where a session stands.
pub(crate) fn update_task_list(env: &ProcessEnv, options: UpdateOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let change = TaskListChange {
        phase: options.phase,
        plan_approved: options.plan_approved,
        design_doc: options.design_doc,
        exploration_stage: options.exploration_stage,
        round: options.iteration,
        verifier_passed: options.verifier_passed,
        documenter_completed: options.documenter_completed,
    };
    if change.is_run_owned() {
        let is_end = change.phase == Some(TaskListPhase::Cancelled);
        let hint = if is_end {
            "`omo run cancel` ends the run, and with it the session"
        } else {
            task_list_files::WORK_ON_THE_RUN
        };
        task_list_files::require_no_open_run(&session, env, hint)?;
    }
    let tasks = locked.tasks()?.unwrap_or_default();
    let work = TaskListWork {
        tasks: &tasks.tasks,
        unreadable_tasks: tasks.unreadable.len(),
        logged_evidence: locked.count_logged_evidence().unwrap_or(0),
    };
    let session = rules::update_task_list(&session, &change, work, env.now)?;
    locked.write_session(&session)?;
    crate::task_list_note::note_from_files(env, &locked);
    if options.quiet {
        let (phase, iteration, at) = (session.phase.word(), session.iteration, &session.updated_at);
        return print(&format!("Session updated: phase={phase} iteration={iteration} updated_at={at}"));
    }
    print_done("OK: Session updated", &session)
}

//! `omo agent task create|list|get|update`.

use std::path::Path;

use omo_core::text::sanitize;
use omo_engine::task_list_store::{LoadedTasks, TASKS_FOLDER, TaskListFolder};
use omo_engine::work::read_plan_bytes;
use omo_plan::model::TaskComplexity;
use omo_plan::task_list::rules::{self, NewTask, TaskChange};
use omo_plan::task_list::{TaskFile, TaskFileStatus};
use omo_state::env::ProcessEnv;
use serde::Serialize;
use serde_json::Value;

use crate::commands::tasks::added_task::AddedTask;
use crate::commands::tasks::arguments::{
    Format, TaskCreateOptions, TaskGetOptions, TaskListOptions, TaskUpdateOptions, Words,
};
use crate::error::CommandError;
use crate::task_list_files::{self, print, print_done, print_field, to_json};

/// Adds a task.
pub(crate) fn create(env: &ProcessEnv, options: TaskCreateOptions) -> Result<(), CommandError> {
    if options.test_file.is_some() && options.approach != "tdd" {
        return Err(CommandError::usage("`--test-file` goes with `--approach tdd`", "leave one of the two out"));
    }
    let described = options.description_file.as_deref().map(read_description).transpose()?;
    let new = NewTask {
        id: options.id,
        subject: options.subject,
        description: described.or(options.description),
        complexity: serde_json::from_value(options.complexity.into()).unwrap_or_default(),
        criteria: options.criteria.iter().flat_map(|text| rules::split_criteria(text)).collect(),
        blocked_by: options.blocked_by.into_iter().flat_map(|ids| ids.0).collect(),
        approach: options.approach,
        test_file: options.test_file,
        test_scope: options.test_scope,
    };
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let tasks = locked.tasks()?.unwrap_or_default();
    let task = rules::new_task(new, &session, &tasks.ids, env.now)?;
    let Some(run) = task_list_files::open_run_of(&session, env)? else {
        locked.write_task(&task)?;
        crate::task_list_note::note_from_files(env, &locked);
        return print_done(&format!("OK: Task {} created", task.id), &task);
    };
    let added = AddedTask::prepare(env, &run, &task)?;
    locked.write_task(&task)?;
    // The run writes the session's files, and waits for this lock.
    drop(locked);
    if let Err(failure) = added.add() {
        task_list_files::open_task_list(&options.which, env)?.lock()?.remove_task(&task.id)?;
        return Err(failure);
    }
    print_done(&format!("OK: Task {} created, and added to the run {}", task.id, run.id), &task)
}

/// What a file says that describes a task.
fn read_description(file: &Path) -> Result<String, CommandError> {
    let bytes = read_plan_bytes(file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("{} is no text in UTF-8", file.display());
        CommandError::io(message, "a task is described in UTF-8")
    })?;
    Ok(text.trim().to_owned())
}

/// Lists the tasks.
pub(crate) fn list(env: &ProcessEnv, options: &TaskListOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let missing = || {
        let path = folder.path().join(TASKS_FOLDER);
        let message = format!("session {} has no tasks: {} is not there", folder.id(), path.display());
        CommandError::not_found(message, "`omo agent task create` makes one")
    };
    let tasks = readable_tasks(&folder)?.ok_or_else(missing)?;
    let is_meant = |task: &TaskFile| options.status.is_none_or(|status| task.status == status);
    let rows: Vec<Row> = tasks.tasks.into_iter().filter(is_meant).map(|task| task_row(task, options.words)).collect();
    match (&options.field, options.format) {
        (None, Format::Json) => print(&serde_json::to_string_pretty(&rows).unwrap_or_default()),
        (None, Format::Table) => {
            print("ID|STATUS|SUBJECT|BLOCKED_BY|COMPLEXITY")?;
            rows.iter().try_for_each(|row| print(&task_line(row)))
        }
        (Some(path), format) => {
            let field = |row: &Row| rules::value_at_path(&to_json(row), path).cloned().unwrap_or_default();
            let values: Vec<Value> = rows.iter().map(field).collect();
            match format {
                Format::Json => print(&rules::format_value(&values.into())),
                Format::Table => values.iter().try_for_each(|value| print(&rules::format_value(value))),
            }
        }
    }
}

/// A task on one line, with a bar between its columns and in none of them.
fn task_line(row: &Row) -> String {
    let complexity = rules::format_value(&to_json(&row.complexity));
    let columns = [&*row.id, row.status, &row.subject, &row.blocked_by_text, &complexity];
    columns.map(|column| sanitize(column, 200).replace('|', "/")).join("|")
}

/// The tasks of a session, and `None` where nothing was ever made for them; each file that is none is named
/// on stderr.
pub(crate) fn readable_tasks(folder: &TaskListFolder) -> Result<Option<LoadedTasks>, CommandError> {
    folder.session()?;
    let tasks = folder.tasks()?;
    tasks.iter().flat_map(|tasks| &tasks.unreadable).for_each(|error| crate::output::print_warning(error));
    Ok(tasks)
}

/// A task as it is listed, with what a session that starts workers has to know.
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    status: &'static str,
    subject: String,
    /// With commas between them, as other programs print it.
    #[serde(rename = "blockedBy")]
    blocked_by_text: String,
    blocked_by: Vec<String>,
    complexity: TaskComplexity,
    description: String,
    criteria: Vec<String>,
    retry_count: u32,
}

fn task_row(task: TaskFile, words: Words) -> Row {
    let status = match (words, task.status) {
        (Words::Scripts, TaskFileStatus::Open) => "pending",
        (_, status) => status.word(),
    };
    let needs = task.dependencies();
    Row {
        status,
        blocked_by_text: needs.join(","),
        blocked_by: needs,
        id: task.id,
        subject: task.subject,
        complexity: task.complexity,
        description: task.description,
        criteria: task.criteria,
        retry_count: task.retry_count,
    }
}

/// Prints a task, or a value of it.
pub(crate) fn get(env: &ProcessEnv, options: &TaskGetOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let task = folder.task(&options.task.id)?;
    match &options.field {
        None => print(&serde_json::to_string_pretty(&task).unwrap_or_default()),
        Some(path) => print_field(&to_json(&task), path, &format!("task {} of session {}", task.id, folder.id())),
    }
}

/// Changes where a task stands, or adds evidence.
pub(crate) fn update(env: &ProcessEnv, options: TaskUpdateOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let task = locked.task(&options.task.id)?;
    task_list_files::require_no_open_run(&session, env, task_list_files::WORK_ON_THE_RUN)?;
    let change =
        TaskChange { status: options.status, evidence: options.add_evidence, retry_count: options.retry_count };
    let tasks = locked.tasks()?.unwrap_or_default();
    let (task, doubtful) = rules::update_task(&task, &change, &session, &tasks.tasks, env.now)?;
    locked.write_task(&task)?;
    if !doubtful.is_empty() {
        let words = doubtful.join(", ");
        crate::output::print_warning(&format!(
            "the evidence of task {} has words that may mean unfinished work: {words}",
            task.id
        ));
    }
    crate::task_list_note::note_from_files(env, &locked);
    print_done(&format!("OK: Task {} updated", task.id), &task)
}

//! `omo agent task list`: the tasks of a task list.

use clap::{Args, ValueEnum};
use omo_core::text::sanitize;
use omo_engine::task_list_store::TASKS_FOLDER;
use omo_plan::model::TaskComplexity;
use omo_plan::task_list::{TaskFile, TaskFileStatus, rules};
use omo_state::env::ProcessEnv;
use serde::Serialize;
use serde_json::Value;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption, parse_status, print, readable_tasks, to_json};

const HELP: &str = "\
Examples:
  omo agent task list --status open
  omo agent task list --format json --field id

A file that is not a task is named on stderr, and the others are listed.";

// No doc comments on the variants: with them clap shows the whole page in its long form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    Table,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusWords {
    Own,
    Scripts,
}

/// List the tasks of a session
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AgentTaskListOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Only those with this status
    #[arg(long, short = 'S', value_parser = parse_status)]
    pub status: Option<TaskFileStatus>,
    /// The form of what is printed
    #[arg(long, short, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    /// One value of each
    #[arg(long, value_name = "PATH")]
    pub field: Option<String>,
    /// Call a task that was not begun `pending`, as the loop does that this was first made for
    #[arg(long, hide = true, value_enum, default_value_t = StatusWords::Own)]
    pub words: StatusWords,
}

pub(crate) fn run(env: &ProcessEnv, options: &AgentTaskListOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let tasks = readable_tasks(&folder)?.ok_or_else(|| {
        let path = folder.path().join(TASKS_FOLDER);
        let message = format!(
            "session {} has no tasks: {} is not there",
            folder.id(),
            path.display()
        );
        CommandError::not_found(message, "`omo agent task create` makes one")
    })?;
    let rows: Vec<TaskRow> = tasks
        .tasks
        .into_iter()
        .filter(|task| options.status.is_none_or(|status| task.status == status))
        .map(|task| task_row(task, options.words))
        .collect();
    match (&options.field, options.format) {
        (None, ListFormat::Json) => print(&serde_json::to_string_pretty(&rows).unwrap_or_default()),
        (None, ListFormat::Table) => {
            print("ID|STATUS|SUBJECT|BLOCKED_BY|COMPLEXITY")?;
            rows.iter().try_for_each(|row| print(&task_line(row)))
        }
        (Some(path), format) => {
            let values: Vec<Value> = rows
                .iter()
                .map(|row| {
                    rules::value_at_path(&to_json(row), path)
                        .cloned()
                        .unwrap_or_default()
                })
                .collect();
            match format {
                ListFormat::Json => print(&rules::format_value(&values.into())),
                ListFormat::Table => values
                    .iter()
                    .try_for_each(|value| print(&rules::format_value(value))),
            }
        }
    }
}

/// A task on one line, with `|` between the columns and in none of them.
fn task_line(row: &TaskRow) -> String {
    let complexity = rules::format_value(&to_json(&row.complexity));
    let columns = [
        &*row.id,
        row.status,
        &row.subject,
        &row.blocked_by_text,
        &complexity,
    ];
    columns
        .map(|column| sanitize(column, 200).replace('|', "/"))
        .join("|")
}

#[derive(Debug, Serialize)]
struct TaskRow {
    id: String,
    status: &'static str,
    subject: String,
    #[serde(rename = "blockedBy")]
    blocked_by_text: String,
    blocked_by: Vec<String>,
    complexity: TaskComplexity,
    description: String,
    criteria: Vec<String>,
    retry_count: u32,
}

fn task_row(task: TaskFile, words: StatusWords) -> TaskRow {
    let status = match (words, task.status) {
        (StatusWords::Scripts, TaskFileStatus::Open) => "pending",
        (_, status) => status.word(),
    };
    let needs = task.dependencies();
    TaskRow {
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

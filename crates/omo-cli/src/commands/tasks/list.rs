//! `omo tasks list`: every session, with its progress.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_core::text::{format_age, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::task_list_store::{TaskListError, TaskListFolder};
use omo_plan::task_list::{TaskFileStatus, TaskListFile, TaskListPhase, VERIFY_TASK_ID};
use omo_state::env::ProcessEnv;
use serde::Serialize;

use crate::error::CommandError;
use crate::output::table::{self, Cell};
use crate::task_list_files;

const HELP: &str = "\
Example:
  omo tasks list";

/// List all task lists, the one that was changed last first
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct TasksListOptions {
    /// Print JSON: a list with one object for each session
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct TaskListLine {
    session_id: String,
    phase: TaskListPhase,
    goal: String,
    resolved: usize,
    tasks: usize,
    updated_at: String,
}

pub(crate) fn run(env: &ProcessEnv, options: &TasksListOptions) -> Result<(), CommandError> {
    let sessions = task_list_files::task_list_store()?;
    let mut lines = Vec::new();
    for id in sessions.ids()? {
        match sessions
            .open(&id)
            .and_then(|folder| task_list_line(&folder))
        {
            Ok(line) => lines.push(line),
            Err(error) => crate::output::print_warning(&error),
        }
    }
    lines.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&lines).unwrap_or_default()
        )?;
    } else if lines.is_empty() {
        writeln!(
            out,
            "There is no task list. `omo agent tasks create` begins one."
        )?;
    } else {
        let rows = lines.iter().map(|line| {
            let changed = Timestamp::parse(&line.updated_at);
            [
                Cell::plain(line.session_id.clone()),
                Cell::new(line.phase.word(), phase_style(line.phase)),
                Cell::plain(format!("{} of {}", line.resolved, line.tasks)),
                Cell::plain(changed.map_or_else(
                    || "-".to_owned(),
                    |at| format!("{} ago", format_age(Some(at), env.now)),
                )),
                Cell::plain(sanitize(&line.goal, 60)),
            ]
        });
        table::write_table(
            &mut out,
            ["session", "phase", "done", "last", "goal"],
            rows.collect(),
        )?;
    }
    Ok(())
}

fn task_list_line(folder: &TaskListFolder) -> Result<TaskListLine, TaskListError> {
    let TaskListFile {
        phase,
        goal,
        updated_at,
        ..
    } = folder.session()?;
    let tasks = folder.tasks()?.unwrap_or_default();
    // The verifying task is not counted.
    let resolved = tasks
        .tasks
        .iter()
        .filter(|task| task.id != VERIFY_TASK_ID && task.status == TaskFileStatus::Resolved)
        .count();
    let total = tasks.ids.iter().filter(|id| *id != VERIFY_TASK_ID).count();
    // The folder names the session: the file may have been copied.
    Ok(TaskListLine {
        session_id: folder.id().to_string(),
        phase,
        goal,
        resolved,
        tasks: total,
        updated_at,
    })
}

fn phase_style(phase: TaskListPhase) -> Style {
    match phase {
        TaskListPhase::Complete => AnsiColor::Green.on_default(),
        TaskListPhase::Cancelled => AnsiColor::Yellow.on_default(),
        TaskListPhase::Failed | TaskListPhase::Unknown => AnsiColor::Red.on_default(),
        _ => Style::new(),
    }
}

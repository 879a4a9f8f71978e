//! `omo agent task summary`: open and finished tasks as Markdown.

use clap::{Args, ValueEnum};
use omo_core::text::sanitize;
use omo_plan::task_list::rules::format_value;
use omo_plan::task_list::{TaskFile, TaskFileStatus, TaskListFile};
use omo_state::env::ProcessEnv;
use serde_json::Value;

use crate::error::CommandError;
use crate::task_list_files::{
    self, MAX_CHARS, TaskListOption, bullet_list, parse_id, print, to_json,
};

const HELP: &str = "\
Examples:
  omo agent task summary
  omo agent task summary --id 2";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    #[value(alias = "markdown")]
    Md,
    Json,
}

/// Print what is to be done and what is done, as Markdown
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SummaryOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Only this task
    #[arg(long, short = 't', aliases = ["task", "task-id"], allow_hyphen_values = true, value_parser = parse_id)]
    pub id: Option<String>,
    /// Write it to summary.md beside the tasks
    #[arg(long, short = 'S')]
    pub save: bool,
    /// The form of what is printed
    #[arg(long, short, value_enum, default_value_t = SummaryFormat::Md)]
    pub format: SummaryFormat,
}

pub(crate) fn run(env: &ProcessEnv, options: &SummaryOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let session = folder.session()?;
    let (tasks, text) = if let Some(id) = &options.id {
        let task = folder.task(id)?;
        (to_json(&task), summary_of_task(&task))
    } else {
        let tasks = task_list_files::readable_tasks(&folder)?
            .unwrap_or_default()
            .tasks;
        (to_json(&tasks), summary_of_all(&session, &tasks))
    };
    if options.format == SummaryFormat::Json {
        return print(&format_value(&tasks));
    }
    if options.save {
        let path = folder.lock()?.write_summary(&format!("{text}\n"))?;
        return print(&format!("Saved to: {}", path.display()));
    }
    print(&text)
}

fn summary_of_all(session: &TaskListFile, tasks: &[TaskFile]) -> String {
    let [resolved, in_progress, open, blocked, failed] = [
        TaskFileStatus::Resolved,
        TaskFileStatus::InProgress,
        TaskFileStatus::Open,
        TaskFileStatus::Blocked,
        TaskFileStatus::Failed,
    ]
    .map(|status| tasks.iter().filter(|task| task.status == status).count());
    let counts = format!(
        "- {} tasks: {resolved} resolved, {in_progress} in progress, {open} open, {blocked} blocked, {failed} failed",
        tasks.len()
    );
    let goal = sanitize(&session.goal, MAX_CHARS);
    let mut parts = vec![
        format!("# Tasks of session {}", session.session_id),
        format!(
            "- Goal: {goal}\n- Phase: {}\n{counts}",
            session.phase.word()
        ),
    ];
    for task in tasks {
        parts.push(format!(
            "## {} {}: {}",
            status_sign(task),
            task.id,
            sanitize(&task.subject, 200)
        ));
        parts.push(details(task));
    }
    parts.join("\n\n")
}

fn summary_of_task(task: &TaskFile) -> String {
    let mut parts = vec![
        format!(
            "# {} Task {}: {}",
            status_sign(task),
            task.id,
            sanitize(&task.subject, 200)
        ),
        details(task),
        format!(
            "## Description\n\n{}",
            sanitize(&task.description, MAX_CHARS)
        ),
    ];
    parts.extend(bullet_list(
        "Criteria",
        task.criteria.iter().map(String::as_str),
    ));
    parts.extend(bullet_list(
        "Evidence",
        task.evidence.iter().map(evidence_text),
    ));
    parts.join("\n\n")
}

fn details(task: &TaskFile) -> String {
    let complexity = format_value(&to_json(&task.complexity));
    let mut lines = vec![
        format!("- Status: {}", task.status.word()),
        format!("- Complexity: {complexity}"),
    ];
    let needs = task.dependencies();
    lines.extend((!needs.is_empty()).then(|| format!("- Waits for: {}", needs.join(", "))));
    lines.extend(
        task.approach
            .as_deref()
            .map(|approach| format!("- Approach: {}", sanitize(approach, 20))),
    );
    lines.extend(
        (task.retry_count > 0).then(|| format!("- Begun anew: {} times", task.retry_count)),
    );
    lines.push(format!(
        "- Criteria: {}, evidence: {}",
        task.criteria.len(),
        task.evidence.len()
    ));
    lines.join("\n")
}

/// Text of a piece of evidence, in either of its two JSON forms.
fn evidence_text(evidence: &Value) -> &str {
    ["description", "command"]
        .iter()
        .map(|name| evidence.get(name))
        .chain([Some(evidence)])
        .find_map(|text| text?.as_str())
        .unwrap_or("something without words")
}

fn status_sign(task: &TaskFile) -> char {
    match task.status {
        TaskFileStatus::Open => '○',
        TaskFileStatus::InProgress => '→',
        TaskFileStatus::Resolved => '✓',
        TaskFileStatus::Blocked => '⊘',
        TaskFileStatus::Failed => '✗',
    }
}

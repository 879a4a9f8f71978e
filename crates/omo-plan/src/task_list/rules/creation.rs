//! Starts and resumes sessions of a task list, and adds tasks to them.

use omo_core::timestamp::Timestamp;
use serde_json::Value;

use super::{NEW_TASK_LIST_HINT, next_task_id, require_open};
use crate::model::TaskComplexity;
use crate::refusal::{VerbRefusal, VerbRefusalKind};
use crate::task_list::{TaskFile, TaskListFile, TaskListPhase, TaskListSettings};

const TRIVIAL: [&str; 8] = [
    "fix typo",
    "fix spelling",
    "add log",
    "update comment",
    "rename variable",
    "format code",
    "delete unused",
    "remove comment",
];
const SWEEPING: [&str; 9] = [
    "refactor",
    "architecture",
    "system-wide",
    "redesign",
    "migrate",
    "rewrite",
    "scaffold",
    "multi-layer",
    "end-to-end",
];
const BRIEF_CHARS: usize = 30;
const ID_CHARS: usize = 8;

#[derive(Clone, Debug)]
pub struct NewTaskList {
    pub session: String,
    pub goal: String,
    pub working_dir: String,
    pub options: TaskListSettings,
}

/// Content of `session.json` for a new task list.
pub fn new_task_list(beginning: NewTaskList, now: Timestamp) -> TaskListFile {
    let NewTaskList {
        session,
        goal,
        working_dir,
        options,
    } = beginning;
    TaskListFile {
        goal_brief: brief_goal(&goal, &session),
        planning_tier: planning_tier(&goal).to_owned(),
        exploration_stage: super::EXPLORATION_STAGES
            .first()
            .copied()
            .unwrap_or_default()
            .to_owned(),
        options,
        ..TaskListFile::new(session, working_dir, goal, now.to_string())
    }
}

/// Resumed session; a cancelled one is reopened in a phase in which its tasks can be worked on.
///
/// # Errors
///
/// Session that is complete.
pub fn resume_task_list(
    session: &TaskListFile,
    has_tasks: bool,
    now: Timestamp,
) -> Result<TaskListFile, VerbRefusal> {
    if session.phase == TaskListPhase::Complete {
        return Err(VerbRefusal::precondition(
            format!(
                "session {} is COMPLETE: nothing of it is left to do",
                session.session_id
            ),
            NEW_TASK_LIST_HINT,
        ));
    }
    let mut after = session.clone();
    if session.phase == TaskListPhase::Cancelled {
        after.phase = if has_tasks {
            TaskListPhase::PlanningComplete
        } else {
            TaskListPhase::Planning
        };
    }
    after.cancelled_at = None;
    after.updated_at = now.to_string();
    Ok(after)
}

fn brief_goal(goal: &str, session: &str) -> String {
    let plain: String = goal
        .to_lowercase()
        .chars()
        .filter(|char| char.is_ascii_alphanumeric() || char.is_whitespace() || *char == '-')
        .collect();
    let words: Vec<&str> = plain
        .split(|char: char| char.is_whitespace() || char == '-')
        .filter(|word| !word.is_empty())
        .collect();
    let brief: String = words.join("-").chars().take(BRIEF_CHARS).collect();
    let brief = brief.trim_end_matches('-');
    if goal.is_ascii() && !brief.is_empty() {
        return brief.to_owned();
    }
    format!(
        "session-{}",
        session.chars().take(ID_CHARS).collect::<String>()
    )
}

fn planning_tier(goal: &str) -> &'static str {
    let words: Vec<String> = goal.split_whitespace().map(str::to_lowercase).collect();
    let goal = words.join(" ");
    if has_phrase(&goal, &TRIVIAL) {
        "NO_PLANNING"
    } else if has_phrase(&goal, &SWEEPING) {
        "HIERARCHICAL_PLANNING"
    } else {
        "PLANNING"
    }
}

fn has_phrase(goal: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        goal.match_indices(phrase).any(|(start, _)| {
            let before = goal
                .get(..start)
                .and_then(|before| before.chars().next_back());
            !before.is_some_and(|char| char.is_ascii_alphanumeric() || char == '_')
        })
    })
}

#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// Id; `None` for the next number.
    pub id: Option<String>,
    pub subject: String,
    pub description: Option<String>,
    pub complexity: TaskComplexity,
    pub criteria: Vec<String>,
    pub blocked_by: Vec<String>,
    /// `tdd` or `standard`.
    pub approach: String,
    pub test_file: Option<String>,
    /// Part of the tests to run.
    pub test_scope: Option<String>,
}

/// Content of a new task's file; `ids` are those of the session's tasks, unreadable ones included.
///
/// # Errors
///
/// Session that is over, id that is taken, or missing dependency.
pub fn new_task(
    new: NewTask,
    session: &TaskListFile,
    ids: &[String],
    now: Timestamp,
) -> Result<TaskFile, VerbRefusal> {
    require_open(session)?;
    let session_id = &session.session_id;
    let id = new
        .id
        .unwrap_or_else(|| next_task_id(ids.iter().map(String::as_str)));
    if ids.contains(&id) {
        let hint = "without `--id` it gets the next free number; `omo agent task update` changes one that is there";
        return Err(VerbRefusal::precondition(
            format!("session {session_id} has a task {id} already"),
            hint,
        ));
    }
    if let Some(unknown) = new.blocked_by.iter().find(|need| !ids.contains(need)) {
        let unknown_words = if *unknown == id {
            "itself"
        } else {
            "which is not there"
        };
        let message = format!(
            "task {id} of session {session_id} would wait for task {unknown}, {unknown_words}"
        );
        let hint = "create what it waits for first; `omo agent task list` names the tasks";
        return Err(VerbRefusal::new(VerbRefusalKind::NotFound, message, hint));
    }
    let mut task = TaskFile {
        id,
        description: new
            .description
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| new.subject.clone()),
        subject: new.subject,
        complexity: new.complexity,
        criteria: new.criteria,
        created_at: now.to_string(),
        updated_at: now.to_string(),
        approach: Some(new.approach),
        ..TaskFile::default()
    };
    task.set_dependencies(&new.blocked_by);
    for (name, value) in [("test_file", new.test_file), ("test_scope", new.test_scope)] {
        task.extra
            .extend(value.map(|value| (name.to_owned(), Value::from(value))));
    }
    Ok(task)
}

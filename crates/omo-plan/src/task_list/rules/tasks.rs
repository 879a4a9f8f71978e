//! Changes a task of a task list: allowed status transitions and their conditions.

use omo_core::timestamp::Timestamp;
use serde_json::Value;

use super::{require_open, unresolved_tasks};
use crate::model::TaskComplexity;
use crate::refusal::{VerbRefusal, VerbRefusalKind};
use crate::task_list::rules::doubtful_words;
use crate::task_list::validate::find_cycle;
use crate::task_list::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase, VERIFY_TASK_ID};

#[derive(Clone, Debug, Default)]
pub struct TaskChange {
    pub status: Option<TaskFileStatus>,
    pub evidence: Vec<String>,
    pub retry_count: Option<u32>,
    pub edit: TaskEdit,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskEdit {
    pub subject: Option<String>,
    pub description: Option<String>,
    pub complexity: Option<TaskComplexity>,
    pub criteria: Option<Vec<String>>,
    pub blocked_by: Option<Vec<String>>,
}

/// Status by its word, in old or new spelling.
pub fn parse_status(word: &str) -> Option<TaskFileStatus> {
    serde_json::from_value(Value::from(word)).ok()
}

/// Changed task, and doubtful words of its new evidence, or of all once resolved. `tasks` are all
/// tasks of the session.
///
/// # Errors
///
/// Session that is over, status that does not follow, or a resolved task without evidence or with open needs.
pub fn update_task(
    task: &TaskFile,
    change: &TaskChange,
    session: &TaskListFile,
    tasks: &[TaskFile],
    now: Timestamp,
) -> Result<(TaskFile, Vec<&'static str>), VerbRefusal> {
    require_open(session)?;
    let mut after = task.clone();
    if change.edit != TaskEdit::default() {
        require_planning(session, &format!("task {} is edited", task.id))?;
        edit_task(&mut after, &change.edit, session, tasks)?;
    }
    after.evidence.extend(
        change
            .evidence
            .iter()
            .map(|text| Value::from(text.as_str())),
    );
    if let Some(status) = change.status {
        check_transition(task, status, session)?;
        if status == TaskFileStatus::Resolved {
            require_resolvable(&after, session, tasks)?;
        }
        after.status = status;
    }
    after.retry_count = change.retry_count.unwrap_or(after.retry_count);
    after.updated_at = now.to_string();
    // Both names of dependencies hold all, even if another program wrote one.
    after.set_dependencies(&after.dependencies());
    let known = if change.status == Some(TaskFileStatus::Resolved) {
        0
    } else {
        task.evidence.len()
    };
    let texts = after.evidence.iter().skip(known).flat_map(evidence_texts);
    let mut words: Vec<&str> = texts.flat_map(doubtful_words::doubtful_words_in).collect();
    words.sort_unstable();
    words.dedup();
    Ok((after, words))
}

fn edit_task(
    task: &mut TaskFile,
    edit: &TaskEdit,
    session: &TaskListFile,
    tasks: &[TaskFile],
) -> Result<(), VerbRefusal> {
    task.subject = edit.subject.clone().unwrap_or_else(|| task.subject.clone());
    task.description = edit
        .description
        .clone()
        .unwrap_or_else(|| task.description.clone());
    task.complexity = edit.complexity.unwrap_or(task.complexity);
    task.criteria = edit
        .criteria
        .clone()
        .unwrap_or_else(|| task.criteria.clone());
    let Some(needs) = &edit.blocked_by else {
        return Ok(());
    };
    let (id, session_id) = (&task.id, &session.session_id);
    let unknown = needs
        .iter()
        .find(|need| *need == id || !tasks.iter().any(|task| task.id == **need));
    if let Some(unknown) = unknown {
        let unknown_words = if unknown == id {
            "itself"
        } else {
            "which is not there"
        };
        let message = format!(
            "task {id} of session {session_id} would wait for task {unknown}, {unknown_words}"
        );
        let hint = "`omo agent task list` names the tasks";
        return Err(VerbRefusal::new(VerbRefusalKind::NotFound, message, hint));
    }
    task.set_dependencies(needs);
    let others = tasks.iter().filter(|other| other.id != task.id);
    if let Some(cycle) = find_cycle(&others.chain([&*task]).collect::<Vec<_>>()) {
        return Err(VerbRefusal::precondition(
            cycle.text,
            "leave out one of them",
        ));
    }
    Ok(())
}

fn require_planning(session: &TaskListFile, action: &str) -> Result<(), VerbRefusal> {
    if matches!(
        session.phase,
        TaskListPhase::Planning | TaskListPhase::PlanningComplete
    ) {
        return Ok(());
    }
    let message = format!(
        "session {} is in {}, and {action} before it is executed",
        session.session_id,
        session.phase.word()
    );
    Err(VerbRefusal::precondition(
        message,
        "`omo agent task create` adds a task; a verdict FAIL has one done again",
    ))
}

/// Succeeds for a task that may be removed; `tasks` are all tasks of the session.
///
/// # Errors
///
/// Session that is executed or over, or a task that waits for this one.
pub fn require_removable(
    task: &TaskFile,
    session: &TaskListFile,
    tasks: &[TaskFile],
) -> Result<(), VerbRefusal> {
    require_open(session)?;
    require_planning(session, &format!("task {} is deleted", task.id))?;
    let waiting: Vec<&str> = tasks
        .iter()
        .filter(|other| other.id != task.id && other.dependencies().contains(&task.id))
        .map(|other| other.id.as_str())
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let message = format!("task {} is waited for by: {}", task.id, waiting.join(", "));
    Err(VerbRefusal::precondition(
        message,
        "give those `--blocked-by` without it first, or delete them",
    ))
}

fn next_statuses(from: TaskFileStatus) -> &'static [TaskFileStatus] {
    use TaskFileStatus::{Blocked, Failed, InProgress, Open, Resolved};
    match from {
        Open => &[InProgress, Blocked],
        InProgress => &[Resolved, Failed, Blocked, Open],
        Blocked | Failed => &[Open, InProgress],
        // The verifier may reopen or fail a task.
        Resolved => &[Open, Failed],
    }
}

fn check_transition(
    task: &TaskFile,
    status: TaskFileStatus,
    session: &TaskListFile,
) -> Result<(), VerbRefusal> {
    // A new round puts the verification back to its beginning.
    let is_reset = task.id == VERIFY_TASK_ID && status == TaskFileStatus::Open;
    if is_reset || next_statuses(task.status).contains(&status) {
        return Ok(());
    }
    let (id, session, from) = (&task.id, &session.session_id, task.status.word());
    let words: Vec<&str> = next_statuses(task.status)
        .iter()
        .map(|status| status.word())
        .collect();
    let message = format!(
        "task {id} of session {session} cannot go from {from} to {}",
        status.word()
    );
    Err(VerbRefusal::precondition(
        message,
        format!("from {from} it can go to {}", words.join(", ")),
    ))
}

fn require_resolvable(
    task: &TaskFile,
    session: &TaskListFile,
    tasks: &[TaskFile],
) -> Result<(), VerbRefusal> {
    let (id, session) = (&task.id, &session.session_id);
    if !task.evidence.iter().any(says_something) {
        let hint =
            format!("say what was run, with its result: `--add-evidence \"{EVIDENCE_EXAMPLE}\"`");
        return Err(VerbRefusal::precondition(
            format!("task {id} of session {session} has no evidence"),
            hint,
        ));
    }
    let needs = task.dependencies();
    let mut open: Vec<&str> = needs
        .iter()
        .filter(|id| {
            !tasks
                .iter()
                .any(|task| task.id == **id && task.status == TaskFileStatus::Resolved)
        })
        .map(String::as_str)
        .collect();
    if task.id == VERIFY_TASK_ID {
        open.extend(
            unresolved_tasks(tasks)
                .map(|task| task.id.as_str())
                .filter(|id| !needs.iter().any(|need| need == id)),
        );
    }
    if open.is_empty() {
        return Ok(());
    }
    let message = format!(
        "task {id} of session {session} waits for tasks that are not resolved: {}",
        open.join(", ")
    );
    Err(VerbRefusal::precondition(message, "resolve those first"))
}

fn evidence_texts(evidence: &Value) -> impl Iterator<Item = &str> {
    let members = ["command", "output", "description"]
        .into_iter()
        .filter_map(|name| evidence.get(name));
    members.chain([evidence]).filter_map(Value::as_str)
}

const EVIDENCE_EXAMPLE: &str = "cargo test: 12 passed, exit 0";

fn says_something(evidence: &Value) -> bool {
    match evidence {
        Value::String(text) => !text.trim().is_empty(),
        Value::Object(object) => !object.is_empty(),
        _ => false,
    }
}

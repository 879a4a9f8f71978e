//! Import of other programs' records of an executed plan, as events. A task done there is only
//! claimed, since omo has checked none.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::text::sanitize;
use omo_plan::model::Plan;
use omo_plan::task_list::{TaskFile, TaskFileStatus, VERIFY_TASK_ID};
use serde_json::{Map, Value};

use crate::event::{EventKind, ImportedStatus};

const MAX_NAMED_IDS: usize = 10;
const MAX_EVIDENCE: usize = 300;

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("is not a checkpoint: {0}")]
    Shape(&'static str),
    #[error("is of the plan `{}`, and not of `{}`", sanitize(.named, 200), sanitize(.plan, 200))]
    OtherPlan { named: String, plan: String },
    #[error("names what the plan does not have: {}", sanitize(&.0.join(", "), 300))]
    UnknownTasks(Vec<String>),
    #[error("says of {} what cannot be understood: its status is to be `done`, `failed` or `blocked`", sanitize(.0, 64))]
    Status(String),
}

struct Entry {
    status: ImportedStatus,
    evidence: String,
    files: Vec<String>,
}

/// Events for a checkpoint of `execute-plan`. Its `completed` may be a map of entries or of words, or a list of entries
/// or of ids: older runs left all of these. A blocked task is an event only where the plan does not say why.
pub fn checkpoint(plan: &Plan, text: &str) -> Result<Vec<EventKind>, ImportError> {
    let Value::Object(top) = serde_json::from_str(text)? else {
        return Err(ImportError::Shape("it is not an object"));
    };
    is_of_plan(plan, &top)?;
    let entries = completed(
        top.get("completed")
            .ok_or(ImportError::Shape("it has no `completed`"))?,
    )?;
    let unknown = entries.keys().filter(|id| plan.task(id).is_none());
    let unknown: Vec<String> = unknown.take(MAX_NAMED_IDS).cloned().collect();
    if !unknown.is_empty() {
        return Err(ImportError::UnknownTasks(unknown));
    }
    let events = plan.tasks.iter().filter_map(|task| {
        let entry = entries.get(&task.id)?;
        let follows = entry.status == ImportedStatus::Blocked
            && task.deps.iter().any(|id| {
                entries
                    .get(id)
                    .is_some_and(|blocker| blocker.status != ImportedStatus::Done)
            });
        (!follows).then(|| EventKind::TaskImported {
            task: task.id.clone(),
            status: entry.status,
            evidence: entry.evidence.clone(),
            files: entry.files.clone(),
        })
    });
    Ok(events.collect())
}

/// The plan is named as a path from wherever it was executed, or not at all: only the file names have to be the same.
fn is_of_plan(plan: &Plan, top: &Map<String, Value>) -> Result<(), ImportError> {
    let Some(named) = top.get("plan_file").and_then(Value::as_str) else {
        return Ok(());
    };
    if Path::new(named).file_name() == Path::new(&plan.source.path).file_name() {
        return Ok(());
    }
    Err(ImportError::OtherPlan {
        named: named.to_owned(),
        plan: plan.source.path.clone(),
    })
}

fn completed(value: &Value) -> Result<BTreeMap<String, Entry>, ImportError> {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(id, value)| Ok((id.clone(), entry(id, value)?)))
            .collect(),
        Value::Array(list) => list.iter().map(listed_entry).collect(),
        _ => Err(ImportError::Shape(
            "`completed` is neither a map nor a list",
        )),
    }
}

fn listed_entry(item: &Value) -> Result<(String, Entry), ImportError> {
    let id = item
        .get("task_id")
        .or_else(|| item.get("id"))
        .unwrap_or(item);
    let id = id_text(id).ok_or(ImportError::Shape("an entry of `completed` has no id"))?;
    // Ids in a list were done.
    let entry = if item.is_object() {
        entry(&id, item)?
    } else {
        entry(&id, &Value::from("done"))?
    };
    Ok((id, entry))
}

fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn entry(id: &str, value: &Value) -> Result<Entry, ImportError> {
    let status = match value.get("status").unwrap_or(value).as_str() {
        Some("done") => ImportedStatus::Done,
        Some("failed") => ImportedStatus::Failed,
        Some("blocked") => ImportedStatus::Blocked,
        _ => return Err(ImportError::Status(id.to_owned())),
    };
    let text = value
        .get("evidence")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let evidence = format!(
        "imported, not checked by omo: {}",
        sanitize(text, MAX_EVIDENCE)
    );
    let evidence = if text.trim().is_empty() {
        "imported, not checked by omo".to_owned()
    } else {
        evidence
    };
    let files = value.get("files_written").and_then(Value::as_array);
    let files = files
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    Ok(Entry {
        status,
        evidence,
        files,
    })
}

/// Tasks done before there was a run, as the files say: they are not done again, and nothing has proved them.
pub fn import_task_list(tasks: &[TaskFile]) -> Vec<EventKind> {
    let done = tasks
        .iter()
        .filter(|task| task.id != VERIFY_TASK_ID && task.status == TaskFileStatus::Resolved);
    done.map(|task| EventKind::TaskImported {
        task: task.id.clone(),
        status: ImportedStatus::Done,
        evidence: "resolved before the run, as its file says".to_owned(),
        files: Vec::new(),
    })
    .collect()
}

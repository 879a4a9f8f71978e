//! A task session as a plan: its tasks as units, what is wrong with them, and what had been done before.

use std::collections::BTreeMap;

use omo_core::task_check::TaskCheck;
use omo_core::text::sanitize;

use super::criterion::command;
use super::sound;
use crate::digest::sha256;
use crate::model::{
    Dialect, FileAction, FileUse, GroupIsolation, OnFailure, OnTaskFail, Parallelism, Plan, PlanSource, RunPolicy,
    SCHEMA, Task, TaskComplexity, TaskGroup, TaskKind,
};
use crate::run::event::{EventKind, ImportedStatus};
use crate::task_session::{TaskFile, TaskFileStatus, TaskListFile};

/// The task that verifies all others.
pub const VERIFY: &str = "verify";
/// What a task is judged by that says nothing about it.
const AS_DESCRIBED: &str = "what it says is done";
/// The same of the task that verifies all others.
const AS_A_WHOLE: &str = "the goal is reached, and what each task is judged by is so";
/// The longest title of a plan, in characters.
const MAX_TITLE: usize = 120;

/// The plan of a session: its tasks, and behind them the one that verifies them, unless that is skipped.
/// `folder` is the session's own, as it was given.
pub fn plan(session: &TaskListFile, tasks: &[TaskFile], folder: &str, skips_verification: bool) -> Plan {
    let mut sorted: Vec<&TaskFile> = tasks.iter().filter(|task| task.id != VERIFY).collect();
    sorted.sort_by_cached_key(|task| (number(&task.id), task.id.clone()));
    let mut diagnostics = sound::diagnostics(&sorted);
    let by_name: BTreeMap<&str, &str> = sorted.iter().map(|task| (sound::name(&task.id), task.id.as_str())).collect();
    let mut units: Vec<Task> = sorted.iter().map(|task| unit(task)).collect();
    for unit in &mut units {
        // `02` and `2` are one task: from here on it has one name.
        for id in &mut unit.deps {
            if let Some(known) = by_name.get(sound::name(id)) {
                (*known).clone_into(id);
            }
        }
    }
    diagnostics.extend(units.iter().flat_map(sound::files));
    let mut final_checks = each_once(units.iter().flat_map(|unit| unit.checks.iter().cloned()));
    if !skips_verification {
        let own = tasks.iter().find(|task| task.id == VERIFY);
        final_checks = each_once(final_checks.into_iter().chain(own.into_iter().flat_map(checks)));
        units.push(verification(own, &units));
    }
    let count = u32::try_from(units.len()).unwrap_or(u32::MAX);
    Plan {
        schema: SCHEMA,
        dialect: Dialect::TasksJson,
        source: PlanSource {
            path: folder.to_owned(),
            sha256: digest(&units),
            bytes: units.iter().map(|unit| unit.body.len() as u64).sum(),
        },
        title: sanitize(session.goal.lines().next().unwrap_or_default(), MAX_TITLE),
        goal: session.goal.clone(),
        preconditions: Vec::new(),
        groups: vec![all_of(&units)],
        final_checks,
        policy: RunPolicy {
            on_unit_fail: OnTaskFail::Iterate,
            parallel: Parallelism::Units,
            max_workers: session.options.max_workers,
            max_iterations: session.options.max_iterations.max(1),
            batch_size: count,
            wants_contracts: false,
            hub_k: count,
            skips_verification,
        },
        units,
        diagnostics,
    }
}

/// A task as a unit: its criteria that are commands are its checks, the verifier judges the others.
pub fn unit(task: &TaskFile) -> Task {
    let is_verification = task.id == VERIFY;
    let body = body(task);
    let checks = if is_verification { Vec::new() } else { each_once(checks(task).into_iter()) };
    let mut criteria: Vec<String> = task.criteria.iter().filter(|text| command(text).is_none()).cloned().collect();
    criteria.retain(|text| !text.trim().is_empty());
    if criteria.is_empty() && checks.is_empty() {
        criteria.push(if is_verification { AS_A_WHOLE } else { AS_DESCRIBED }.to_owned());
    }
    Task {
        id: task.id.clone(),
        title: if task.subject.is_empty() { task.id.clone() } else { task.subject.clone() },
        lines: [1, body.lines().count().max(1)],
        body_sha256: defined_by(task),
        body,
        kind: if is_verification { TaskKind::Verify } else { TaskKind::Impl },
        pair: None,
        deps: task.needs(),
        files: named_files(task),
        never: Vec::new(),
        checks,
        red_check: None,
        on_failure: OnFailure::Hold,
        alternative: None,
        attempts_max: 1,
        commit: None,
        stop_after: false,
        criteria,
        complexity: if is_verification { TaskComplexity::Complex } else { task.complexity },
        model: is_verification.then(|| "opus".to_owned()),
        contract: None,
        extra: BTreeMap::new(),
    }
}

/// What was done before there was a run, as the files say: it is not done again, and nothing has proved it.
pub fn imported(tasks: &[TaskFile]) -> Vec<EventKind> {
    let done = tasks.iter().filter(|task| task.id != VERIFY && task.status == TaskFileStatus::Resolved);
    done.map(|task| EventKind::UnitImported {
        unit: task.id.clone(),
        status: ImportedStatus::Done,
        evidence: "resolved before the run, as its file says".to_owned(),
        files: Vec::new(),
    })
    .collect()
}

/// The SHA-256 over what defines all tasks of a plan.
pub(crate) fn digest(units: &[Task]) -> String {
    let lines: Vec<String> = units.iter().map(|unit| format!("{} {}\n", unit.id, unit.body_sha256)).collect();
    sha256(lines.concat().as_bytes())
}

/// The verification of a session, which comes after all else: as its own file words it, where there is one.
fn verification(own: Option<&TaskFile>, units: &[Task]) -> Task {
    let mut verification = own.map_or_else(
        || Task {
            title: "Verification".to_owned(),
            body: "# Verification\n\nEvery task is done as its criteria say, and shown to be.\n".to_owned(),
            ..unit(&nothing_said())
        },
        unit,
    );
    verification.deps = units.iter().map(|unit| unit.id.clone()).collect();
    verification
}

/// A verification of which no file says anything.
fn nothing_said() -> TaskFile {
    TaskFile {
        id: VERIFY.to_owned(),
        subject: String::new(),
        description: String::new(),
        complexity: TaskComplexity::Complex,
        status: TaskFileStatus::Open,
        blocked_by: Vec::new(),
        blocked_by_too: Vec::new(),
        criteria: Vec::new(),
        evidence: Vec::new(),
        created_at: String::new(),
        updated_at: String::new(),
        approach: None,
        retry_count: 0,
        extra: serde_json::Map::new(),
    }
}

/// All of them in one batch: a session knows waves and no stops.
fn all_of(units: &[Task]) -> TaskGroup {
    TaskGroup {
        id: "tasks".to_owned(),
        title: "Tasks".to_owned(),
        units: units.iter().map(|unit| unit.id.clone()).collect(),
        stage: 0,
        deps: Vec::new(),
        touch: Vec::new(),
        never: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

/// What the tasks are sorted by: those with a number first.
fn number(id: &str) -> (bool, u64) {
    id.parse().map_or((true, 0), |number| (false, number))
}

fn checks(task: &TaskFile) -> Vec<TaskCheck> {
    task.criteria.iter().filter_map(|text| command(text)).collect()
}

fn each_once(checks: impl Iterator<Item = TaskCheck>) -> Vec<TaskCheck> {
    let mut all: Vec<TaskCheck> = Vec::new();
    for check in checks {
        if !all.contains(&check) {
            all.push(check);
        }
    }
    all
}

/// The files that a task names, where it does.
fn named_files(task: &TaskFile) -> Vec<FileUse> {
    let named = task.extra.get("files").and_then(serde_json::Value::as_array);
    let paths = named.into_iter().flatten().filter_map(serde_json::Value::as_str);
    paths.map(|path| FileUse { path: path.to_owned(), action: FileAction::Modify, lines: None }).collect()
}

/// The test that a task should begin with, where it names one.
fn test_file(task: &TaskFile) -> Option<&str> {
    task.extra.get("test_file").and_then(serde_json::Value::as_str)
}

/// A task as its worker reads it, but for its criteria: those are shown apart from it, by who decides them.
fn body(task: &TaskFile) -> String {
    let mut parts = vec![format!("# {}: {}", task.id, task.subject)];
    if !task.description.is_empty() && task.description != task.subject {
        parts.push(task.description.trim_end().to_owned());
    }
    parts.extend(task.approach.iter().map(|approach| format!("Approach: {approach}")));
    parts.extend(test_file(task).map(|file| format!("Test file: {file}")));
    format!("{}\n", parts.join("\n\n"))
}

/// The SHA-256 over what defines a task: where it stands and what was put forward for it does not.
fn defined_by(task: &TaskFile) -> String {
    let said = serde_json::json!([
        task.id,
        task.subject,
        task.description,
        task.complexity,
        task.needs(),
        task.criteria,
        task.approach,
        test_file(task),
        named_files(task),
    ]);
    sha256(said.to_string().as_bytes())
}

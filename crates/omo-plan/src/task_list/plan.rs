//! Conversion of a task list into a `Plan`.

use std::collections::BTreeMap;

use omo_core::check::task_check::TaskCheck;
use omo_core::text::sanitize;

use super::criterion::parse_criterion_command;
use crate::digest::sha256_hex;
use crate::model::{
    Dialect, FileAction, FileUse, GroupIsolation, OnTaskFail, Parallelism, Plan, PlanSource,
    RunPolicy, Task, TaskComplexity, TaskGroup, TaskKind,
};
use crate::task_list::validate;
use crate::task_list::{TaskFile, TaskListFile, VERIFY_TASK_ID};

const AS_DESCRIBED: &str = "what it says is done";
const AS_A_WHOLE: &str = "the goal is reached, and what each task is judged by is so";
const MAX_TITLE: usize = 120;

/// Plan of the tasks in order of their ids, with the verification last unless it is skipped; `folder` is its source.
pub fn task_list_plan(
    session: &TaskListFile,
    tasks: &[TaskFile],
    folder: &str,
    skips_verification: bool,
) -> Plan {
    let mut sorted: Vec<&TaskFile> = tasks
        .iter()
        .filter(|task| task.id != VERIFY_TASK_ID)
        .collect();
    sorted.sort_by_cached_key(|task| (sort_number(&task.id), task.id.clone()));
    let mut diagnostics = validate::validate_tasks(&sorted);
    let by_name: BTreeMap<&str, &str> = sorted
        .iter()
        .map(|task| (validate::canonical_id(&task.id), task.id.as_str()))
        .collect();
    let mut units: Vec<Task> = sorted.iter().map(|task| task_from_file(task)).collect();
    for unit in &mut units {
        // `02` and `2` are one task, with one name from here on.
        for id in &mut unit.deps {
            if let Some(name) = by_name.get(validate::canonical_id(id)) {
                (*name).clone_into(id);
            }
        }
    }
    diagnostics.extend(units.iter().flat_map(validate::validate_files));
    let mut final_checks =
        without_duplicates(units.iter().flat_map(|unit| unit.checks.iter().cloned()));
    if !skips_verification {
        let verification = tasks.iter().find(|task| task.id == VERIFY_TASK_ID);
        final_checks = without_duplicates(
            final_checks
                .into_iter()
                .chain(verification.into_iter().flat_map(criterion_checks)),
        );
        units.push(verification_task(verification, &units));
    }
    let count = u32::try_from(units.len()).unwrap_or(u32::MAX);
    let bytes = units.iter().map(|unit| unit.body.len() as u64).sum();
    let source = PlanSource::new(folder, tasks_digest(&units), bytes);
    Plan {
        title: sanitize(session.goal.lines().next().unwrap_or_default(), MAX_TITLE),
        goal: session.goal.clone(),
        groups: vec![group_of_all(&units)],
        final_checks,
        policy: RunPolicy {
            on_task_fail: OnTaskFail::NextRound,
            parallel: Parallelism::Tasks,
            max_workers: session.options.max_workers,
            max_rounds: session.options.max_iterations.max(1),
            batch_size: count,
            hub_dependents: count,
            skips_verification,
            ..RunPolicy::default()
        },
        tasks: units,
        diagnostics,
        ..Plan::new(Dialect::TasksJson, source)
    }
}

/// Task whose checks are the commands among the criteria; the verifier judges the other criteria.
pub fn task_from_file(task: &TaskFile) -> Task {
    let is_verification = task.id == VERIFY_TASK_ID;
    let body = task_body(task);
    let checks = if is_verification {
        Vec::new()
    } else {
        without_duplicates(criterion_checks(task).into_iter())
    };
    let mut criteria: Vec<String> = task
        .criteria
        .iter()
        .filter(|text| parse_criterion_command(text).is_none())
        .cloned()
        .collect();
    criteria.retain(|text| !text.trim().is_empty());
    if criteria.is_empty() && checks.is_empty() {
        criteria.push(
            if is_verification {
                AS_A_WHOLE
            } else {
                AS_DESCRIBED
            }
            .to_owned(),
        );
    }
    let title = if task.subject.is_empty() {
        task.id.clone()
    } else {
        task.subject.clone()
    };
    let lines = [1, body.lines().count().max(1)];
    Task {
        kind: if is_verification {
            TaskKind::Verify
        } else {
            TaskKind::Impl
        },
        deps: task.dependencies(),
        stated_deps: Some(task.dependencies()),
        files: named_files(task),
        checks,
        criteria,
        complexity: if is_verification {
            TaskComplexity::Complex
        } else {
            task.complexity
        },
        model: is_verification.then(|| "opus".to_owned()),
        // Digest of the definition, not of the wording of the body.
        body_sha256: definition_digest(task),
        ..Task::new(task.id.clone(), title).with_body(body, lines)
    }
}

pub fn tasks_digest(tasks: &[Task]) -> String {
    let lines: Vec<String> = tasks
        .iter()
        .map(|task| format!("{} {}\n", task.id, task.body_sha256))
        .collect();
    sha256_hex(lines.concat().as_bytes())
}

/// The last task, which depends on all others; `verification_file` is its file, if there is one.
fn verification_task(verification_file: Option<&TaskFile>, tasks: &[Task]) -> Task {
    let mut verification = verification_file.map_or_else(
        || Task {
            title: "Verification".to_owned(),
            body: "# Verification\n\nEvery task is done as its criteria say, and shown to be.\n"
                .to_owned(),
            ..task_from_file(&TaskFile {
                id: VERIFY_TASK_ID.to_owned(),
                complexity: TaskComplexity::Complex,
                ..TaskFile::default()
            })
        },
        task_from_file,
    );
    verification.deps = tasks.iter().map(|task| task.id.clone()).collect();
    verification
}

fn group_of_all(tasks: &[Task]) -> TaskGroup {
    TaskGroup {
        id: "tasks".to_owned(),
        title: "Tasks".to_owned(),
        tasks: tasks.iter().map(|task| task.id.clone()).collect(),
        wave: 0,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: Vec::new(),
        never_touch: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

fn sort_number(id: &str) -> (bool, u64) {
    id.parse().map_or((true, 0), |number| (false, number))
}

fn criterion_checks(task: &TaskFile) -> Vec<TaskCheck> {
    task.criteria
        .iter()
        .filter_map(|text| parse_criterion_command(text))
        .collect()
}

fn without_duplicates(checks: impl Iterator<Item = TaskCheck>) -> Vec<TaskCheck> {
    let mut all: Vec<TaskCheck> = Vec::new();
    for check in checks {
        if !all.contains(&check) {
            all.push(check);
        }
    }
    all
}

fn named_files(task: &TaskFile) -> Vec<FileUse> {
    let named = task
        .extra
        .get("files")
        .and_then(serde_json::Value::as_array);
    let paths = named
        .into_iter()
        .flatten()
        .filter_map(serde_json::Value::as_str);
    paths
        .map(|path| FileUse::new(path, FileAction::Modify))
        .collect()
}

fn test_file(task: &TaskFile) -> Option<&str> {
    task.extra
        .get("test_file")
        .and_then(serde_json::Value::as_str)
}

/// Text for the worker, without criteria, which are shown apart.
fn task_body(task: &TaskFile) -> String {
    let mut parts = vec![format!("# {}: {}", task.id, task.subject)];
    if !task.description.is_empty() && task.description != task.subject {
        parts.push(task.description.trim_end().to_owned());
    }
    parts.extend(
        task.approach
            .iter()
            .map(|approach| format!("Approach: {approach}")),
    );
    parts.extend(test_file(task).map(|file| format!("Test file: {file}")));
    format!("{}\n", parts.join("\n\n"))
}

fn definition_digest(task: &TaskFile) -> String {
    let definition = serde_json::json!([
        task.id,
        task.subject,
        task.description,
        task.complexity,
        task.dependencies(),
        task.criteria,
        task.approach,
        test_file(task),
        named_files(task),
    ]);
    sha256_hex(definition.to_string().as_bytes())
}

//! Plans with their expected readings and problems.

use std::path::PathBuf;

use omo_plan::diagnostic::{Code, Diagnostic};
use omo_plan::dialects::ultraplan::{commit_checkpoint, on_failure};
use omo_plan::document::MarkdownDocument;
use omo_plan::labels::read_labels;
use omo_plan::model::{FileAction, OnFailure, Plan, Task};
use omo_plan::plan_summary;
use omo_plan::strategy::RunStrategy;
use serde_json::{Value, json};

use crate::ultraplan::read;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/ultraplan")
}

fn vectors() -> Vec<(String, String, Value)> {
    let all: Value =
        serde_json::from_str(&std::fs::read_to_string(folder().join("parse.json")).unwrap())
            .unwrap();
    let plans = all["plans"].as_array().unwrap().iter();
    plans
        .map(|plan| {
            let file = plan["file"].as_str().unwrap();
            (
                file.to_owned(),
                std::fs::read_to_string(folder().join(file)).unwrap(),
                plan.clone(),
            )
        })
        .collect()
}

/// Value of a label in a task's text.
fn said(task: &Task, key: &str) -> String {
    let document = MarkdownDocument::read(&task.body);
    let found = read_labels(&document, 0..task.body.len(), &[key]);
    found
        .iter()
        .find(|label| label.key == key)
        .map_or_else(String::new, |label| {
            document.slice(label.value.clone()).to_owned()
        })
}

fn step(plan: &Plan, task: &Task) -> Value {
    let is = |code: Code| {
        plan.diagnostics
            .iter()
            .any(|found| found.code == code && found.task.as_ref() == Some(&task.id))
    };
    let files: Vec<Value> = task
        .files
        .iter()
        .map(|file| {
            let mut shown = json!({ "path": file.path, "new": file.action == FileAction::Create });
            if let Some(lines) = &file.lines {
                shown["lines"] = json!(lines);
            }
            shown
        })
        .collect();
    let word = match task.on_failure {
        OnFailure::Revert => "revert",
        OnFailure::Retry => "retry",
        OnFailure::Skip => "skip",
        OnFailure::Escalate => "escalate",
        OnFailure::Hold => "hold",
    };
    let clause = said(task, "on failure");
    let detail = on_failure::parse_on_failure(&clause)
        .filter(|_| !is(Code::UnknownOnFailure))
        .and_then(|clause| clause.detail.map(str::to_owned));
    if task.on_failure == OnFailure::Retry {
        assert_eq!(task.alternative, detail);
    }
    let verify = task
        .checks
        .first()
        .map(|check| json!({ "command": check.command, "expected": check.expect.stdout_has }));
    json!({
        "n": task.id.parse::<u64>().unwrap(),
        "title": task.title,
        "files": files,
        "reuses": task.extra.get("Reuses"),
        "test_first": task.extra.get("Test first"),
        "verify": verify,
        "on_failure": if is(Code::UnknownOnFailure) { None } else { Some(word) },
        "on_failure_detail": detail,
        "checkpoint": commit_checkpoint::parse_checkpoint(&said(task, "checkpoint")).map(|checkpoint| checkpoint.command),
    })
}

fn session_numbers(ids: &[String]) -> Vec<u64> {
    ids.iter()
        .map(|id| {
            id.trim_start_matches(plan_summary::SESSION_PREFIX)
                .parse()
                .unwrap()
        })
        .collect()
}

/// The expectation of the vectors, from the model alone.
fn spec(plan: &Plan) -> Value {
    if plan
        .diagnostics
        .iter()
        .any(|found| found.code == Code::UnrecognizedFormat)
    {
        return json!({ "error": format!("Error: {}", plan.diagnostics[0].text) });
    }
    let mut tasks: Vec<&Task> = plan.tasks.iter().collect();
    tasks.sort_by_key(|task| task.lines);
    let steps: Vec<Value> = tasks.iter().map(|task| step(plan, task)).collect();
    let sessions: Vec<Value> = plan_summary::session_groups(plan)
        .map(|group| {
            json!({
                "n": session_numbers(std::slice::from_ref(&group.id))[0],
                "title": group.title,
                "steps": session_numbers(&group.tasks),
                "wave": group.wave + 1,
                "depends_on": session_numbers(&group.deps),
                "touch": group.may_touch,
                "never_touch": group.never_touch,
            })
        })
        .collect();
    let mut waves: Vec<Vec<u64>> = Vec::new();
    for group in plan_summary::session_groups(plan) {
        waves.resize(waves.len().max(group.wave + 1), Vec::new());
        waves[group.wave].extend(session_numbers(std::slice::from_ref(&group.id)));
    }
    let has_sessions = !sessions.is_empty();
    let mut found = json!({
        "type": "plan",
        "steps_total": plan.tasks.len(),
        "steps": steps,
        "warnings": plan_summary::warning_lines(plan),
        "has_execution_strategy": has_sessions,
        "sessions": has_sessions.then_some(sessions),
        "waves": has_sessions.then_some(&waves),
        "session_spec": null,
        "strategy": RunStrategy::for_plan(plan).summary_line(),
        "master_verification": plan.final_checks.iter()
            .map(|check| json!({ "command": check.command, "expected": check.expect.stdout_has }))
            .collect::<Vec<_>>(),
        "phase2_report": plan_summary::summary_lines(plan).join("\n"),
    });
    if has_sessions {
        let order = waves
            .iter()
            .enumerate()
            .map(|(place, wave)| ((place + 1).to_string(), json!(wave)));
        found["execution_order"] = Value::Object(order.collect());
        found["overlap_errors"] = json!([]);
    }
    found
}

#[test]
fn a_plan_is_what_its_own_system_takes_it_for() {
    for (file, text, vector) in vectors() {
        let mut expected = vector["spec"].clone();
        let steps = expected
            .get_mut("steps")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten();
        for file in steps.flat_map(|step| step["files"].as_array_mut().unwrap()) {
            // Beside `new`, where a list has words of its own.
            file.as_object_mut().unwrap().remove("action");
        }
        assert_eq!(spec(&read(&text)), expected, "{file}");
    }
}

/// The code of the vectors, as omo calls it.
fn code(word: &str) -> Code {
    let word = if word == "scope_overlap_not_by_equal_text" {
        "scope_overlap"
    } else {
        word
    };
    *Code::ALL
        .iter()
        .find(|code| code.word() == word)
        .unwrap_or_else(|| panic!("{word} is no code"))
}

/// `true` for a finding that names an argument of the vectors: a task, a line, or words.
fn names(found: &Diagnostic, argument: &str) -> bool {
    let words = argument
        .split([' ', ',', '[', ']'])
        .filter(|word| !word.is_empty());
    let said: Vec<&str> = found.text.split([' ', ',', ':', '`']).collect();
    let mut words = words;
    words.all(|word| {
        found.task.as_deref() == Some(word)
            || found.line.to_string() == word
            || said.contains(&word)
    })
}

#[test]
fn what_is_wrong_is_reported_where_it_stands_and_nothing_else() {
    for (file, text, vector) in vectors() {
        let plan = read(&text);
        let mut codes = Vec::new();
        for strict in vector["strict"].as_array().unwrap() {
            let strict = strict.as_str().unwrap();
            let (word, argument) = strict.split_once(':').unwrap_or((strict, ""));
            codes.push(code(word));
            let found = plan.diagnostics.iter().find(|found| {
                found.code == code(word)
                    && argument.split(':').all(|argument| names(found, argument))
            });
            let found = found
                .unwrap_or_else(|| panic!("{file}: {strict} is not in {:#?}", plan.diagnostics));
            let place = &text[found.span.clone()];
            assert_eq!(
                text[..found.span.start].matches('\n').count() + 1,
                found.line,
                "{strict}"
            );
            if let Some(task) = found.task.as_deref().and_then(|id| plan.task(id)) {
                let is_of_its_session = matches!(found.code, Code::StepInSeveralSessions);
                let is_inside = task.lines[0] <= found.line && found.line <= task.lines[1];
                assert!(
                    is_inside || is_of_its_session,
                    "{strict}: line {}",
                    found.line
                );
            }
            if let Some(path) = argument
                .rsplit([':', '~', ' '])
                .next()
                .filter(|last| last.contains(['/', '.']))
            {
                assert!(place.contains(path.trim()), "{strict}: {place}");
            }
        }
        let is_new = |found: &&Diagnostic| {
            !codes.contains(&found.code)
                && !matches!(
                    found.code,
                    Code::MissingOnFailure | Code::UnrecognizedFormat
                )
        };
        assert_eq!(plan.diagnostics.iter().find(is_new), None, "{file}");
    }
}

//! A task list as a plan: its tasks, and what is wrong with them.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use omo_plan::model::{Dialect, OnTaskFail, Parallelism, Plan, TaskComplexity, TaskKind};
use omo_plan::task_list::{self, TaskFile, TaskListFile, VERIFY_TASK_ID};
use proptest::prelude::*;
use serde_json::{Value, json};

fn session(options: &Value) -> TaskListFile {
    let goal = "Add a login\nwith all that belongs to it";
    let file =
        json!({"session_id": "s", "phase": "PLANNING_COMPLETE", "goal": goal, "options": options});
    serde_json::from_value(file).unwrap()
}

fn tasks(all: &[Value]) -> Vec<TaskFile> {
    all.iter()
        .map(|task| serde_json::from_value(task.clone()).unwrap())
        .collect()
}

fn task(id: &str, needs: &[&str]) -> Value {
    json!({"id": id, "subject": format!("Task {id}"), "blocked_by": needs, "criteria": [format!("`prove {id}`")]})
}

fn plan(all: &[Value]) -> Plan {
    task_list::task_list_plan(&session(&json!({})), &tasks(all), "folder", false)
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.tasks.iter().map(|task| task.id.as_str()).collect()
}

#[test]
fn a_session_is_a_plan_of_its_tasks_by_number_and_of_a_verification_behind_them() {
    let all = [task("10", &["2"]), task("2", &["1"]), task("1", &[])];
    let options = json!({"max_workers": "2", "max_iterations": "7"});
    let plan = task_list::task_list_plan(&session(&options), &tasks(&all), "the/folder", false);
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::TasksJson, true),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(ids(&plan), ["1", "2", "10", VERIFY_TASK_ID]);
    assert_eq!(plan.groups.len(), 1);
    assert_eq!(
        (plan.groups[0].tasks.len(), plan.groups[0].hard_stop),
        (4, false)
    );
    assert_eq!(
        (plan.title.as_str(), plan.source.path.as_str()),
        ("Add a login", "the/folder")
    );
    let policy = &plan.policy;
    assert_eq!(
        (policy.on_task_fail, policy.parallel),
        (OnTaskFail::NextRound, Parallelism::Tasks)
    );
    assert_eq!(
        (
            policy.max_workers,
            policy.max_rounds,
            policy.skips_verification
        ),
        (2, 7, false)
    );
    let verification = plan.verification_task().unwrap();
    assert_eq!(
        (verification.id.as_str(), verification.deps.join(" ")),
        (VERIFY_TASK_ID, "1 2 10".to_owned())
    );
    assert_eq!(
        (verification.kind, verification.model.as_deref()),
        (TaskKind::Verify, Some("opus"))
    );
    let commands: Vec<&str> = plan
        .final_checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    assert_eq!(commands, ["prove 1", "prove 2", "prove 10"]);
    let without = task_list::task_list_plan(&session(&options), &tasks(&all), "the/folder", true);
    assert_eq!(
        (ids(&without), without.policy.skips_verification),
        (vec!["1", "2", "10"], true)
    );
    assert!(without.verification_task().is_none());
}

#[test]
fn a_session_is_gone_over_once_at_least() {
    let plan = task_list::task_list_plan(
        &session(&json!({"max_iterations": 0})),
        &tasks(&[task("1", &[])]),
        "f",
        false,
    );
    assert_eq!(plan.policy.max_rounds, 1);
}

#[test]
fn a_task_is_proved_by_its_commands_and_reviewed_by_the_rest() {
    let all = [json!({
        "id": "1", "subject": "Login", "description": "A form.\nAnd a route.", "complexity": "complex",
        "criteria": ["`cargo test`", "looks good", "Run: make lint", "`cargo test`", "  "],
        "approach": "tdd", "test_file": "tests/login.rs", "files": ["src/login.rs"],
    })];
    let plan = plan(&all);
    let task = &plan.tasks[0];
    let commands: Vec<&str> = task
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    assert_eq!(
        (commands, task.criteria.as_slice()),
        (
            vec!["cargo test", "make lint"],
            ["looks good".to_owned()].as_slice()
        )
    );
    assert_eq!(
        (
            task.complexity,
            task.max_attempts,
            task.files[0].path.as_str()
        ),
        (TaskComplexity::Complex, 1, "src/login.rs")
    );
    assert_eq!(
        task.body,
        "# 1: Login\n\nA form.\nAnd a route.\n\nApproach: tdd\n\nTest file: tests/login.rs\n"
    );
    // A task without criteria is judged, too.
    let plan = self::plan(&[json!({"id": "1", "subject": "Login"})]);
    assert_eq!(plan.tasks[0].criteria, ["what it says is done"]);
    assert_eq!(
        (plan.can_run(), plan.diagnostics[0].code.word()),
        (true, "missing_verify")
    );
}

#[test]
fn a_task_is_known_by_what_defines_it_and_not_by_where_it_stands() {
    let base = task("1", &[]);
    let of = |task: &Value| {
        let plan = plan(std::slice::from_ref(task));
        (plan.tasks[0].body_sha256.clone(), plan.source.sha256)
    };
    let with = |field: &str, value: Value| {
        let mut task = base.clone();
        task[field] = value;
        task
    };
    for same in [
        with("status", json!("resolved")),
        with("evidence", json!(["e"])),
        with("retry_count", json!(3)),
        with("updated_at", json!("now")),
        with("blockedBy", json!("")),
    ] {
        assert_eq!(of(&same), of(&base), "{same}");
    }
    for other in [
        with("subject", json!("Other")),
        with("description", json!("Other")),
        with("complexity", json!("simple")),
        with("criteria", json!(["`other`"])),
        with("approach", json!("tdd")),
        with("test_file", json!("t")),
        with("files", json!(["a"])),
    ] {
        assert_ne!(of(&other).0, of(&base).0, "{other}");
        assert_ne!(of(&other).1, of(&base).1, "{other}");
    }
}

#[test]
fn a_verification_of_its_own_words_is_asked_for_in_them() {
    let own = json!({"id": "verify", "subject": "Look at all", "criteria": ["`make all`", "no page is slow"], "blocked_by": ["9"]});
    let plan = plan(&[task("1", &[]), own]);
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    let verification = plan.verification_task().unwrap();
    assert_eq!(
        (verification.title.as_str(), verification.deps.join(" ")),
        ("Look at all", "1".to_owned())
    );
    assert_eq!(
        (verification.checks.len(), verification.criteria.join("; ")),
        (0, "no page is slow".to_owned())
    );
    let commands: Vec<&str> = plan
        .final_checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    assert_eq!(
        commands,
        ["prove 1", "make all"],
        "its commands are run when it is done"
    );
}

#[test]
fn what_is_wrong_with_a_session_is_said() {
    let bad_file = json!({"id": "1", "criteria": ["c"], "files": ["../out"]});
    let piped = json!({"id": "1", "criteria": ["`a | b`"]});
    let table: Vec<(Vec<Value>, &str, bool, &str)> = vec![
        (vec![], "no_units", false, "the session has no task"),
        (
            vec![json!({"id": "verify"})],
            "no_units",
            false,
            "the session has no task",
        ),
        (
            vec![task("1", &["9"])],
            "unknown_dependency",
            false,
            "task 1 waits for task 9, which is not there",
        ),
        (
            vec![task("1", &["1"])],
            "self_dependency",
            false,
            "task 1 depends on itself",
        ),
        (
            vec![task("1", &["01"])],
            "self_dependency",
            false,
            "task 1 depends on itself",
        ),
        (
            vec![task("1", &["verify"])],
            "cycle",
            false,
            "task 1 waits for the verification, which comes after all tasks",
        ),
        (
            vec![
                task("1", &["2"]),
                task("2", &["3"]),
                task("3", &["2"]),
                task("4", &["1"]),
            ],
            "cycle",
            false,
            "tasks wait for each other in a circle: 2 → 3 → 2",
        ),
        (
            vec![task("7", &[]), task("007", &[])],
            "duplicate_id",
            false,
            "there are two tasks 7",
        ),
        (
            vec![task("1", &[]), task("1", &[])],
            "duplicate_id",
            false,
            "there are two tasks 1",
        ),
        (
            vec![task("../1", &[])],
            "invalid_id",
            false,
            "`../1` is not an id: a task is called by its number",
        ),
        (
            vec![bad_file],
            "path_outside_repository",
            false,
            "`../out` leads out of the repository",
        ),
        (
            vec![piped],
            "pipe_in_verify",
            true,
            "`a | b` has a pipe: without pipefail only what follows it counts",
        ),
    ];
    for (all, code, is_sound, text) in table {
        let plan = plan(&all);
        let found: Vec<(&str, &str)> = plan
            .diagnostics
            .iter()
            .map(|found| (found.code.word(), found.text.as_str()))
            .collect();
        assert_eq!((found, plan.can_run()), (vec![(code, text)], is_sound));
    }
    let many: Vec<Value> = (0..=omo_plan::model::MAX_PLAN_TASKS)
        .map(|number| task(&number.to_string(), &[]))
        .collect();
    assert_eq!(
        plan(&many).diagnostics[0].text,
        "the session has 10001 tasks, and a run at most 10000"
    );
}

#[test]
fn both_names_of_what_a_task_waits_for_are_read_and_numbers_are_one_however_they_are_written() {
    let all = [
        task("1", &[]),
        task("02", &["001"]),
        json!({"id": "3", "blockedBy": "2, 1", "criteria": ["`c`"]}),
    ];
    let plan = plan(&all);
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    assert_eq!(ids(&plan), ["1", "02", "3", VERIFY_TASK_ID]);
    assert_eq!(
        (plan.tasks[1].deps.join(" "), plan.tasks[2].deps.join(" ")),
        ("1".to_owned(), "02 1".to_owned())
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any files make a plan; a sound one waits for nothing missing, nor in a circle.
    #[test]
    fn a_sound_session_can_be_done(
        edges in prop::collection::vec((0..8_usize, "[0-9]{1,2}|verify|x|\\PC{0,3}"), 0..10),
        names in prop::collection::vec("[0-9]{1,2}|verify|\\PC{0,4}", 0..8),
        criteria in prop::collection::vec("\\PC{0,8}|`[a-z ]{1,5}`|[Rr]un: ?`?[a-z]{0,3}`?", 0..4),
    ) {
        let mut all: Vec<Value> =
            names.iter().map(|id| json!({"id": id, "criteria": criteria, "blocked_by": []})).collect();
        for (place, need) in &edges {
            if let Some(needs) = all.get_mut(*place).and_then(|task| task["blocked_by"].as_array_mut()) {
                needs.push(json!(need));
            }
        }
        let plan = plan(&all);
        let mut done: Vec<&str> = Vec::new();
        while let Some(task) = plan.tasks.iter().find(|task| {
            !done.contains(&task.id.as_str()) && task.deps.iter().all(|dep| done.contains(&dep.as_str()))
        }) {
            done.push(&task.id);
        }
        prop_assert!(!plan.can_run() || done.len() == plan.tasks.len(), "{:?}", plan.tasks);
        prop_assert!(!plan.can_run() || plan.tasks.iter().all(|task| omo_plan::id::is_id(&task.id)));
    }
}

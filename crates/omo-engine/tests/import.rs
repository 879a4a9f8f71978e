//! Records of other programs about a plan, as events of a run.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers fail as a test does"
)]

use omo_engine::event::{EventActor, RunEvent};
use omo_engine::state::{RunState, TaskStanding, TaskStatus};

use omo_testkit::plans;

use omo_engine::event::{EventKind, ImportedStatus};
use omo_engine::import::*;
use omo_plan::model::Plan;
use omo_plan::task_list::TaskFile;
use serde_json::json;

fn plan() -> Plan {
    plans::plan(&[("1", &[]), ("2", &["1"]), ("3", &["2"]), ("4", &[])])
}

fn imported(completed: &str) -> Vec<(String, ImportedStatus)> {
    let events = checkpoint(
        &plan(),
        &format!(r#"{{"plan_file":"docs/plan.md","completed":{completed}}}"#),
    )
    .unwrap();
    let of = |what| match what {
        EventKind::TaskImported { task, status, .. } => (task, status),
        other => panic!("{other:?}"),
    };
    events.into_iter().map(of).collect()
}

#[test]
fn every_shape_of_completed_says_the_same() {
    let wanted = vec![
        ("1".to_owned(), ImportedStatus::Done),
        ("4".to_owned(), ImportedStatus::Failed),
    ];
    for shape in [
        r#"{"4":{"status":"failed"},"1":{"status":"done","files_written":["a"],"evidence":"ok"}}"#,
        r#"{"1":"done","4":"failed"}"#,
        r#"[{"task_id":"1","status":"done"},{"id":4,"status":"failed"}]"#,
    ] {
        assert_eq!(imported(shape), wanted, "{shape}");
    }
    assert_eq!(
        imported(r#"["1", 2]"#),
        [
            ("1".to_owned(), ImportedStatus::Done),
            ("2".to_owned(), ImportedStatus::Done)
        ]
    );
    assert_eq!(imported("{}"), []);
}

#[test]
fn what_is_blocked_by_what_failed_is_not_written_down_and_what_nothing_blocks_is() {
    let failed = ("1".to_owned(), ImportedStatus::Failed);
    assert_eq!(
        imported(r#"{"1":"failed","2":"blocked","3":"blocked"}"#),
        std::slice::from_ref(&failed)
    );
    let blocked = ("4".to_owned(), ImportedStatus::Blocked);
    assert_eq!(
        imported(r#"{"1":"failed","4":"blocked"}"#),
        [failed, blocked]
    );
}

#[test]
fn a_claim_lets_others_go_on_and_has_not_passed() {
    let events = checkpoint(
        &plan(),
        r#"{"completed":{"1":{"status":"done","evidence":"12 tests\n"}}}"#,
    )
    .unwrap();
    let actor = EventActor::default();
    let event = |seq, what| RunEvent {
        seq,
        ts: plans::time(seq),
        actor: actor.clone(),
        kind: what,
    };
    let mut state = RunState::from_first_event(&event(1, plans::run_opened(plan()))).unwrap();
    state.apply(&event(2, events[0].clone())).unwrap();
    assert_eq!(
        state.standing("1"),
        Some(TaskStanding::Is(TaskStatus::Claimed))
    );
    assert!(state.unblocks_dependents("1"));
    assert_eq!(
        (state.task_counts().passed, state.task_counts().claimed),
        (0, 1)
    );
    let evidence = state.tasks["1"]
        .last_end
        .as_ref()
        .map(|end| end.evidence.as_str());
    assert_eq!(evidence, Some("imported, not checked by omo: 12 tests"));
}

#[test]
fn what_is_no_checkpoint_of_this_plan_says_why() {
    let cases = [
        ("", "is not JSON"),
        ("[]", "is not a checkpoint: it is not an object"),
        ("{}", "it has no `completed`"),
        (r#"{"completed":7}"#, "neither a map nor a list"),
        (r#"{"completed":[{}]}"#, "an entry of `completed` has no id"),
        (
            r#"{"completed":{"1":"passed"}}"#,
            "says of 1 what cannot be understood",
        ),
        (
            r#"{"completed":{"1":null}}"#,
            "says of 1 what cannot be understood",
        ),
        (
            r#"{"completed":{"9":"done"}}"#,
            "names what the plan does not have: 9",
        ),
        (
            r#"{"plan_file":"other.md","completed":{}}"#,
            "is of the plan `other.md`",
        ),
    ];
    for (text, wanted) in cases {
        let error = checkpoint(&plan(), text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    assert!(checkpoint(&plan(), &"[".repeat(100_000)).is_err());
}

#[test]
fn a_task_resolved_before_the_run_is_imported_as_done_and_all_others_begin_anew() {
    let task = |id: &str, status: &str| {
        serde_json::from_value(json!({"id": id, "status": status})).unwrap()
    };
    let tasks: Vec<TaskFile> = [
        ("1", "resolved"),
        ("2", "open"),
        ("3", "in_progress"),
        ("4", "failed"),
        ("5", "blocked"),
        ("verify", "resolved"),
    ]
    .map(|(id, status)| task(id, status))
    .into();
    let imported = import_task_list(&tasks);
    let [
        EventKind::TaskImported {
            task,
            status: ImportedStatus::Done,
            evidence,
            ..
        },
    ] = imported.as_slice()
    else {
        panic!("{imported:?}");
    };
    assert_eq!(
        (task.as_str(), evidence.as_str()),
        ("1", "resolved before the run, as its file says")
    );
}

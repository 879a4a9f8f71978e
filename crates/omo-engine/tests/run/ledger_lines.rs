//! One event as one line: its shape, which stays, and lines of a newer omo.

use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventActor, EventKind, RunEvent};

use crate::run::kit::{Run, plan, session, task};

fn event(what: EventKind) -> RunEvent {
    RunEvent {
        seq: 7,
        ts: Timestamp::from_millis(0),
        actor: session("s1", 100),
        kind: what,
    }
}

#[test]
fn a_line_is_flat_and_its_fields_do_not_meet() {
    let end = AttemptEnd {
        attempt: 2,
        evidence: "kind, seq and \"quotes\"\n".to_owned(),
        ..AttemptEnd::default()
    };
    let passed = event(EventKind::TaskPassed {
        task: "kind".to_owned(),
        end,
    });
    let line = serde_json::to_string(&passed).unwrap();
    assert_eq!(
        line,
        concat!(
            r#"{"seq":7,"ts":"1970-01-01T00:00:00.000Z","actor":{"session":"s1","process":{"pid":100}},"#,
            r#""kind":"task_passed","task":"kind","attempt":2,"evidence":"kind, seq and \"quotes\"\n","#,
            r#""files":[],"out_of_scope":[],"missing":[],"test_digests":[],"tree":null}"#
        )
    );
    assert_eq!(serde_json::from_str::<RunEvent>(&line).unwrap(), passed);
}

#[test]
fn any_name_and_text_of_a_task_comes_back() {
    for text in [
        "seq",
        "ts",
        "actor",
        "kind",
        "what",
        "task",
        "evidence",
        "final",
        "\u{2028}é\0",
        "",
    ] {
        let task = text.to_owned();
        for what in [
            EventKind::TaskSkipped {
                task: task.clone(),
                reason: task.clone(),
            },
            EventKind::TaskFailed {
                task: task.clone(),
                is_final: true,
                end: AttemptEnd {
                    evidence: task.clone(),
                    note: Some(task.clone()),
                    ..AttemptEnd::default()
                },
            },
            EventKind::QuestionAnswered {
                question: task.clone(),
                option: task.clone(),
                plan_sha256: Some(task.clone()),
            },
            EventKind::ProjectionChanged {
                file: task.clone(),
                backup: None,
            },
        ] {
            let line = serde_json::to_string(&event(what.clone())).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(
                serde_json::from_str::<RunEvent>(&line).unwrap(),
                event(what)
            );
        }
    }
}

#[test]
fn a_field_of_a_newer_omo_is_passed_over_and_a_kind_is_named() {
    let newer = r#"{"seq":7,"ts":"1970-01-01T00:00:00Z","actor":{"session":"s1","host":"h"},"kind":"holder_changed","more":1}"#;
    let actor = EventActor {
        session: Some("s1".to_owned()),
        process: None,
    };
    assert_eq!(
        serde_json::from_str::<RunEvent>(newer).unwrap(),
        RunEvent {
            actor,
            ..event(EventKind::HolderChanged)
        }
    );
    let unknown = newer.replace("holder_changed", "teleported");
    let error = serde_json::from_str::<RunEvent>(&unknown)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("unknown variant `teleported`"), "{error}");
    for broken in [
        newer.replace(r#""kind":"holder_changed","#, ""),
        newer.replace(r#""seq":7,"#, ""),
        newer.replace(r#""seq":7"#, r#""seq":-7"#),
        newer.replace(
            r#""kind":"holder_changed""#,
            r#""kind":"task_held","task":"1""#,
        ),
    ] {
        serde_json::from_str::<RunEvent>(&broken).unwrap_err();
    }
}

#[test]
fn a_line_of_an_older_omo_is_read() {
    let older = r#"{"seq":7,"ts":"1970-01-01T00:00:00Z","actor":{"session":"s1","process":{"pid":100}},"kind":"task_started","task":"1","attempt":1,"ticket":"t","tree":null}"#;
    let EventKind::TaskStarted {
        protected_files: guarded,
        already_green: vacuous,
        ..
    } = serde_json::from_str::<RunEvent>(older).unwrap().kind
    else {
        panic!()
    };
    assert_eq!((guarded.len(), vacuous.len()), (0, 0));
}

#[test]
fn a_plan_is_kept_whole() {
    let run = Run::open(plan(vec![task("1")]));
    let line = serde_json::to_string(&run.events[0]).unwrap();
    assert_eq!(
        serde_json::from_str::<RunEvent>(&line).unwrap(),
        run.events[0]
    );
    assert!(
        line.starts_with(r#"{"seq":1,"#)
            && line.contains(r#""kind":"run_opened","plan":{"schema":1,"#)
    );
}

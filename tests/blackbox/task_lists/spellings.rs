//! The same command line in other spellings, and the files of other programs: what they mean does not change.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{ID, Place, session, session_file, task_file};

/// A file before, a command line, the value that is looked at in a file afterwards, and what it is.
type Case<'a> = (&'a [&'a str], &'a str, Value);

/// Plays each case in a session of its own, with a task 1 that is worked on and a task 2.
fn all(cases: &[Case<'_>], of: &str) -> Result<()> {
    for (arguments, pointer, expected) in cases {
        let place = Place::with("EXECUTION")?;
        place.task("1", "in_progress", &[])?;
        place.task("2", "open", &["1"])?;
        place.good(arguments)?;
        let file = place.json(of)?;
        ensure!(
            file.pointer(pointer) == Some(expected),
            "{arguments:?}: {file}"
        );
    }
    Ok(())
}

#[test]
fn of_an_option_that_is_given_twice_the_last_one_counts() {
    all(
        &[
            (
                &["agent", "tasks", "update", "-i", "2", "--iteration", "3"],
                "/iteration",
                json!(3),
            ),
            (
                &[
                    "agent",
                    "tasks",
                    "update",
                    "--phase",
                    "FAILED",
                    "-p",
                    "VERIFICATION",
                ],
                "/phase",
                json!("VERIFICATION"),
            ),
            (
                &[
                    "agent", "tasks", "update", "--quiet", "-q", "-d", "a", "-d", "b",
                ],
                "/plan/design_doc",
                json!("b"),
            ),
            (
                &[
                    "agent",
                    "tasks",
                    "update",
                    "--session",
                    "ghost",
                    "-s",
                    ID,
                    "-i",
                    "4",
                ],
                "/iteration",
                json!(4),
            ),
        ],
        &session_file(),
    )
    .unwrap();
    all(
        &[
            (
                &[
                    "agent", "task", "update", "--id", "2", "--id", "1", "-S", "blocked", "-S",
                    "open",
                ],
                "/status",
                json!("open"),
            ),
            // What is added is all kept.
            (
                &["agent", "task", "update", "-e", "a", "-t", "1", "-e", "b"],
                "/evidence",
                json!(["a", "b"]),
            ),
        ],
        &task_file("1"),
    )
    .unwrap();
}

#[test]
fn both_names_of_an_option_and_any_order_mean_the_same() {
    let create = |options: &[&'static str]| {
        [&["agent", "task", "create", "--subject", "x"], options].concat()
    };
    for (options, pointer, expected) in [
        (create(&["-i", "3"]), "/id", json!("3")),
        (create(&["--task", "003"]), "/id", json!("3")),
        (
            create(&["--task-id", "3", "-c", "complex"]),
            "/complexity",
            json!("complex"),
        ),
        (
            create(&["-d", "what --it is"]),
            "/description",
            json!("what --it is"),
        ),
        (create(&["--description", ""]), "/description", json!("x")),
        (create(&["-C", " a | | b"]), "/criteria", json!(["a", "b"])),
        (
            create(&["--criteria", r#"["cmd: a | b", "c"]"#]),
            "/criteria",
            json!(["cmd: a | b", "c"]),
        ),
        (
            create(&["-C", "a", "-C", "b"]),
            "/criteria",
            json!(["a", "b"]),
        ),
        (
            create(&["-C", "`a || b`|readable"]),
            "/criteria",
            json!(["`a || b`", "readable"]),
        ),
        (
            create(&["--criterion", "cmd: a | b", "--criterion", "c"]),
            "/criteria",
            json!(["cmd: a | b", "c"]),
        ),
        (create(&["-b", " 2, 01 "]), "/blocked_by", json!(["2", "1"])),
        (
            create(&["-b", "1", "-b", "2"]),
            "/blockedBy",
            json!(["1", "2"]),
        ),
        (create(&["-a", "standard"]), "/approach", json!("standard")),
        (
            create(&["-t", "a.rs", "--scope", "unit"]),
            "/test_scope",
            json!("unit"),
        ),
        (
            create(&["-T", "unit", "--test-file", "a.rs"]),
            "/test_file",
            json!("a.rs"),
        ),
        (
            create(&["--subject", "--status"]),
            "/subject",
            json!("--status"),
        ),
    ] {
        all(&[(&options, pointer, expected)], &task_file("3")).unwrap();
    }
    all(
        &[
            (
                &["agent", "task", "update", "--task", "01", "-S", "pending"],
                "/status",
                json!("open"),
            ),
            (
                &[
                    "agent",
                    "task",
                    "update",
                    "--status",
                    "failed",
                    "--task-id",
                    "1",
                ],
                "/status",
                json!("failed"),
            ),
            (
                &["agent", "task", "update", "--retry-count", "2", "-t", "1"],
                "/retry_count",
                json!(2),
            ),
            (
                &["agent", "task", "update", "--id", "1", "-e", "--status"],
                "/evidence",
                json!(["--status"]),
            ),
        ],
        &task_file("1"),
    )
    .unwrap();
    all(
        &[
            (
                &["agent", "tasks", "update", "--phase", "verification"],
                "/phase",
                json!("VERIFICATION"),
            ),
            (
                &["agent", "tasks", "update", "-p", "Canceled"],
                "/phase",
                json!("CANCELLED"),
            ),
            (
                &["agent", "tasks", "update", "-e", "targeted"],
                "/exploration_stage",
                json!("targeted"),
            ),
            (
                &["agent", "tasks", "create", "-f", "-g", "a goal", "-w", "2"],
                "/options/max_workers",
                json!(2),
            ),
            (
                &[
                    "agent", "tasks", "create", "a", "-p", "goal", "--force", "-a",
                ],
                "/goal",
                json!("a goal"),
            ),
            (
                &["agent", "tasks", "create", "-f", "--goal", "-x"],
                "/goal",
                json!("-x"),
            ),
        ],
        &session_file(),
    )
    .unwrap();
}

#[test]
fn a_task_is_edited_and_deleted_until_its_list_is_executed() {
    let place = Place::with("PLANNING_COMPLETE").unwrap();
    for subject in ["one", "two", "three"] {
        place
            .good(&[
                "agent",
                "task",
                "create",
                "--subject",
                subject,
                "--criteria",
                "works",
            ])
            .unwrap();
    }
    let split = [
        "agent",
        "task",
        "create",
        "--subject",
        "four",
        "--criteria",
        "`a | b`|readable",
    ];
    assert_eq!(
        place.good(&split).unwrap(),
        "OK: Task 4 created (1 command, 1 to judge)\n"
    );
    let edit = [
        "--subject",
        "new",
        "--criterion",
        "cmd: a | b",
        "--blocked-by",
        "1,3",
        "-c",
        "complex",
        "-d",
        "do it",
    ];
    let said = place
        .good(&[&["agent", "task", "update", "--id", "2"][..], &edit].concat())
        .unwrap();
    assert_eq!(said, "OK: Task 2 updated (1 command)\n");
    let task = place.json(&task_file("2")).unwrap();
    let fields = [
        "subject",
        "criteria",
        "blocked_by",
        "blockedBy",
        "complexity",
        "description",
    ]
    .map(|name| &task[name]);
    let needs = json!(["1", "3"]);
    assert_eq!(
        fields,
        [
            &json!("new"),
            &json!(["cmd: a | b"]),
            &needs,
            &needs,
            &json!("complex"),
            &json!("do it")
        ]
    );
    for (arguments, parts) in [
        (
            &["agent", "task", "update", "--id", "1", "--blocked-by", "2"][..],
            &["in a circle: 1 → 2 → 1"][..],
        ),
        (
            &["agent", "task", "update", "--id", "1", "--blocked-by", "1"],
            &["task 1, itself"],
        ),
        (
            &["agent", "task", "update", "--id", "1", "--blocked-by", "9"],
            &["task 9, which is not there"],
        ),
        (
            &["agent", "task", "delete", "--id", "3"],
            &["task 3 is waited for by: 2", "--blocked-by"],
        ),
    ] {
        place.refused(arguments, parts).unwrap();
    }
    place
        .good(&["tasks", "update-task", "--id", "2", "--blocked-by", ""])
        .unwrap();
    assert_eq!(
        place.json(&task_file("2")).unwrap()["blocked_by"],
        json!([])
    );
    assert!(
        place
            .good(&["tasks", "delete-task", "--id", "3"])
            .unwrap()
            .contains("Task 3 deleted")
    );
    assert!(place.json(&task_file("3")).is_err());
}

#[test]
fn what_other_programs_wrote_is_read_and_kept() {
    let place = Place::new().unwrap();
    let mut file = session("EXECUTION");
    file["iteration"] = json!("2");
    file["options"] = json!({"max_workers": "3", "max_iterations": "4", "skip_verify": true});
    file["active_agents"] = json!([{"id": "a"}]);
    file.as_object_mut().unwrap().remove("session_id");
    place.put(&session_file(), &file.to_string()).unwrap();
    place
        .put(&task_file("1"), r#"{"status": "pending", "subject": "x"}"#)
        .unwrap();
    place
        .put(
            &task_file("2"),
            r#"{"id": 2, "status": "in_progress", "blockedBy": "1", "own": [1.50]}"#,
        )
        .unwrap();
    place
        .put(
            &task_file("10"),
            r#"{"id": "010", "blocked_by": [2], "evidence": [{"output": "a TODO"}]}"#,
        )
        .unwrap();

    let list: Value = serde_json::from_str(
        &place
            .good(&["agent", "task", "list", "-f", "json"])
            .unwrap(),
    )
    .unwrap();
    let seen: Vec<String> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|task| format!("{} {} {}", task["id"], task["status"], task["blockedBy"]))
        .collect();
    assert_eq!(
        seen,
        [
            r#""1" "open" """#,
            r#""2" "in_progress" "1""#,
            r#""10" "open" "2""#
        ]
    );
    place
        .refused(
            &[
                "agent", "task", "update", "--id", "2", "-S", "resolved", "-e", "x",
            ],
            &["not resolved: 1"],
        )
        .unwrap();
    place
        .good(&[
            "agent",
            "task",
            "update",
            "--id",
            "1",
            "--status",
            "in_progress",
        ])
        .unwrap();
    assert_eq!(place.json(&task_file("1")).unwrap()["id"], "1");
    place
        .good(&[
            "agent",
            "task",
            "update",
            "--id",
            "2",
            "--add-evidence",
            "a",
        ])
        .unwrap();
    let two = place.json(&task_file("2")).unwrap();
    assert_eq!(
        (&two["own"], &two["blocked_by"], &two["blockedBy"]),
        (&json!([1.5]), &json!(["1"]), &json!(["1"]))
    );
    place
        .refused(
            &["agent", "tasks", "update", "--iteration", "5"],
            &[ID, "1 to 4"],
        )
        .unwrap();
    place
        .good(&["agent", "tasks", "update", "--iteration", "3", "--quiet"])
        .unwrap();
    let after = place.json(&session_file()).unwrap();
    assert_eq!(
        (&after["active_agents"], &after["options"]["skip_verify"]),
        (&file["active_agents"], &json!(true))
    );
    assert_eq!(
        (&after["session_id"], &after["iteration"]),
        (&json!(ID), &json!(3))
    );
}

#[test]
fn words_in_evidence_are_pointed_out_wherever_they_stand() {
    let place = Place::with("EXECUTION").unwrap();
    place.task("1", "in_progress", &[]).unwrap();
    let mut task = place.json(&task_file("1")).unwrap();
    task["evidence"] = json!([{"command": "grep", "output": "one TODO"}, "it should work"]);
    place.put(&task_file("1"), &task.to_string()).unwrap();
    let said = |arguments: &[&str]| {
        let output = place
            .omo(&[&["agent", "task", "update", "--id", "1"], arguments].concat())
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said(&["--add-evidence", "12 passed"]),
        "",
        "what was there before was pointed out before"
    );
    assert!(said(&["--add-evidence", "a WIP"]).contains(": wip\n"));
    assert!(said(&["--status", "resolved"]).contains(": should work, todo, wip\n"));
}

#[test]
fn of_several_things_to_print_one_is() {
    let place = Place::with("EXECUTION").unwrap();
    let folder = place.base().join("sessions").join(ID);
    let line = |path: &std::path::Path| format!("{}\n", path.display());
    for (arguments, expected) in [
        (
            &["tasks", "show", "--file", "--dir", "-f", "goal"][..],
            line(&folder),
        ),
        (
            &["tasks", "show", "-F", "-f", "goal"],
            line(&folder.join("session.json")),
        ),
        (
            &["tasks", "show", "-f", "phase", "-f", "goal"],
            "Add login\n".to_owned(),
        ),
        (
            &["agent", "context", "get", "--file", "--summary"],
            line(&folder.join("context.json")),
        ),
        (
            &["agent", "task", "summary", "--format", "json"],
            "[]\n".to_owned(),
        ),
    ] {
        assert_eq!(place.good(arguments).unwrap(), expected, "{arguments:?}");
    }
    assert!(
        fs::read_dir(&folder).unwrap().count() <= 2,
        "looking has made something"
    );
}

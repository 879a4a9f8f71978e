//! What each phase of a session means on entry, and what cannot be executed at all.

use std::fs;

use anyhow::ensure;
use omo_tests::task_list_project::{SESSION, Sessions, WORD, play};
use serde_json::json;

#[test]
fn each_phase_means_something_else_on_entry() {
    play(&[
        ("still planned", &[("1", &[], &[WORD])], |s| {
            for phase in ["PLANNING", "DOCUMENTATION"] {
                s.set_member("phase", json!(phase))?;
                let before = s.file_tree()?;
                s.execute(&[])?
                    .refuses(5, &format!("its phase is {phase}"), "")?;
                before.require_unchanged(&s.file_tree()?, &[])?;
            }
            Ok(())
        }),
        (
            "worked on without a run",
            &[("1", &[], &["It reads well"]), ("2", &["1"], &[WORD])],
            |s| {
                for phase in ["EXECUTION", "VERIFICATION"] {
                    s.set_member("phase", json!(phase))?;
                    let mut task = s.file("tasks/1.json")?;
                    (task["status"], task["evidence"]) =
                        (json!("resolved"), json!(["seen by eye"]));
                    fs::write(s.folder().join("tasks/1.json"), task.to_string())?;
                    s.begin(&[])?;
                    ensure!(s.standing("1")? == "claimed");
                    ensure!(
                        s.file("tasks/1.json")?["evidence"] == json!(["seen by eye"]),
                        "what was said stays"
                    );
                    ensure!(s.next()?.exits_with(0)?.out.contains("TASK_ID: 2 "));
                    s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                }
                Ok(())
            },
        ),
        ("with its run", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            let run = s.run()?;
            s.set_member("phase", json!("VERIFICATION"))?;
            let said = s.execute(&["--max-workers", "3"])?.exits_with(0)?;
            ensure!(
                said.out.contains(&format!("going on with the run {run}")),
                "{}",
                said.out
            );
            ensure!(s.run()? == run && s.file("session.json")?["options"]["max_workers"] == 3);
            Ok(())
        }),
        ("complete", &[("1", &[], &[WORD])], |s| {
            s.set_member("phase", json!("COMPLETE"))?;
            let said = s.execute(&[])?.exits_with(0)?;
            ensure!(
                said.out.starts_with("DONE\n") && said.out.contains("as the session's files say"),
                "{}",
                said.out
            );
            s.set_member("phase", json!("PLANNING_COMPLETE"))?;
            s.begin(&["--skip-verify"])?;
            s.do_task("1")?;
            s.next()?.exits_with(0)?;
            let before = s.file_tree()?;
            let said = s.execute(&[])?.exits_with(0)?;
            ensure!(
                said.out.starts_with("DONE\n") && said.out.contains("## Execution Complete"),
                "{}",
                said.out
            );
            before.require_unchanged(&s.file_tree()?, &[])
        }),
        ("failed", &[("1", &[], &[WORD])], |s| {
            s.set_member("phase", json!("FAILED"))?;
            let said = s.execute(&[])?.exits_with(1)?;
            ensure!(
                said.out.contains("✗ FAIL") && said.out.contains("--again"),
                "{}",
                said.out
            );
            s.begin(&["--again"])?;
            ensure!(s.phase()? == "EXECUTION");
            Ok(())
        }),
        ("cancelled", &[("1", &[], &[WORD])], |s| {
            s.set_member("phase", json!("CANCELLED"))?;
            let before = s.file_tree()?;
            let said = s.execute(&[])?.exits_with(0)?;
            ensure!(
                said.out.lines().count() == 1 && said.err.is_empty(),
                "{}",
                said.out
            );
            before.require_unchanged(&s.file_tree()?, &[])
        }),
    ]);
}

#[test]
fn what_cannot_be_executed_says_why_and_changes_nothing() {
    play(&[
        ("not there", &[], |s| {
            s.omo_at_terminal(&["run", "start", "--tasks", "--session", "none"])?
                .refuses(3, "none", "")?;
            s.omo_at_terminal(&["run", "start", "--tasks", "--session", "../x"])?
                .exits_with(2)?;
            s.omo_at_terminal(&["run", "start", "--tasks"])?.refuses(
                2,
                "no task list is named",
                "--session",
            )?;
            Ok(())
        }),
        ("no tasks", &[], |s| {
            let before = s.file_tree()?;
            s.execute(&[])?
                .refuses(5, "has no tasks", "/omo:ulw-plan")?;
            before.require_unchanged(&s.file_tree()?, &[])
        }),
        (
            "a circle",
            &[("1", &["2"], &[WORD]), ("2", &["1"], &[WORD])],
            |s| {
                let before = s.file_tree()?;
                s.execute(&[])?.refuses(4, SESSION, "nothing was run")?;
                before.require_unchanged(&s.file_tree()?, &[])
            },
        ),
        (
            "waits for what is not there",
            &[("1", &["9"], &[WORD])],
            |s| {
                s.execute(&[])?
                    .refuses(4, "tasks/1.json", "nothing was run")
                    .map(drop)
            },
        ),
        ("of another folder", &[("1", &[], &[WORD])], |s| {
            s.set_member("working_dir", json!(s.lab().home()))?;
            let before = s.file_tree()?;
            s.execute(&[])?.refuses(5, "works in", "in that folder")?;
            before.require_unchanged(&s.file_tree()?, &[])
        }),
        ("a file that is none", &[("1", &[], &[WORD])], |s| {
            for name in ["tasks/1.json", "session.json"] {
                fs::write(s.folder().join(name), "{")?;
                let before = s.file_tree()?;
                s.execute(&[])?.refuses(9, name, "")?;
                before.require_unchanged(&s.file_tree()?, &[])?;
            }
            Ok(())
        }),
        ("not approved", &[("1", &[], &[WORD])], |s| {
            s.execute(&[])?
                .refuses(7, "there is no terminal to ask on", "their digest is ")?;
            s.execute(&["--digest", "0"])?
                .refuses(10, "not the digest", "")?;
            let session = s.session()?;
            let said = s.omo_in_session(
                &session,
                &[
                    "run",
                    "start",
                    "--tasks",
                    "--session",
                    SESSION,
                    "--max-workers",
                    "2",
                ],
            )?;
            let said = said.refuses(7, "grep -q done words/1.txt", "")?;
            let typed = format!("/omo:ulw-exec --session {SESSION} --max-workers 2 --approve ");
            ensure!(said.err.contains(&typed), "{}", said.err);
            ensure!(s.phase()? == "PLANNING_COMPLETE");
            Ok(())
        }),
        ("while another run is open", &[("1", &[], &[WORD])], |s| {
            s.open()?;
            let before = s.file_tree()?;
            s.execute(&[])?
                .refuses(6, "docs/plan.md is open here", "omo run cancel")?;
            before.require_unchanged(&s.file_tree()?, &[])
        }),
        ("options of the other kind", &[("1", &[], &[WORD])], |s| {
            s.execute(&["--step", "1"])?.exits_with(2)?;
            s.execute(&["--dry-run"])?.refuses(
                2,
                "a task list is executed as a whole",
                "--again",
            )?;
            s.execute(&["docs/plan.md"])?.exits_with(2)?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_run_goes_on_where_a_client_that_died_left_it() {
    let tasks: &[(&str, &[&str], &[&str])] = &[
        ("1", &[], &["It reads well"]),
        ("2", &[], &["It reads well"]),
    ];
    let s = Sessions::new(tasks).unwrap();
    let (mut first, second) = (s.session().unwrap(), s.session().unwrap());
    let open = ["run", "start", "--tasks", "--session", SESSION];
    s.omo_in_session(&first, &open)
        .unwrap()
        .exits_with(0)
        .unwrap();
    s.omo_in_session(&first, &["agent", "start", "1"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    s.omo_in_session(&second, &open)
        .unwrap()
        .refuses(6, "is held by session", "omo run resume")
        .unwrap();
    first.kill_client().unwrap();
    let said = s
        .omo_in_session(&second, &open)
        .unwrap()
        .exits_with(0)
        .unwrap();
    assert_eq!(s.standing("1").unwrap(), "held");
    assert!(
        said.out.contains("TASK_ID: 1 ") && said.out.contains("TASK_ID: 2 "),
        "{}",
        said.out
    );
}

//! What each phase of a session means on entry, and what cannot be executed at all.

use std::fs;

use anyhow::ensure;
use omo_tests::executed::{Case, SESSION, Sessions, WORD, play};
use serde_json::json;

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn each_phase_means_something_else_on_entry() {
    let cases: &[Case] = &[
        ("still planned", &[("1", &[], &[WORD])], |s| {
            for phase in ["PLANNING", "DOCUMENTATION"] {
                s.set("phase", json!(phase))?;
                let before = s.all()?;
                s.execute(&[])?.refuses(5, &format!("its phase is {phase}"), "")?;
                before.is_still(&s.all()?, &[])?;
            }
            Ok(())
        }),
        ("worked on without a run", &[("1", &[], &["It reads well"]), ("2", &["1"], &[WORD])], |s| {
            for phase in ["EXECUTION", "VERIFICATION"] {
                s.set("phase", json!(phase))?;
                let mut task = s.file("tasks/1.json")?;
                (task["status"], task["evidence"]) = (json!("resolved"), json!(["seen by eye"]));
                fs::write(s.folder().join("tasks/1.json"), task.to_string())?;
                s.begin(&[])?;
                ensure!(s.standing("1")? == "claimed");
                ensure!(s.file("tasks/1.json")?["evidence"] == json!(["seen by eye"]), "what was said stays");
                ensure!(s.next()?.ends(0)?.out.contains("TASK_ID: 2 "));
                s.person(&["run", "cancel"])?.ends(0)?;
            }
            Ok(())
        }),
        ("with its run", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            let run = s.run()?;
            s.set("phase", json!("VERIFICATION"))?;
            let said = s.execute(&["--max-workers", "3"])?.ends(0)?;
            ensure!(said.out.contains(&format!("going on with the run {run}")), "{}", said.out);
            ensure!(s.run()? == run && s.file("session.json")?["options"]["max_workers"] == 3);
            Ok(())
        }),
        ("complete", &[("1", &[], &[WORD])], |s| {
            s.set("phase", json!("COMPLETE"))?;
            let said = s.execute(&[])?.ends(0)?;
            ensure!(said.out.starts_with("DONE\n") && said.out.contains("as the session's files say"), "{}", said.out);
            s.set("phase", json!("PLANNING_COMPLETE"))?;
            s.begin(&["--skip-verify"])?;
            s.do_task("1")?;
            s.next()?.ends(0)?;
            let before = s.all()?;
            let said = s.execute(&[])?.ends(0)?;
            ensure!(said.out.starts_with("DONE\n") && said.out.contains("## Execution Complete"), "{}", said.out);
            before.is_still(&s.all()?, &[])
        }),
        ("failed", &[("1", &[], &[WORD])], |s| {
            s.set("phase", json!("FAILED"))?;
            let said = s.execute(&[])?.ends(1)?;
            ensure!(said.out.contains("✗ FAIL") && said.out.contains("--again"), "{}", said.out);
            s.begin(&["--again"])?;
            ensure!(s.phase()? == "EXECUTION");
            Ok(())
        }),
        ("cancelled", &[("1", &[], &[WORD])], |s| {
            s.set("phase", json!("CANCELLED"))?;
            let before = s.all()?;
            let said = s.execute(&[])?.ends(0)?;
            ensure!(said.out.lines().count() == 1 && said.err.is_empty(), "{}", said.out);
            before.is_still(&s.all()?, &[])
        }),
    ];
    play(cases).unwrap();
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn what_cannot_be_executed_says_why_and_changes_nothing() {
    let cases: &[Case] = &[
        ("not there", &[], |s| {
            s.person(&["run", "start", "--tasks", "--session", "none"])?.refuses(3, "none", "")?;
            s.person(&["run", "start", "--tasks", "--session", "../x"])?.ends(2)?;
            s.person(&["run", "start", "--tasks"])?.refuses(2, "no task session is named", "--session")?;
            Ok(())
        }),
        ("no tasks", &[], |s| {
            let before = s.all()?;
            s.execute(&[])?.refuses(5, "has no tasks", "/omo:ulw-plan")?;
            before.is_still(&s.all()?, &[])
        }),
        ("a circle", &[("1", &["2"], &[WORD]), ("2", &["1"], &[WORD])], |s| {
            let before = s.all()?;
            s.execute(&[])?.refuses(4, SESSION, "nothing was run")?;
            before.is_still(&s.all()?, &[])
        }),
        ("waits for what is not there", &[("1", &["9"], &[WORD])], |s| {
            s.execute(&[])?.refuses(4, "tasks/1.json", "nothing was run").map(drop)
        }),
        ("of another folder", &[("1", &[], &[WORD])], |s| {
            s.set("working_dir", json!(s.lab().home()))?;
            let before = s.all()?;
            s.execute(&[])?.refuses(5, "works in", "in that folder")?;
            before.is_still(&s.all()?, &[])
        }),
        ("a file that is none", &[("1", &[], &[WORD])], |s| {
            for name in ["tasks/1.json", "session.json"] {
                fs::write(s.folder().join(name), "{")?;
                let before = s.all()?;
                s.execute(&[])?.refuses(9, name, "")?;
                before.is_still(&s.all()?, &[])?;
            }
            Ok(())
        }),
        ("not approved", &[("1", &[], &[WORD])], |s| {
            s.execute(&[])?.refuses(7, "there is no terminal to ask on", "their digest is ")?;
            s.execute(&["--digest", "0"])?.refuses(10, "not the digest", "")?;
            let session = s.session()?;
            let said = s.model(&session, &["run", "start", "--tasks", "--session", SESSION, "--max-workers", "2"])?;
            let said = said.refuses(7, "grep -q done words/1.txt", "")?;
            let typed = format!("/omo:ulw-exec --session {SESSION} --max-workers 2 --approve ");
            ensure!(said.err.contains(&typed), "{}", said.err);
            ensure!(s.phase()? == "PLANNING_COMPLETE");
            Ok(())
        }),
        ("while another run is open", &[("1", &[], &[WORD])], |s| {
            s.open()?;
            let before = s.all()?;
            s.execute(&[])?.refuses(6, "docs/plan.md is open here", "omo run cancel")?;
            before.is_still(&s.all()?, &[])
        }),
        ("options of the other kind", &[("1", &[], &[WORD])], |s| {
            s.execute(&["--step", "1"])?.ends(2)?;
            s.execute(&["--dry-run"])?.refuses(2, "a task list is executed as a whole", "--again")?;
            s.execute(&["docs/plan.md"])?.ends(2)?;
            Ok(())
        }),
    ];
    play(cases).unwrap();
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn a_run_goes_on_where_a_client_that_died_left_it() {
    let tasks: &[(&str, &[&str], &[&str])] = &[("1", &[], &["It reads well"]), ("2", &[], &["It reads well"])];
    let s = Sessions::new(tasks).unwrap();
    let (mut first, second) = (s.session().unwrap(), s.session().unwrap());
    let open = ["run", "start", "--tasks", "--session", SESSION];
    s.model(&first, &open).unwrap().ends(0).unwrap();
    s.model(&first, &["agent", "start", "1"]).unwrap().ends(0).unwrap();
    s.model(&second, &open).unwrap().refuses(6, "is held by session", "omo run resume").unwrap();
    first.dies().unwrap();
    s.model(&second, &open).unwrap().ends(0).unwrap();
    assert_eq!(s.standing("1").unwrap(), "held");
    let said = s.model(&second, &["agent", "next"]).unwrap().ends(0).unwrap();
    assert!(said.out.contains("TASK_ID: 1 ") && said.out.contains("TASK_ID: 2 "), "{}", said.out);
}

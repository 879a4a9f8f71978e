//! What the files of a session say while it has a run, and what becomes of an edit of them.

use std::fs;

use anyhow::ensure;
use omo_tests::task_list_project::{SESSION, WORD, play};
use serde_json::json;

#[test]
fn the_files_say_what_the_run_does_and_nothing_of_others_is_lost() {
    play(&[
        (
            "all that no rule sets stays",
            &[("1", &[], &[WORD]), ("2", &["1"], &[WORD])],
            |s| {
                s.begin(&["--max-workers", "2", "--max-iterations", "3"])?;
                let session = s.file("session.json")?;
                ensure!(
                    session["mine"] == "kept" && session["options"]["note"] == "kept",
                    "{session}"
                );
                ensure!(
                    session["options"]["max_workers"] == 2
                        && session["options"]["max_iterations"] == 3,
                    "{session}"
                );
                ensure!(session["omo_run"]["id"] == s.run()?.as_str(), "{session}");
                ensure!(s.status("1")? == "open" && s.status("verify")? == "open");
                let ticket = s.start("1")?;
                ensure!(s.status("1")? == "in_progress");
                s.lab().write("words/1.txt", "done\n")?;
                s.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                let task = s.file("tasks/1.json")?;
                ensure!(
                    task["status"] == "resolved" && task["mine"] == "kept",
                    "{task}"
                );
                ensure!(
                    task["evidence"][0]["command"] == "grep -q done words/1.txt",
                    "{task}"
                );
                ensure!(
                    task["description"] == "Write the word." && task["blockedBy"] == json!([]),
                    "{task}"
                );
                ensure!(s.file("tasks/2.json")?["blocked_by"] == json!(["1"]));
                let report = s.report()?;
                ensure!(report["drift"] == json!([]), "{report}");
                Ok(())
            },
        ),
        (
            "an edit is kept beside the file",
            &[("1", &[], &[WORD]), ("2", &[], &[WORD])],
            |s| {
                s.begin(&[])?;
                let mut task = s.file("tasks/1.json")?;
                (task["status"], task["mine"]) = (json!("resolved"), json!("mine"));
                fs::write(s.folder().join("tasks/1.json"), task.to_string())?;
                fs::write(s.folder().join("tasks/2.json"), "{")?;
                s.start("1")?;
                ensure!(
                    s.status("1")? == "in_progress" && s.file("tasks/1.json")?["mine"] == "mine"
                );
                ensure!(s.file("tasks/1.json.edited-1")?["status"] == "resolved");
                ensure!(fs::read_to_string(s.folder().join("tasks/2.json.edited-1"))? == "{");
                ensure!(s.status("2")? == "open");
                let said = s.omo_at_terminal(&["run", "show"])?.exits_with(0)?;
                ensure!(
                    said.out
                        .contains("tasks/1.json was changed by something else"),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        (
            "what no rule sets is no edit",
            &[("1", &[], &[WORD])],
            |s| {
                s.begin(&[])?;
                s.set_member("goal", json!("other words"))?;
                s.start("1")?;
                ensure!(s.file("session.json")?["goal"] == "other words");
                ensure!(s.report()?["drift"] == json!([]));
                Ok(())
            },
        ),
        ("a folder that is gone", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            fs::remove_dir_all(s.folder())?;
            s.do_task("1")?;
            ensure!(!s.folder().exists());
            Ok(())
        }),
    ]);
}

#[test]
fn a_run_of_a_session_is_listed_and_reported_under_its_name() {
    play(&[("all of them", &[("1", &[], &[WORD])], |s| {
        s.begin(&["--skip-verify"])?;
        let name = format!("session {SESSION}");
        for arguments in [&["run", "list"][..], &["run", "show"], &["report"]] {
            let said = s.omo_at_terminal(arguments)?.exits_with(0)?;
            ensure!(said.out.contains(&name), "{arguments:?}: {}", said.out);
        }
        for arguments in [["run", "list"], ["run", "show"]] {
            let said = s.omo_at_terminal(&arguments)?.exits_with(0)?;
            ensure!(said.out.contains("in waves"), "{arguments:?}: {}", said.out);
        }
        let shown = s
            .omo_at_terminal(&["report", "--format", "progress"])?
            .exits_with(0)?
            .out;
        ensure!(
            shown.starts_with("Running\n") && shown.contains("\ntasks       0 of 1 tasks done\n"),
            "{shown}"
        );
        s.do_task("1")?;
        s.next()?.exits_with(0)?;
        ensure!(
            s.omo_at_terminal(&["report", "--format", "summary"])?
                .exits_with(0)?
                .out
                .contains("## Execution Complete")
        );
        ensure!(
            s.omo_at_terminal(&["run", "gc"])?
                .exits_with(0)?
                .out
                .contains("No run ended")
        );
        Ok(())
    })]);
}

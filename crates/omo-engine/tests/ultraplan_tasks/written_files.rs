//! The files of a run of steps for others: the progress file beside its plan, and the line of statistics.

use std::fs;

use omo_engine::report::ultraplan::RunScope;
use omo_engine::request::arguments::{PlanSelection, RunMode};
use serde_json::Value;

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, WARNINGS, plan_text, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "the_progress_file_follows_each_event_and_shows_in_no_status",
        the_progress_file_follows_each_event_and_shows_in_no_status,
    ),
    (
        "a_session_that_runs_by_itself_has_a_file_of_its_own",
        a_session_that_runs_by_itself_has_a_file_of_its_own,
    ),
    ("an_edited_file_is_kept", an_edited_file_is_kept),
    (
        "a_run_goes_on_without_its_progress_file",
        a_run_goes_on_without_its_progress_file,
    ),
    (
        "a_progress_file_in_a_commit_is_no_work_of_a_task",
        a_progress_file_in_a_commit_is_no_work_of_a_task,
    ),
    (
        "the_end_of_a_run_is_counted_once",
        the_end_of_a_run_is_counted_once,
    ),
];

const PROGRESS: &str = "plans/.ultraexecute-progress-demo.json";
const GREEN: &str = "0\ndone\n";

fn two() -> String {
    plan_text(&[usual_step(1, "revert"), usual_step(2, "skip")], "")
}

fn progress(fixture: &UltraplanLab, path: &str) -> Value {
    serde_json::from_str(&fixture.file(path).unwrap()).unwrap()
}

fn the_progress_file_follows_each_event_and_shows_in_no_status() {
    let fixture = UltraplanLab::new(&two());
    let started = fixture.start("1").unwrap();
    assert_eq!(
        progress(&fixture, PROGRESS)["steps"]["1"]["status"],
        "running"
    );
    fixture.write("src/1.rs", GREEN);
    fixture.done(&started.ticket);
    let said = progress(&fixture, PROGRESS);
    assert_eq!(
        (
            &said["steps"]["1"]["status"],
            &said["current_step"],
            &said["status"]
        ),
        (&"passed".into(), &1.into(), &"in-progress".into())
    );
    assert_eq!(
        said["steps"]["1"]["commit"],
        fixture.git(&["rev-parse", "HEAD"]).trim()
    );
    assert_eq!(
        (fixture.committed(), fixture.git(&["status", "--porcelain"])),
        (vec!["src/1.rs".to_owned()], String::new())
    );
    assert!(
        !fixture.root().join(".claude").exists(),
        "no file of another dialect"
    );
    fixture.attempt("2", GREEN);
    let said = progress(&fixture, PROGRESS);
    assert_eq!(
        (&said["status"], &said["summary"]),
        (&"completed".into(), &"COMPLETED".into())
    );
}

fn a_session_that_runs_by_itself_has_a_file_of_its_own() {
    let session = "## Execution Strategy\n\n### Session 1: One\n\n- **Steps:** 1\n- **Wave:** 1\n\n\
                   ### Session 2: Two\n\n- **Steps:** 2\n- **Wave:** 1\n\n";
    let asked = RunScope {
        mode: RunMode::Session,
        selection: PlanSelection::Session(2),
        is_foreground: false,
        total_tasks: None,
    };
    let fixture = UltraplanLab::with(
        &plan_text(&[usual_step(1, "revert"), usual_step(2, "skip")], session),
        |plan| plan,
        Some(asked),
    );
    fixture.attempt("2", GREEN);
    let said = progress(&fixture, "plans/.ultraexecute-progress-demo-session-2.json");
    assert_eq!(
        (&said["status"], &said["total_steps"]),
        (&"completed".into(), &1.into())
    );
    assert_eq!(fixture.file(PROGRESS), None);
}

fn an_edited_file_is_kept() {
    let fixture = UltraplanLab::new(&two());
    let started = fixture.start("1").unwrap();
    fixture.write(PROGRESS, "mine");
    fixture.write("src/1.rs", GREEN);
    fixture.done(&started.ticket);
    assert_eq!(
        fixture.file(&format!("{PROGRESS}.edited-1")).unwrap(),
        "mine"
    );
    assert_eq!(
        progress(&fixture, PROGRESS)["steps"]["1"]["status"],
        "passed"
    );
    assert_eq!(
        (
            fixture.state().changed_files.len(),
            fixture.git(&["status", "--porcelain"])
        ),
        (1, String::new())
    );
    assert_eq!(fixture.committed(), ["src/1.rs"]);
}

fn a_run_goes_on_without_its_progress_file() {
    let fixture = UltraplanLab::new(&two());
    fs::create_dir_all(fixture.root().join(PROGRESS)).unwrap();
    fixture.attempt("1", GREEN);
    assert_eq!(fixture.standing("1"), "passed");
    let reported = WARNINGS.lock().unwrap().join("\n");
    let path = fixture.root().join(PROGRESS);
    assert!(
        reported.contains("the progress file was not written")
            && reported.contains(&*path.to_string_lossy()),
        "{reported}"
    );
}

fn a_progress_file_in_a_commit_is_no_work_of_a_task() {
    let fixture = UltraplanLab::new(&two());
    // The file of another plan, too, which a run in another work tree writes.
    let other = "plans/.ultraexecute-progress-other.json";
    for path in [PROGRESS, other] {
        fixture.write(path, "{}");
        fixture.git(&["add", "-f", path]);
    }
    fixture.git(&["commit", "-qm", "by mistake"]);
    let started = fixture.start("1").unwrap();
    fixture.write("src/1.rs", GREEN);
    fixture.write(other, "{ }");
    let judged = fixture.done(&started.ticket);
    let end = judged.state.tasks["1"].last_end.as_ref().unwrap();
    assert_eq!(
        (end.files.as_slice(), fixture.committed()),
        (
            ["src/1.rs".to_owned()].as_slice(),
            vec!["src/1.rs".to_owned()]
        )
    );
    // Nor is it taken back with one.
    fixture.attempt("2", "1\nhalf\n");
    assert_eq!(
        (
            fixture.standing("2"),
            progress(&fixture, PROGRESS)["steps"]["2"]["status"].clone()
        ),
        ("skipped", "skipped".into())
    );
}

fn the_end_of_a_run_is_counted_once() {
    let fixture = UltraplanLab::new(&two());
    let path = fixture.data().join("ultraexecute-stats.jsonl");
    fixture.attempt("1", GREEN);
    assert!(!path.exists());
    fixture.attempt("2", "1\nhalf\n");
    for _ in 0..2 {
        fixture
            .engine(|engine| engine.write_projections_if_last(fixture.state()))
            .unwrap();
        fixture
            .engine(|engine| engine.apply_due_events(fixture.state()))
            .unwrap();
    }
    let said = fs::read_to_string(&path).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    let line: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&line["plan"], &line["result"], &line["steps_skipped"]),
        (&"demo.md".into(), &"partial".into(), &1.into())
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}

//! The files that a run of steps has for others: the progress file beside its plan, and the line of statistics.

use std::fs;

use omo_engine::report::ultraplan::RunScope;
use omo_engine::request::arguments::{PlanSelection, RunMode};
use serde_json::Value;

use crate::Named;
use crate::ultraplan_lab::{Stage, TOLD, plan_text, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "the_progress_file_follows_each_event_and_shows_in_no_status",
        the_progress_file_follows_each_event_and_shows_in_no_status,
    ),
    ("a_session_that_runs_by_itself_has_a_file_of_its_own", a_session_that_runs_by_itself_has_a_file_of_its_own),
    ("an_edited_file_is_kept", an_edited_file_is_kept),
    ("a_run_goes_on_without_its_progress_file", a_run_goes_on_without_its_progress_file),
    ("a_progress_file_in_a_commit_is_no_work_of_a_task", a_progress_file_in_a_commit_is_no_work_of_a_task),
    ("the_end_of_a_run_is_counted_once", the_end_of_a_run_is_counted_once),
];

const PROGRESS: &str = "plans/.ultraexecute-progress-demo.json";
const GREEN: &str = "0\ndone\n";

fn two() -> String {
    plan_text(&[usual_step(1, "revert"), usual_step(2, "skip")], "")
}

fn progress(stage: &Stage, path: &str) -> Value {
    serde_json::from_str(&stage.file(path).unwrap()).unwrap()
}

fn the_progress_file_follows_each_event_and_shows_in_no_status() {
    let stage = Stage::new(&two());
    let started = stage.start("1").unwrap();
    assert_eq!(progress(&stage, PROGRESS)["steps"]["1"]["status"], "running");
    stage.write("src/1.rs", GREEN);
    stage.done(&started.ticket);
    let said = progress(&stage, PROGRESS);
    assert_eq!(
        (&said["steps"]["1"]["status"], &said["current_step"], &said["status"]),
        (&"passed".into(), &1.into(), &"in-progress".into())
    );
    assert_eq!(said["steps"]["1"]["commit"], stage.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(
        (stage.committed(), stage.git(&["status", "--porcelain"])),
        (vec!["src/1.rs".to_owned()], String::new())
    );
    assert!(!stage.root().join(".claude").exists(), "no file of another seed");
    stage.attempt("2", GREEN);
    let said = progress(&stage, PROGRESS);
    assert_eq!((&said["status"], &said["summary"]), (&"completed".into(), &"COMPLETED".into()));
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
    let stage =
        Stage::with(&plan_text(&[usual_step(1, "revert"), usual_step(2, "skip")], session), |plan| plan, Some(asked));
    stage.attempt("2", GREEN);
    let said = progress(&stage, "plans/.ultraexecute-progress-demo-session-2.json");
    assert_eq!((&said["status"], &said["total_steps"]), (&"completed".into(), &1.into()));
    assert_eq!(stage.file(PROGRESS), None);
}

fn an_edited_file_is_kept() {
    let stage = Stage::new(&two());
    let started = stage.start("1").unwrap();
    stage.write(PROGRESS, "mine");
    stage.write("src/1.rs", GREEN);
    stage.done(&started.ticket);
    assert_eq!(stage.file(&format!("{PROGRESS}.edited-1")).unwrap(), "mine");
    assert_eq!(progress(&stage, PROGRESS)["steps"]["1"]["status"], "passed");
    assert_eq!((stage.state().changed_files.len(), stage.git(&["status", "--porcelain"])), (1, String::new()));
    assert_eq!(stage.committed(), ["src/1.rs"]);
}

fn a_run_goes_on_without_its_progress_file() {
    let stage = Stage::new(&two());
    fs::create_dir_all(stage.root().join(PROGRESS)).unwrap();
    stage.attempt("1", GREEN);
    assert_eq!(stage.standing("1"), "passed");
    let told = TOLD.lock().unwrap().join("\n");
    let path = stage.root().join(PROGRESS);
    assert!(told.contains("the progress file was not written") && told.contains(&*path.to_string_lossy()), "{told}");
}

fn a_progress_file_in_a_commit_is_no_work_of_a_task() {
    let stage = Stage::new(&two());
    // That of another plan, too, which a run in another work tree writes.
    let other = "plans/.ultraexecute-progress-other.json";
    for path in [PROGRESS, other] {
        stage.write(path, "{}");
        stage.git(&["add", "-f", path]);
    }
    stage.git(&["commit", "-qm", "by mistake"]);
    let started = stage.start("1").unwrap();
    stage.write("src/1.rs", GREEN);
    stage.write(other, "{ }");
    let judged = stage.done(&started.ticket);
    let end = judged.state.tasks["1"].last_end.as_ref().unwrap();
    assert_eq!(
        (end.files.as_slice(), stage.committed()),
        (["src/1.rs".to_owned()].as_slice(), vec!["src/1.rs".to_owned()])
    );
    // Nor is it taken back with one.
    stage.attempt("2", "1\nhalf\n");
    assert_eq!(
        (stage.standing("2"), progress(&stage, PROGRESS)["steps"]["2"]["status"].clone()),
        ("skipped", "skipped".into())
    );
}

fn the_end_of_a_run_is_counted_once() {
    let stage = Stage::new(&two());
    let path = stage.data().join("ultraexecute-stats.jsonl");
    stage.attempt("1", GREEN);
    assert!(!path.exists());
    stage.attempt("2", "1\nhalf\n");
    for _ in 0..2 {
        stage.engine(|engine| engine.write_projections_if_last(stage.state())).unwrap();
        stage.engine(|engine| engine.settle(stage.state())).unwrap();
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
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

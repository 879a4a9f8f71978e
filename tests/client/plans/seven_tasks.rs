//! Seven tasks with three hard stops, one that goes wrong and one that needs it, through a session that dies.

use omo_testkit::model::{RecordedRequest, RequestKind};
use serde_json::Value;

use super::obedient_model::{Trouble, obedient_script};
use super::{
    CHECKPOINT, REPORT, SEVEN, blocks, code, file, omo, planned, start_prompt, tasks, type_prompt,
};
use crate::client_lab::ClientFixture;

const COMMAND: &str = "/omo:execute-plan docs/plan.md --batch-size 2";

#[test]
fn seven_tasks_are_executed_through_three_stops_and_a_session_that_dies() {
    let trouble = Trouble {
        wrong: Some("4"),
        hangs: Some("4"),
        ..Trouble::default()
    };
    let fixture = planned(SEVEN, obedient_script(trouble));
    let id = opened(&fixture);
    assert_eq!(
        tasks(&fixture)[..3],
        ["1 passed 1", "2 passed 1", "3 pending 0"]
    );
    killed_at_task_four(&fixture, &id);
    assert_eq!(
        tasks(&fixture)[1..5],
        ["2 passed 1", "3 passed 1", "4 running 1", "5 pending 0"]
    );

    // Another session: it takes the run over, and what had passed is not begun again.
    let next = type_prompt(&fixture, "/omo:execute-plan docs/plan.md", &[]);
    let next_id = next.session_id().unwrap();
    assert_ne!(next_id, id);
    assert_eq!(
        tasks(&fixture)[..5],
        [
            "1 passed 1",
            "2 passed 1",
            "3 passed 1",
            "4 failed 1",
            "5 pending 0"
        ]
    );
    for _ in 0..2 {
        let _ = type_prompt(&fixture, "/omo:execute-plan", &["--resume", next_id]);
    }
    ended(&fixture);
    assert_eq!(
        blocks(&fixture),
        [
            "STOP: Batch 1 of 4 of docs/plan.md is over: 2 of 7 tasks done.",
            "STOP: Batch 2 of 4 of docs/plan.md is over: 3 of 7 tasks done, 1 failed, 1 blocked.",
            "STOP: Batch 3 of 4 of docs/plan.md is over: 4 of 7 tasks done, 1 failed, 1 blocked.",
            "DONE: Failed at task 4",
        ]
    );
    assert_eq!(fixture.model.unscripted(), 0);
}

/// The person is shown what would run, before any model is asked, and agrees to it; gives the session.
fn opened(fixture: &ClientFixture) -> String {
    let shown = type_prompt(fixture, COMMAND, &[]);
    let shown = shown.result().unwrap();
    assert_eq!(
        fixture.requests(),
        0,
        "no model reads what is to be approved"
    );
    for part in [
        "omo runs these 7 commands of docs/plan.md",
        "\n  7  grep -q seven words/7.txt\n",
        "/omo:execute --approve ",
    ] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
    let run = type_prompt(
        fixture,
        &format!("{COMMAND} --approve {}", code(shown)),
        &[],
    );
    assert!(
        fixture.count(0, "omo: opened the run") > 0,
        "the run is not open in the turn that approved it"
    );
    run.session_id().unwrap().to_owned()
}

/// The session goes on past its stop, and its client is killed while task 4 is worked on.
fn killed_at_task_four(fixture: &ClientFixture, id: &str) {
    let mut client = start_prompt(fixture, "/omo:execute-plan", &["--resume", id]);
    let is_four = |request: &RecordedRequest| {
        request.kind == RequestKind::Agent && request.all_text().contains("Task 4 of ")
    };
    let hangs = |requests: &[RecordedRequest]| requests.iter().any(is_four);
    let waited = fixture.model.wait_for("task 4 is begun", hangs);
    client.kill().expect("kill the client");
    client.wait().expect("the client is gone");
    waited.unwrap();
}

/// What is left of it in the files, for people and for other tools.
fn ended(fixture: &ClientFixture) {
    assert_eq!(
        tasks(fixture)[3..],
        ["4 failed 1", "5 passed 1", "6 blocked 0", "7 passed 1"]
    );
    let checkpoint: Value =
        serde_json::from_str(&file(fixture, CHECKPOINT).expect("the checkpoint is kept")).unwrap();
    assert_eq!(checkpoint["status"], "completed_with_failures");
    assert_eq!(checkpoint["completed"]["4"]["status"], "failed");
    assert_eq!(checkpoint["completed"]["6"]["status"], "blocked");
    let report = file(fixture, REPORT).unwrap();
    // Whose word it was, and when, is another in each run.
    let lines: Vec<_> = report
        .lines()
        .map(|line| line.split(" (session ").next().unwrap_or(line))
        .collect();
    assert_eq!(lines.join("\n"), include_str!("seven-report.md").trim_end());
    let (section, status) = omo(fixture, &["report", "--format", "summary"]);
    assert_eq!((section, status), (report, Some(0)));
}

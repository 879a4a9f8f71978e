//! A client that is killed in the middle of a wave, and the session after it.

use super::scripted_agents::{Trouble, task, task_list_script};
use super::{
    MAY_SHOW, Task, WORD, approve, approved, command, dispatched, events, file, planned, story,
};
use crate::plans::{start_prompt, type_prompt};
use omo_testkit::model::{RecordedRequest, RequestKind};

const THREE: [Task; 3] = [("1", "", WORD), ("2", "1", WORD), ("3", "1", WORD)];

#[test]
fn a_client_that_is_killed_loses_nothing_that_was_done_and_the_next_one_goes_on() {
    let fixture = planned(
        &THREE,
        task_list_script(Trouble {
            hangs: Some("2"),
            ..Trouble::default()
        }),
    );
    let mut client = start_prompt(&fixture, &approve(&fixture, ""), &MAY_SHOW);
    let hangs = |request: &RecordedRequest| {
        request.kind == RequestKind::Agent && task(request) == "2" && request.answers() == 1
    };
    // The other worker of the wave is through.
    let waited = fixture
        .model
        .wait_for("task 2 hangs, and 3 is done", |requests| {
            let is_done = |request: &RecordedRequest| {
                request.kind == RequestKind::Agent && task(request) == "3" && request.answers() == 3
            };
            requests.iter().any(hangs) && requests.iter().any(is_done)
        });
    client.kill().expect("kill the client");
    client.wait().expect("the client is gone");
    waited.unwrap();
    assert_eq!(file(&fixture, "tasks/2.json", "/status"), "in_progress");
    let before = events(&fixture).len();

    // Another session of the client: what had passed is not begun again.
    let next = type_prompt(&fixture, &command(""), &MAY_SHOW);
    assert!(
        next.result().unwrap().contains("## Execution Complete"),
        "{next:?}"
    );
    assert_eq!(dispatched(&fixture), ["2 3", "verify"]);
    let after: Vec<_> = events(&fixture)[before..]
        .iter()
        .map(|event| event["kind"].clone())
        .collect();
    assert_eq!(after[..2], ["holder_changed", "task_held"]);
    let again = file(&fixture, "tasks/2.json", "/retry_count")
        .as_u64()
        .unwrap_or(0);
    assert_eq!(again, 0, "a worker that is lost is no attempt");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
fn a_worker_that_ends_without_a_word_is_given_up_and_its_task_is_begun_again() {
    let fixture = planned(
        &THREE[..1],
        task_list_script(Trouble {
            silent: Some("1"),
            ..Trouble::default()
        }),
    );
    let run = approved(&fixture, "");
    assert!(
        run.result().unwrap().contains("## Execution Complete"),
        "{run:?}"
    );
    let story = story(&fixture).join(", ");
    let expected = "task_started 1, task_started 1, task_passed 1, task_started verify, verdict_given true, run_ended complete";
    assert_eq!(story, expected, "what a worker only says passes nothing");
    assert_eq!(fixture.model.unscripted(), 0);
}

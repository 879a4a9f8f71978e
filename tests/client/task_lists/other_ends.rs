//! How a session ends otherwise: without a verifier, given up by its user, or gone over often enough.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use omo_testkit::model::{RecordedRequest, RequestKind};

use super::scripted_agents::{Trouble, task, task_list_script};
use super::{MAY_SHOW, SESSION, Task, WORD, agents, approved, command, file, planned, said, story};
use crate::plans::type_prompt;

/// Two tasks, one behind the other.
const TWO: [Task; 2] = [("1", "", WORD), ("2", "1", WORD)];

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_run_without_verification_says_so_in_its_report() {
    let fixture = planned(&TWO, task_list_script(Trouble::default()));
    let run = approved(&fixture, " --skip-verify");
    assert!(run.result().unwrap().contains("## Execution Complete (verification skipped)"), "{run:?}");
    assert_eq!(agents(&fixture), [("1", "sonnet")]);
    assert_eq!(
        story(&fixture).join(", "),
        "task_started 1, task_passed 1, task_started 2, task_passed 2, run_ended complete"
    );
    assert_eq!(file(&fixture, "session.json", "/phase"), "COMPLETE");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_session_that_its_user_gave_up_ends_quietly_and_nothing_is_begun_again() {
    let (word, receiver) = mpsc::channel();
    let trouble = Trouble { blocked: Some(("1", Arc::new(Mutex::new(receiver)))), ..Trouble::default() };
    let fixture = planned(&TWO, task_list_script(trouble));
    let run = thread::scope(|scope| {
        let run = scope.spawn(|| approved(&fixture, ""));
        let is_begun = |request: &RecordedRequest| {
            request.kind == RequestKind::Agent && task(request) == "1" && request.answers() == 1
        };
        fixture.model.wait_for("task 1 is begun", |requests| requests.iter().any(is_begun)).unwrap();
        said(&fixture, &["run", "cancel"]);
        word.send(()).expect("the worker waits");
        run.join().expect("the session ends")
    });
    assert!(run.result().unwrap().contains("Execution cancelled: by its user."), "{run:?}");
    assert_eq!(story(&fixture).join(", "), "task_started 1, run_cancelled");
    assert_eq!(file(&fixture, "session.json", "/phase"), "CANCELLED");
    let agents = fixture.model.requests_of(RequestKind::Agent).len();
    let again = type_prompt(&fixture, &command(""), &[]);
    let line = format!("The task list {SESSION} was cancelled; nothing of it is done.");
    assert_eq!(again.result().unwrap().trim(), line);
    assert_eq!(fixture.model.requests_of(RequestKind::Agent).len(), agents);
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_session_that_was_gone_over_often_enough_fails_and_goes_on_where_its_person_says_so() {
    let trouble = Trouble { wrong: Some(("1", 3)), ..Trouble::default() };
    let fixture = planned(&TWO, task_list_script(trouble));
    let run = approved(&fixture, " --max-iterations 2");
    let report = run.result().unwrap().to_owned();
    for part in
        ["## Execution Failed", "**Iterations:** 2/2 (max reached)", "**Result:** ✗ FAIL", "tasks/1.json", "--again"]
    {
        assert!(report.contains(part), "{part} is not in:\n{report}");
    }
    let failed = "task_started 1, task_failed 1, round_started 2, task_started 1, task_failed 1, run_ended failed";
    assert_eq!(story(&fixture).join(", "), failed);
    assert_eq!(file(&fixture, "session.json", "/phase"), "FAILED");

    let before = fixture.requests();
    let again = type_prompt(&fixture, &command(""), &[]);
    let said = again.result().unwrap();
    assert!(said.contains("## Execution Failed") && !said.contains("Show the user"), "{said}");
    assert_eq!(fixture.requests(), before, "no model is asked where nothing goes on");
    assert_eq!(agents(&fixture).len(), 2);
    let again = type_prompt(&fixture, &command(" --again"), &MAY_SHOW);
    assert!(again.result().unwrap().contains("## Execution Complete"), "{again:?}");
    assert_eq!(agents(&fixture)[2..], [("1", "opus"), ("2", "sonnet"), ("verify", "opus")]);
    assert_eq!(fixture.model.unscripted(), 0);
}

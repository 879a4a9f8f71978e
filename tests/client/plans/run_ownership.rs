//! Who may go on with a run: the session that holds it, behind its person's word.

use std::time::Duration;

use omo_testkit::Terminal;
use omo_testkit::model::{RecordedRequest, RequestKind};

use super::obedient_model::{Trouble, obedient_script};
use super::{
    ACCEPT_EDITS, SEVEN, approved, blocks, code, planned, tasks, type_prompt, words, written,
};

const COMMAND: &str = "/omo:execute-plan docs/plan.md --batch-size 1";

#[test]
fn a_second_session_learns_who_owns_the_run_and_only_a_person_passes_a_stop() {
    let trouble = Trouble {
        oversteps: true,
        ..Trouble::default()
    };
    let fixture = planned(&words(), obedient_script(trouble));
    let first =
        Terminal::start(&fixture.lab, &fixture.client, &ACCEPT_EDITS).expect("start a terminal");
    first.ready().unwrap();
    first.say(COMMAND).unwrap();
    let screen = first.wait_for("To approve exactly these commands").unwrap();
    first.ready().unwrap();
    first
        .say(&format!("{COMMAND} --approve {}", code(&screen)))
        .unwrap();
    // The model answers for its person, and shows what came of it.
    let screen = first.wait_for("To go on, type: /omo:execute").unwrap();
    for part in [
        "question q1 waits for a person",
        "Exit code 7",
        "Paused at hard-stop",
        "Next: tasks 2, 3.",
    ] {
        assert!(
            screen.contains(part),
            "{part} is not on the screen:\n{screen}"
        );
    }
    first.ready().unwrap();

    let before = written(&fixture);
    for prompt in [COMMAND, "/omo:execute-plan"] {
        let second = type_prompt(&fixture, prompt, &[]);
        let said = second.result().unwrap();
        assert!(
            said.contains("the run is held by session ") && said.contains("`omo run resume`"),
            "{prompt}: {said}"
        );
    }
    assert_eq!(written(&fixture), before);
    assert_eq!(
        tasks(&fixture),
        ["1 passed 1", "2 pending 0", "3 pending 0"]
    );

    first.say("/omo:execute-plan").unwrap();
    first.wait_for("Execution complete: complete").unwrap();
    assert_eq!(tasks(&fixture), ["1 passed 1", "2 passed 1", "3 passed 1"]);
}

#[test]
fn in_ultrawork_a_turn_that_ends_early_goes_on_and_a_stop_passes() {
    let trouble = Trouble {
        lazy: true,
        ..Trouble::default()
    };
    let mut fixture = planned(SEVEN, obedient_script(trouble));
    // What was handed out and has not begun goes to another agent after two minutes.
    fixture.client = fixture.client.with_limit(Duration::from_mins(4));
    let run = approved(&fixture, " --batch-size 2", &[]);
    let id = run.session_id().unwrap();
    // A user who turns it on while the run waits for them is not held.
    let _ = type_prompt(&fixture, "ulw what does it wait for", &["--resume", id]);
    assert_eq!(fixture.stops(), ["7: allow"]);

    let _ = type_prompt(&fixture, "/omo:execute-plan", &["--resume", id]);
    let is_continued = |request: &&RecordedRequest| {
        request
            .last_user_text()
            .contains("Stop hook additional context:")
    };
    let requests = fixture.model.requests_of(RequestKind::Main);
    let continued: Vec<_> = requests.iter().filter(is_continued).collect();
    assert_eq!(continued.len(), 1);
    assert!(continued[0].count_of("stands at 2 of 7 tasks; next: `omo agent next`.") > 0);
    // The agent that it had not started: the task is waited for, and handed out once more.
    let shown = blocks(&fixture);
    let (last, before) = shown[1..].split_last().unwrap();
    assert_eq!(
        last, "STOP: Batch 2 of 4 of docs/plan.md is over: 4 of 7 tasks done.",
        "{shown:?}"
    );
    let is_handed_out = |block: &String| {
        block.starts_with("WAIT: Task 3 went ") || block.contains(" next is task 3, ")
    };
    assert!(before.iter().all(is_handed_out), "{shown:?}");
    assert_eq!(fixture.stops()[1..], ["15: block", "7: allow"]);

    // The person's own word, without the command and what it allows: this client asks for nothing.
    let _ = fixture.print("continue", &["--resume", id]);
    assert_eq!(
        blocks(&fixture).last().unwrap(),
        "STOP: Batch 3 of 4 of docs/plan.md is over: 6 of 7 tasks done."
    );
    assert_eq!(fixture.model.unscripted(), 0);
}

/// What the command of a run allows ends with its turn: a model that went on would have its person asked about each
/// command of omo, or be denied it where none can be asked.
#[test]
fn a_plain_continue_behind_a_stop_asks_for_no_permission_and_names_the_line_that_goes_on() {
    let fixture = planned(SEVEN, obedient_script(Trouble::default()));
    let run = approved(&fixture, " --batch-size 2", &[]);
    let id = run.session_id().unwrap();
    let (before, asked) = (tasks(&fixture), fixture.requests());
    let said = type_prompt(&fixture, "continue", &["--resume", id]);
    let result = format!("{said:?}");
    assert!(
        result.contains("goes on when you type:") && result.contains("/omo:execute"),
        "{result}"
    );
    assert_eq!(
        (tasks(&fixture), fixture.requests()),
        (before, asked),
        "a model was asked, or the run went on"
    );

    let terminal = Terminal::start(
        &fixture.lab,
        &fixture.client,
        &[&ACCEPT_EDITS[..], &["--resume", id]].concat(),
    );
    let terminal = terminal.expect("start a terminal");
    terminal.ready().unwrap();
    terminal.say("go on").unwrap();
    terminal.wait_for("goes on when you type:").unwrap();
    terminal.ready().unwrap();
    terminal.say("/omo:execute").unwrap();
    let screen = terminal
        .wait_for("Batch 2 of 4 of docs/plan.md is over")
        .unwrap();
    assert!(!screen.contains("Do you want to proceed?"), "{screen}");
}

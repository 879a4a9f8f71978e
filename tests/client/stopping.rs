//! Stopping the run: typed while the loop runs, in every spelling, and from another terminal.

use std::time::Duration;

use omo_testkit::{ModelScript, ModelTurn};

use crate::client_lab::client_lab;

/// A turn that leaves a person time to type.
fn slow(text: &str) -> ModelTurn {
    ModelTurn::text(text).delay(Duration::from_secs(4))
}

#[test]
fn typed_while_the_loop_runs_it_ends_the_loop_and_costs_no_request() {
    let script = ModelScript::new()
        .say("First step.")
        .turn(slow("Second step."))
        .say("A plain answer.");
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    fixture.wait_for_requests(2);
    terminal
        .say("/omo:stop-continuation enough for today")
        .unwrap();
    terminal
        .wait_for("[omo] ultrawork is stopped in this session")
        .unwrap();

    assert_eq!(fixture.requests(), 2);
    assert_eq!(fixture.stops(), ["15: block", "5: allow"]);
    assert_eq!(fixture.state("/stopContinuation/disabled"), true);
    assert_eq!(
        fixture.state("/stopContinuation/disabledReason"),
        "enough for today"
    );
    assert_eq!(fixture.state("/verdict/kind"), "stopped");

    terminal.say("and how are you").unwrap();
    terminal.wait_for("A plain answer.").unwrap();
    terminal.ready().unwrap();
    assert_eq!(fixture.requests(), 3);
    assert_eq!(
        fixture.count(2, "stop-continuation enough"),
        0,
        "nothing of the command is in the context"
    );
    assert_eq!(fixture.stops().len(), 2, "no Stop is decided any more");
}

#[test]
fn plain_text_typed_during_a_turn_comes_before_the_loop() {
    let script = ModelScript::new()
        .turn(slow("First step."))
        .say("Yes, that too.")
        .default(ModelTurn::text("Still at it."));
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    fixture.wait_for_requests(1);
    terminal.say("please also look at the lexer").unwrap();
    terminal.wait_for("Yes, that too.").unwrap();
    assert_eq!(fixture.stops().first().unwrap(), "5: allow");
    assert!(fixture.count(1, "please also look at the lexer") > 0);
}

#[test]
fn plain_words_stop_the_loop_in_the_middle_of_a_turn_and_the_next_task_is_that_one_alone() {
    let script = ModelScript::new()
        .say("First step.")
        .turn(slow("Second step."))
        .say("I have stopped.")
        .say("Working on B.")
        .say("<promise>BLOCKED: no files</promise>")
        .default(ModelTurn::text("Still at it."));
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix A").unwrap();
    fixture.wait_for_requests(2);
    terminal.say("stop. do not continue.").unwrap();
    terminal
        .wait_for("[omo] ultrawork is paused because you said so")
        .unwrap();
    terminal.wait_for("I have stopped.").unwrap();
    fixture.wait_for_state("a Stop that is let through", |_| {
        fixture.stops().last().is_some_and(|it| it == "7: allow")
    });
    assert_eq!(fixture.requests(), 3);

    terminal.say("ulw off").unwrap();
    terminal
        .wait_for("[omo] ultrawork is stopped in this session")
        .unwrap();
    // The client leaves the text of an answered prompt in its input line.
    terminal.key("C-u").unwrap();
    terminal.say("ulw fix B").unwrap();
    terminal.wait_for("[omo] BLOCKED").unwrap();
    assert_eq!(fixture.state("/ulw/task"), "ulw fix B");
    assert_eq!(fixture.state("/ulw/askedLater"), serde_json::json!([]));
}

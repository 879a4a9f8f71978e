//! Esc and errors: a run waits for its user, and says so once.

use std::time::Duration;

use omo_testkit::{ModelScript, ModelTurn};
use serde_json::json;

use crate::client_lab::{CLAIM, client_lab, client_lab_with};

const PAUSED: &str = "ultrawork is paused because you interrupted it";

#[test]
fn esc_pauses_and_the_next_prompt_says_so_once() {
    let stream = ModelTurn::text("First paragraph.\n\nSecond paragraph.\n\nThird paragraph.");
    let script = ModelScript::new()
        .turn(stream.stream_chunks(60, Duration::from_millis(300)))
        .say("A plain answer.")
        .say("Another answer.")
        .say(CLAIM);
    // Without its animations the client shows no answer before its end.
    let fixture = client_lab_with(script, |lab| {
        lab.settings(json!({"prefersReducedMotion": false}))
    });
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("First paragraph.").unwrap();
    terminal.key("Escape").unwrap();
    terminal.wait_for("Interrupted").unwrap();

    terminal.say("how is the weather").unwrap();
    let screen = terminal.wait_for("A plain answer.").unwrap();
    assert!(screen.contains(PAUSED), "{screen}");
    terminal.say("and tomorrow").unwrap();
    let screen = terminal.wait_for("Another answer.").unwrap();
    assert_eq!(screen.matches(PAUSED).count(), 1, "{screen}");
    terminal.ready().unwrap();
    assert_eq!(
        (fixture.requests(), fixture.state("/ulw/stopBlocks")),
        (3, 0.into())
    );

    terminal.say("ulw go on then").unwrap();
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    assert_eq!(fixture.requests(), 4);
}

#[test]
fn a_prompt_taken_back_before_any_answer_holds_nothing_later() {
    let never = ModelTurn::text("Too late.").delay(Duration::from_secs(50));
    let fixture = client_lab(ModelScript::new().turn(never).say("A plain answer."));
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    fixture.wait_for_requests(1);
    terminal.key("Escape").unwrap();
    let back = |_: &str| {
        terminal
            .input()
            .is_some_and(|text| text.contains("ulw fix the parser"))
    };
    terminal
        .wait_until("the prompt is back in the box", back)
        .unwrap();
    terminal.key("C-u").unwrap();
    terminal.ready().unwrap();

    terminal.say("how is the weather").unwrap();
    let screen = terminal.wait_for("A plain answer.").unwrap();
    assert!(screen.contains(PAUSED), "{screen}");
    terminal.ready().unwrap();
    assert_eq!(fixture.requests(), 2);
    assert_eq!(fixture.state("/ulw/stopBlocks"), 0);
}

#[test]
fn an_error_that_needs_a_person_pauses_and_a_rate_limit_does_not() {
    for (status, kind, paused) in [
        (401, "authentication_error", true),
        (429, "rate_limit_error", false),
    ] {
        let script = ModelScript::new().default(ModelTurn::error(status, kind, "no"));
        let fixture = client_lab_with(script, |lab| lab.env("CLAUDE_CODE_MAX_RETRIES", "0"));
        let terminal = fixture.terminal();
        terminal.say("ulw fix the parser").unwrap();
        fixture.wait_for_state("the error is seen", |state| {
            state.to_string().contains("\"StopFailure\":\"2")
        });
        assert_eq!(fixture.state("/ulw/enabled"), true, "{kind}");
        assert_eq!(
            fixture.state("/ulw/paused/reason") == "apiError",
            paused,
            "{kind}"
        );
        assert_eq!(fixture.state("/ulw/stopBlocks"), 0, "{kind}");
    }
}

//! A session that is held: until it claims, and never beyond its bounds.

use omo_testkit::{ModelScript, ModelTurn};
use omo_tests::MAX_BLOCKS;

use crate::client_lab::{CLAIM, client_lab};

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn the_keyword_holds_the_session_until_it_claims() {
    let script = ModelScript::new().say("I have looked around.").bash("true").say(CLAIM);
    let fixture = client_lab(script);
    let run = fixture.print("ulw fix the parser", &[]);

    assert_eq!(fixture.requests(), 3, "{run:?}");
    for request in 0..3 {
        assert_eq!(fixture.count(request, "The user turned on ultrawork"), 1, "request {request}");
    }
    assert_eq!(fixture.count(0, &format!("block 1 of {MAX_BLOCKS}")), 0);
    assert!(fixture.count(1, &format!("block 1 of {MAX_BLOCKS}")) > 0);
    assert_eq!(run.result(), Some(CLAIM));
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    assert_eq!(fixture.state("/verdict/kind"), "released");
    assert_eq!(fixture.state("/verdict/why"), "claimed, not verified");
    assert_eq!(fixture.state("/ulw/task"), "ulw fix the parser");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_person_sees_what_goes_on_and_how_it_ended() {
    let script = ModelScript::new().say("I have looked around.").bash("true").say(CLAIM);
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    let screen = terminal.wait_for("[omo] NOT PROVED: claimed, not verified").unwrap();
    for line in [
        "I have looked around.",
        &format!("block 1 of {MAX_BLOCKS}"),
        "/omo:stop-continuation",
        "[omo] on: no check and no review",
        "`ulw` goes on with the task",
        "shows it as a page:",
        "/.local/state/omo/reports/ultrawork-",
    ] {
        assert!(screen.contains(line), "{line} is not on the screen:\n{screen}");
    }
    assert_eq!(fixture.pages("ultrawork-").len(), 1);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_reason_why_it_cannot_be_done_ends_the_run_at_once() {
    let script = ModelScript::new().say("There is no database here.\n\n<promise>BLOCKED: no database</promise>");
    let fixture = client_lab(script);
    fixture.play("ulw migrate the database");
    assert_eq!(fixture.stops(), ["8: end: blocked"]);
    assert_eq!(fixture.state("/verdict/why"), "no database");
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn no_more_than_all_continuations_are_made_with_tools_in_between() {
    let script =
        (0..MAX_BLOCKS).fold(ModelScript::new().say("Not yet."), |script, _| script.bash("true").say("Not yet."));
    let fixture = client_lab(script);
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.requests(), MAX_BLOCKS as usize * 2 + 1);
    assert_eq!(fixture.state("/ulw/stopBlocks"), MAX_BLOCKS);
    assert_eq!(fixture.state("/verdict/why"), format!("{MAX_BLOCKS} of {MAX_BLOCKS} continuations used"));
    assert_eq!(fixture.stops().last().unwrap(), "11: end: released");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn no_more_than_all_continuations_are_made_without_a_tool_in_between() {
    let fixture = client_lab(ModelScript::new().say_times(MAX_BLOCKS as usize + 1, "Not yet."));
    fixture.lab.configure("[limits]\ncooldown_seconds = 0\n").unwrap();
    let run = fixture.print("ulw fix the parser", &[]);
    assert_eq!(fixture.requests(), MAX_BLOCKS as usize + 1);
    assert_eq!(fixture.stops().last().unwrap(), "11: end: released");
    // The client itself never had to step in, which would have cost the answer.
    assert_eq!(run.result(), Some("Not yet."));
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_model_that_only_talks_is_released_after_one_continuation() {
    let fixture = client_lab(ModelScript::new().say_times(2, "Not yet."));
    // Longer than a busy machine takes for a turn.
    fixture.lab.configure("[limits]\ncooldown_seconds = 300\n").unwrap();
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.requests(), 2);
    assert_eq!(fixture.stops(), ["15: block", "14: warn"]);
    assert_eq!(fixture.state("/ulw/enabled"), true, "the run stays on");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn feedback_as_context_reaches_the_model_once() {
    let fixture = client_lab(ModelScript::new().say("Not yet.").bash("true").say(CLAIM));
    fixture.lab.configure("[stop]\nfeedback = \"context\"\n[verify]\nreview = false\n").unwrap();
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.count(1, "The turn ended without a claim"), 1);
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
}

/// docs/adr/0028: the alarm goes with every block, and with no context.
#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_block_is_shown_as_an_alarm_and_context_is_not() {
    const ALARM: &str = "Stop hook reported a problem";
    for (feedback, shown, hidden) in [("block", ALARM, "Stop hook says:"), ("context", "Stop hook says:", ALARM)] {
        let fixture = client_lab(ModelScript::new().say("Not yet.").bash("true").say(CLAIM));
        fixture.lab.configure(&format!("[stop]\nfeedback = \"{feedback}\"\n[verify]\nreview = false\n")).unwrap();
        let terminal = fixture.terminal();
        terminal.say("ulw fix the parser").unwrap();
        terminal.wait_for("All of it is done and checked.").unwrap();
        terminal.ready().unwrap();
        let screen = terminal.screen();
        assert!(screen.contains(shown), "{feedback}: no {shown:?} on the screen:\n{screen}");
        assert!(
            !screen.to_lowercase().contains(&hidden.to_lowercase()),
            "{feedback}: {hidden:?} on the screen:\n{screen}"
        );
        assert!(screen.contains(&format!("block 1 of {MAX_BLOCKS}")), "{feedback}:\n{screen}");
        assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    }
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_promise_in_code_is_no_claim() {
    let quoted = "I will close with `<promise>DONE</promise>`";
    let fixture = client_lab(ModelScript::new().say(quoted).bash("true").turn(ModelTurn::text(CLAIM)));
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
}

//! A session that is held: until it claims, and never beyond its bounds.

use omo_testkit::ModelScript;
use omo_tests::MAX_BLOCKS;

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn a_person_sees_what_goes_on_and_how_it_ended() {
    let script = ModelScript::new().say("I have looked around.").bash("true").say(CLAIM);
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    let screen = terminal.wait_for("[omo] NOT PROVED: claimed, not verified").unwrap();
    for line in [
        "I have looked around.",
        &format!("block 1 of {MAX_BLOCKS}"),
        "`ulw off`",
        "[omo] on: no check and no review",
        "`ulw` goes on with the task",
        "shows it as a page:",
        "/.local/state/omo/reports/ultrawork-",
    ] {
        assert!(screen.contains(line), "{line} is not on the screen:\n{screen}");
    }
    assert_eq!(fixture.pages("ultrawork-").len(), 1);
    assert_eq!(fixture.requests(), 3);
    for request in 0..3 {
        assert_eq!(fixture.count(request, "The user turned on ultrawork"), 1, "request {request}");
    }
    let continued = format!("block 1 of {MAX_BLOCKS}");
    assert!(fixture.count(0, &continued) == 0 && fixture.count(1, &continued) > 0);
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    assert_eq!(fixture.state("/ulw/task"), "ulw fix the parser");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
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

/// docs/adr/0028: the alarm goes with every block, and with no context.
#[test]
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
        assert!(feedback == "block" || fixture.count(1, "The turn ended without a claim") == 1);
    }
}

//! A session that is held: until it claims, and never beyond its bounds.

use omo_testkit::ModelScript;
use omo_testkit::model::RequestKind;
use omo_tests::MAX_BLOCKS;
use serde_json::Value;

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn a_person_sees_what_goes_on_and_how_it_ended() {
    let script = ModelScript::new()
        .say("I have looked around.")
        .bash("true")
        .say(CLAIM);
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    let screen = terminal
        .wait_for("[omo] NOT PROVED: claimed, not verified")
        .unwrap();
    for line in [
        "I have looked around.",
        &format!("continuation 1 of {MAX_BLOCKS}"),
        "`ulw off`",
        "[omo] on: no check and no review",
        "`ulw` goes on with the task",
        "Page:",
        "/.local/state/omo/reports/project/",
    ] {
        assert!(
            screen.contains(line),
            "{line} is not on the screen:\n{screen}"
        );
    }
    assert_eq!(fixture.pages().len(), 1);
    assert_eq!(fixture.requests(), 3);
    for request in 0..3 {
        assert_eq!(
            fixture.count(request, "The user turned on ultrawork"),
            1,
            "request {request}"
        );
    }
    let continued = format!("continuation 1 of {MAX_BLOCKS}");
    assert!(fixture.count(0, &continued) == 0 && fixture.count(1, &continued) > 0);
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    assert_eq!(fixture.state("/ulw/task"), "ulw fix the parser");
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
fn no_more_than_all_continuations_are_made_without_a_tool_in_between() {
    let fixture = client_lab(ModelScript::new().say_times(MAX_BLOCKS as usize + 1, "Not yet."));
    fixture
        .lab
        .configure("[limits]\ncooldown_seconds = 0\n")
        .unwrap();
    let run = fixture.print("ulw fix the parser", &[]);
    assert_eq!(fixture.requests(), MAX_BLOCKS as usize + 1);
    assert_eq!(fixture.stops().last().unwrap(), "11: end: released");
    // The client itself never had to step in, which would have cost the answer.
    assert_eq!(run.result(), Some("Not yet."));
    assert_eq!(fixture.model.unscripted(), 0);
}

/// docs/adr/0028: the alarm goes with every block, and with no context, which this version is given by itself.
#[test]
fn a_block_is_shown_as_an_alarm_and_context_is_not() {
    const ALARM: &str = "Stop hook reported a problem";
    const CALM: &str = "Stop hook says:";
    for (feedback, shown, hidden) in [
        ("block", ALARM, CALM),
        ("context", CALM, ALARM),
        ("auto", CALM, ALARM),
    ] {
        let fixture = client_lab(ModelScript::new().say("Not yet.").bash("true").say(CLAIM));
        fixture
            .lab
            .configure(&format!(
                "[stop]\nfeedback = \"{feedback}\"\n[verify]\nreview = false\n"
            ))
            .unwrap();
        let terminal = fixture.terminal();
        terminal.say("ulw fix the parser").unwrap();
        terminal.wait_for("All of it is done and checked.").unwrap();
        terminal.ready().unwrap();
        let screen = terminal.screen();
        assert!(
            screen.contains(shown),
            "{feedback}: no {shown:?} on the screen:\n{screen}"
        );
        assert!(
            !screen.to_lowercase().contains(&hidden.to_lowercase()),
            "{feedback}: {hidden:?} on the screen:\n{screen}"
        );
        assert!(
            screen.contains(&format!("continuation 1 of {MAX_BLOCKS}")),
            "{feedback}:\n{screen}"
        );
        assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
        assert!(feedback == "block" || fixture.count(1, "The turn ended without a claim") == 1);
    }
}

/// The characters that a model is sent more for each continuation, with all that the client puts around them.
#[test]
fn a_continuation_costs_few_characters() {
    let script = ModelScript::new()
        .say("Not yet.")
        .bash("true")
        .say(CLAIM)
        .bash("touch done")
        .say(CLAIM)
        .bash("true")
        .say("So.");
    let fixture = client_lab(script);
    fixture
        .lab
        .configure("[limits]\ncooldown_seconds = 0\n")
        .unwrap();
    fixture
        .lab
        .write(
            "check.sh",
            "test -e done || { echo expected 5, got -1; exit 1; }\n",
        )
        .unwrap();
    let terminal = fixture.terminal();
    terminal
        .say("/omo:ulw --check \"sh check.sh\" fix the parser")
        .unwrap();
    fixture.wait_for_requests(2);
    let cost = |request: usize, mark: &str| {
        fixture.wait_for_requests(request + 1);
        let messages =
            fixture.model.requests_of(RequestKind::Main)[request].body["messages"].clone();
        let texts: Vec<String> = messages
            .as_array()
            .unwrap()
            .iter()
            .flat_map(texts_of)
            .collect();
        let told: Vec<&String> = texts.iter().filter(|text| text.contains(mark)).collect();
        assert!(
            !told.is_empty(),
            "{mark} is not in request {request}: {texts:?}"
        );
        told.into_iter()
            .map(|text| text.chars().count())
            .sum::<usize>()
    };
    assert!(cost(1, "[omo] The turn ended without a claim") <= 600);
    assert!(
        cost(3, "[omo] The claim was checked, and it does not hold")
            <= 600 + "expected 5, got -1\n".len()
    );
    assert!(cost(5, "[omo] All checks are green") <= 750);
}

/// The texts of a message, one for each block.
fn texts_of(message: &Value) -> Vec<String> {
    let content = &message["content"];
    match content.as_str() {
        Some(text) => vec![text.to_owned()],
        None => content
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .map(str::to_owned)
            .collect(),
    }
}

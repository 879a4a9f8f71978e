//! Sessions beside each other and after each other: a run belongs to one of them.

use omo_testkit::{ModelScript, ModelTurn};

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn a_resumed_session_goes_on_with_its_run() {
    let script = ModelScript::new()
        .say_times(2, "Not yet.")
        .bash("true")
        .say("Nearly.")
        .bash("true")
        .say(CLAIM);
    let fixture = client_lab(script);
    let first = fixture.print("ulw fix the parser", &[]);
    let id = first.session_id().unwrap().to_owned();
    let second = fixture.print("go on", &["--resume", &id]);
    assert_eq!(second.session_id(), Some(id.as_str()));
    assert_eq!(
        fixture.count(2, "The ultrawork run that the user turned on"),
        1
    );
    assert_eq!(
        fixture.stops(),
        ["15: block", "14: warn", "15: block", "9: end: released"]
    );
    assert_eq!(fixture.state("/ulw/stopBlocks"), 2);
}

#[test]
fn a_cleared_session_starts_without_a_run() {
    let script = ModelScript::new()
        .say_times(2, "Not yet.")
        .say("A fresh answer.");
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("ultrawork let this turn end").unwrap();
    terminal.ready().unwrap();
    terminal.say("/clear").unwrap();
    fixture.wait_for_state("the run is over", |state| {
        state.to_string().contains("the session was cleared")
    });
    terminal.ready().unwrap();
    terminal.say("hello again").unwrap();
    terminal.wait_for("A fresh answer.").unwrap();
    terminal.ready().unwrap();
    assert_eq!(fixture.requests(), 3);
    assert_eq!(
        fixture.count(2, "The user turned on ultrawork") + fixture.count(2, "ultrawork run that"),
        0
    );
}

#[test]
fn a_compaction_brings_the_contract_again() {
    let script = ModelScript::new()
        .say_times(2, "Not yet.")
        .compact(ModelTurn::text(
            "<analysis>a</analysis>\n<summary>\nThey fix a parser.\n</summary>",
        ))
        .say(CLAIM);
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("ultrawork let this turn end").unwrap();
    terminal.ready().unwrap();
    terminal.say("/compact").unwrap();
    terminal.wait_for("Compacted").unwrap();
    terminal.ready().unwrap();
    terminal.say("go on").unwrap();
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    assert_eq!(fixture.count(2, "The user turned on ultrawork"), 1);
    assert_eq!(fixture.count(2, "How a run goes"), 1);
}

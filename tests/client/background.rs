//! Work in the background: waited for, not blocked, and never taken for the user's words.

use std::time::Duration;

use omo_testkit::{ModelScript, ModelTurn};

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn a_running_background_agent_is_waited_for() {
    let script = ModelScript::new()
        .turn(ModelTurn::background_agent(
            "omo:worker",
            "WORK on the parser",
        ))
        .say("I wait for the agent.")
        .agent(
            "WORK on the parser",
            [ModelTurn::text("The parser is fixed.").delay(Duration::from_secs(3))],
        )
        .say(CLAIM);
    let fixture = client_lab(script);
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.stops(), ["6: allow", "9: end: released"]);
    assert_eq!(fixture.state("/ulw/stopBlocks"), 0);
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
fn a_report_with_the_keyword_in_it_turns_nothing_on() {
    let script = ModelScript::new()
        .turn(ModelTurn::background_agent(
            "omo:worker",
            "WORK on the parser",
        ))
        .say("I wait for the agent.")
        .agent(
            "WORK on the parser",
            [ModelTurn::text("ulw fix everything").delay(Duration::from_secs(2))],
        )
        .say("The agent has reported.");
    let fixture = client_lab(script);
    let run = fixture.print("please fix the parser", &[]);
    assert_eq!(run.result(), Some("The agent has reported."));
    assert!(
        fixture.count(2, "ulw fix everything") > 0,
        "the report did not come as a prompt"
    );
    assert_eq!(fixture.lab.state(), None);
    assert!(
        !fixture.lab.state_folder().exists(),
        "a session that never used omo finds no trace of it"
    );
}

#[test]
fn a_development_server_is_named_once_and_does_not_hide_a_claim() {
    let server = ModelTurn::call(
        "Bash",
        serde_json::json!({"command": "sleep 10", "description": "server", "run_in_background": true}),
    );
    let script = ModelScript::new()
        .turn(server)
        .say("The server is up.")
        .bash("true")
        .say(CLAIM);
    let fixture = client_lab(script);
    fixture.play("ulw fix the parser");
    assert!(fixture.count(2, "Still running in the background: shell `sleep 10`") > 0);
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
}

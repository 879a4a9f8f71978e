//! The status line in the real client: what is on the screen during a run, and after it.

use std::time::Duration;

use omo_testkit::{ModelScript, ModelTurn};
use omo_tests::MAX_BLOCKS;
use serde_json::json;

use crate::client_lab::{CLAIM, ClientFixture, client_lab_with, plugin};

/// A client whose settings hold this command.
fn fixture(script: ModelScript, command: &str) -> ClientFixture {
    let settings = json!({"statusLine": {"type": "command", "command": command}});
    client_lab_with(script, |lab| lab.settings(settings))
}

/// How long the model takes over its second turn: a person sees the run stand there.
const WORK: Duration = Duration::from_secs(4);

#[test]
fn it_stands_behind_the_status_line_that_was_there() {
    let omo = plugin().join("bin/omo");
    let script = ModelScript::new()
        .say("I have looked around.")
        .bash("true")
        .turn(ModelTurn::text(CLAIM).delay(WORK));
    let command = format!(
        "'{}' statusline --wrap 'printf \"in %s\" \"${{PWD##*/}}\"'",
        omo.display()
    );
    let fixture = fixture(script, &command);
    let terminal = fixture.terminal();
    terminal.wait_for("in project").unwrap();
    terminal.say("ulw fix the parser").unwrap();
    terminal
        .wait_for(&format!("in project · ulw 1/{MAX_BLOCKS} · 0m"))
        .unwrap();
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    terminal.wait_for("in project · ulw NOT PROVED").unwrap();
}

#[test]
fn it_is_written_and_taken_back_without_a_model() {
    let fixture = client_lab_with(ModelScript::new(), |lab| lab);
    let file = fixture.lab.home().join(".claude/settings.json");
    let said = fixture.print("/omo:statusline on", &[]);
    assert!(
        said.result()
            .unwrap()
            .contains("a run is shown below the prompt from now on"),
        "{said:?}"
    );
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains(" statusline")
    );
    let said = fixture.print("/omo:statusline off", &[]);
    assert!(
        said.result().unwrap().contains("is as it was before"),
        "{said:?}"
    );
    // The client writes settings of its own beside it.
    assert!(
        !std::fs::read_to_string(&file)
            .unwrap()
            .contains("statusLine")
    );
    assert_eq!(fixture.requests(), 0);
}

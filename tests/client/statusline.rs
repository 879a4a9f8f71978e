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
#[ignore = "needs the real client: cargo xtask test"]
fn the_status_is_on_the_screen_during_a_run_and_keeps_its_end() {
    let omo = plugin().join("bin/omo");
    let script = ModelScript::new().say("I have looked around.").bash("true").turn(ModelTurn::text(CLAIM).delay(WORK));
    let fixture = fixture(script, &format!("'{}' statusline", omo.display()));
    let terminal = fixture.terminal();
    assert!(!terminal.screen().contains(&format!("ulw 0/{MAX_BLOCKS}")));
    terminal.say("ulw fix the parser").unwrap();
    let screen = terminal.wait_for(&format!("ulw 1/{MAX_BLOCKS} · 0m")).unwrap();
    assert!(!screen.contains("[omo] NOT PROVED"), "{screen}");
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    terminal.wait_for("ulw NOT PROVED").unwrap();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn it_stands_behind_the_status_line_that_was_there() {
    let omo = plugin().join("bin/omo");
    let script = ModelScript::new().say("I have looked around.").bash("true").turn(ModelTurn::text(CLAIM).delay(WORK));
    let command = format!("'{}' statusline --wrap 'printf \"in %s\" \"${{PWD##*/}}\"'", omo.display());
    let fixture = fixture(script, &command);
    let terminal = fixture.terminal();
    terminal.wait_for("in project").unwrap();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for(&format!("in project · ulw 1/{MAX_BLOCKS} · 0m")).unwrap();
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    terminal.wait_for("in project · ulw NOT PROVED").unwrap();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn the_settings_that_the_command_shows_cost_no_request_and_are_not_written() {
    let fixture = client_lab_with(ModelScript::new(), |lab| lab);
    let run = fixture.print("/omo:statusline", &[]);
    let said = run.result().expect("an answer");
    let omo = plugin().join("bin/omo");
    assert!(said.contains("\"statusLine\": {") && said.contains(&format!("{} statusline", omo.display())), "{said}");
    assert_eq!((run.num_turns(), fixture.requests()), (Some(0), 0));
    let settings = fixture.lab.home().join(".claude/settings.json");
    assert!(!std::fs::read_to_string(settings).unwrap_or_default().contains("statusLine"));
}

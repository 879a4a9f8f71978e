//! The slash commands: answered without the model, their arguments byte for byte.

use omo_testkit::ModelScript;
use omo_tests::MAX_BLOCKS;

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn status_leaves_nothing_in_the_context() {
    let script = ModelScript::new()
        .say_times(2, "Not yet.")
        .say("A plain answer.");
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("ultrawork let this turn end").unwrap();
    terminal.ready().unwrap();
    terminal.say("/omo:status").unwrap();
    let screen = terminal.wait_for("to stop").unwrap();
    for part in [
        "continued",
        &format!("1 of {MAX_BLOCKS}"),
        "last decision",
        "warn on Stop",
        "Stop under a minute ago",
    ] {
        assert!(
            screen.contains(part),
            "{part} is not on the screen:\n{screen}"
        );
    }
    terminal.ready().unwrap();
    assert_eq!(fixture.requests(), 2);
    terminal.say("how is the weather").unwrap();
    terminal.wait_for("A plain answer.").unwrap();
    assert_eq!(
        fixture.count(2, "last decision") + fixture.count(2, "omo:status"),
        0
    );
}

#[test]
fn the_menu_shows_the_commands_with_what_they_do() {
    let fixture = client_lab(ModelScript::new());
    let terminal = fixture.terminal();
    // The menu is not as long as the list of commands: each part of it is looked at by itself.
    terminal.type_text("/omo:").unwrap();
    for (typed, expected) in [
        (
            "s",
            [
                "/omo:status",
                "/omo:statusline",
                "/omo:stop-continuation",
                "Showwhereultraworkstandsinthissession",
            ],
        ),
        (
            "e",
            [
                "/omo:execute",
                "Executeaplanfileintheway",
                "/omo:execute-plan",
                "Executeaverifiedplan,",
            ],
        ),
        ("ulw", ["/omo:ulw", "Workonatask", "/omo:", "ultrawork"]),
    ] {
        terminal.type_text(typed).unwrap();
        let all = |screen: &str| {
            let flat: String = screen.split_whitespace().collect();
            expected.iter().all(|part| flat.contains(part))
        };
        terminal
            .wait_until("the commands are in the menu", all)
            .unwrap();
        terminal.key("BSpace").unwrap();
    }
}

#[test]
fn the_task_and_its_bounds_arrive_byte_for_byte() {
    let task = "fix $HOME `touch PWNED`; a | tee PWNED && echo \"quoted\" 'single' \\ back*";
    let script = ModelScript::new()
        .say("Not yet.")
        .bash("true")
        .say("Not yet.")
        .bash("true")
        .say("Not yet.");
    let fixture = client_lab(script);
    fixture.play(&format!("/omo:ulw --max-blocks 2 --max-minutes=9 {task}"));
    assert_eq!(fixture.state("/ulw/task"), task);
    assert_eq!(fixture.state("/ulw/trigger"), "command");
    assert_eq!(
        (
            fixture.state("/limits/maxBlocks"),
            fixture.state("/limits/maxMinutes")
        ),
        (2.into(), 9.into())
    );
    assert_eq!(
        fixture.stops(),
        ["15: block", "15: block", "11: end: released"]
    );
    assert!(!fixture.lab.project().join("PWNED").exists());
}

#[test]
fn slash_ulw_works_as_plain_text_too() {
    let fixture = client_lab(ModelScript::new().say(CLAIM));
    fixture.play("/ulw fix the parser");
    assert_eq!(fixture.state("/ulw/task"), "fix the parser");
    assert_eq!(fixture.stops(), ["9: end: released"]);
}

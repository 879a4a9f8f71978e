//! Who pays: a key in the environment is asked about before any client is started, or accepted beforehand.

use super::{Payer, Site, typed};

#[test]
fn a_person_is_asked_before_a_key_pays_and_their_word_lets_the_run_go_on() {
    let site = Site::new(Payer::Key);
    let terminal = typed(&site, "");
    let screen = terminal.wait_for("ANTHROPIC_API_KEY is set").unwrap();
    for part in [
        "Use --fg instead (Recommended)",
        "Continue with API billing",
        "stop",
    ] {
        assert!(screen.contains(part), "{part} is not in:\n{screen}");
    }
    assert!(
        site.requests_of("session-1").is_empty(),
        "it is billed already"
    );
    terminal.ready().unwrap();
    terminal.say("continue").unwrap();
    // What a command of the plugin allows holds for the turn that it was typed in, so omo takes the answer itself.
    terminal.wait_for("q1 is answered: continue").unwrap();
    terminal.ready().unwrap();
    terminal.say("/omo:execute").unwrap();
    let screen = terminal.wait_for("Result: COMPLETED").unwrap();
    assert!(!screen.contains("Do you want to proceed?"), "{screen}");
    drop(terminal);
    site.is_whole();
}

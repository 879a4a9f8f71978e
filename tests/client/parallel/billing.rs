//! Who pays: a key in the environment is asked about before any client is started, or accepted beforehand.

use omo_tests::parallel_plan::PLAN;

use super::{Payer, Site, typed};
use crate::plans::{ACCEPT_EDITS, code};

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_person_is_asked_before_a_key_pays_and_their_word_lets_the_run_go_on() {
    let site = Site::new(Payer::Key);
    let terminal = typed(&site, "");
    let screen = terminal.wait_for("ANTHROPIC_API_KEY is set").unwrap();
    for part in ["Use --fg instead (Recommended)", "Continue with API billing", "stop"] {
        assert!(screen.contains(part), "{part} is not in:\n{screen}");
    }
    assert!(site.requests_of("session-1").is_empty(), "it is billed already");
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

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_person_who_is_asked_may_type_the_plan_again_and_accept() {
    let site = Site::new(Payer::Key);
    let terminal = typed(&site, "");
    terminal.wait_for("To answer, type one of these").unwrap();
    terminal.ready().unwrap();
    terminal.say(&format!("/omo:execute-local --accept-api-billing {PLAN}")).unwrap();
    let screen = terminal.wait_for("Result: COMPLETED").unwrap();
    assert!(!screen.contains("Do you want to proceed?"), "{screen}");
    drop(terminal);
    site.is_whole();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn what_was_accepted_in_the_line_is_asked_about_nowhere() {
    let site = Site::new(Payer::Key);
    let line = format!("/omo:execute-local --accept-api-billing {PLAN}");
    let shown = site.fixture.print(&line, &ACCEPT_EDITS);
    let code = code(shown.result().expect("the client says why nothing ran"));
    let run = site.fixture.print(&format!("{line} --approve {code}"), &ACCEPT_EDITS);
    assert!(run.result().is_some_and(|said| said.contains("5 of 5 steps done")), "{run:?}");
    assert!(site.state().questions.is_empty());
    site.is_whole();
}

//! Task lists as a person types them into a terminal. There the client starts every agent in the background:
//! the session hears of an agent's end by a notification, and asks what comes next before any has begun.

use omo_testkit::Terminal;
use omo_testkit::model::RequestKind;

use super::planning::{GOAL, planner};
use super::scripted_agents::{Trouble, task_list_script};
use super::{MAY_SHOW, REVIEWED, Task, WORD, agents, command, planned, story};
use crate::client_lab::{ClientFixture, client_lab};
use crate::plans::{ACCEPT_EDITS, code};

const THREE: [Task; 3] = [("1", "", WORD), ("2", "", REVIEWED), ("3", "1,2", WORD)];

fn typed(fixture: &ClientFixture, allowed: &[&str]) -> Terminal {
    let arguments = [&ACCEPT_EDITS, allowed].concat();
    // High enough for a whole report: what scrolls away is not on the screen.
    let terminal = Terminal::start_sized(&fixture.lab, &fixture.client, &arguments, (140, 120))
        .expect("start a terminal");
    terminal.ready().unwrap();
    terminal
}

/// The person looks at the commands of the session, and approves them.
fn approved(terminal: &Terminal) {
    terminal.say(&command("")).unwrap();
    let screen = terminal
        .wait_for("To approve exactly these commands")
        .unwrap();
    terminal.ready().unwrap();
    terminal
        .say(&command(&format!(" --approve {}", code(&screen))))
        .unwrap();
}

#[test]
fn agents_in_the_background_are_started_once_each_and_waited_for_in_the_turn() {
    let trouble = Trouble {
        together: &[["1", "2"]],
        wrong: Some(("3", 2)),
        ..Trouble::default()
    };
    let fixture = planned(&THREE, task_list_script(trouble));
    let terminal = typed(&fixture, &MAY_SHOW);
    approved(&terminal);
    let screen = terminal.wait_for("Verdict of the verifier: PASS").unwrap();
    assert!(
        screen.contains("Execution Complete") && !screen.contains("Do you want to proceed?"),
        "{screen}"
    );
    // The person is told as the turn ends, and the page is there.
    let screen = terminal.wait_for("3 of 3 done, ended: complete").unwrap();
    assert!(screen.contains("Page: /"), "{screen}");
    assert_eq!(fixture.pages().len(), 1);
    assert!(
        fixture
            .model
            .requests_of(RequestKind::Main)
            .iter()
            .any(|request| request.count_of("Async agent launched") > 0)
    );
    let mut agents: Vec<_> = agents(&fixture).into_iter().map(|(task, _)| task).collect();
    agents.sort_unstable();
    assert_eq!(
        agents,
        ["1", "2", "3", "verify"],
        "one of the first two goes on with 3, which fails"
    );
    assert_eq!(
        story(&fixture).join(", "),
        "task_started 1, task_started 2, task_passed 1, task_claimed 2, task_started 3, task_failed 3, \
         round_started 2, task_started 3, task_passed 3, task_started verify, verdict_given true, run_ended complete"
    );
}

#[test]
fn explorers_in_the_background_are_waited_for_in_the_turn_that_may_plan() {
    let fixture = client_lab(planner(7));
    let terminal = typed(&fixture, &[]);
    terminal.say(&format!("/omo:ulw-plan {GOAL}")).unwrap();
    let screen = terminal.wait_for("Type /omo:ulw-exec to begin.").unwrap();
    assert!(!screen.contains("Do you want to proceed?"), "{screen}");
    let found = |request: &omo_testkit::model::RecordedRequest| {
        request
            .tool_results_text()
            .contains("# What was found (complete)")
    };
    assert!(
        fixture
            .model
            .requests_of(RequestKind::Main)
            .iter()
            .any(found),
        "the explorers were not waited for"
    );
}

#[test]
fn the_person_is_asked_about_a_command_that_is_to_show_something_and_sees_whose_it_is() {
    let fixture = planned(
        &[("1", "", WORD), ("2", "1", REVIEWED)],
        task_list_script(Trouble::default()),
    );
    let terminal = typed(&fixture, &[]);
    approved(&terminal);
    let screen = terminal.wait_for("Do you want to proceed?").unwrap();
    for part in [
        "from the omo:worker agent",
        "omo agent evidence run --run ",
        "-- grep -c done words/2.txt",
    ] {
        assert!(screen.contains(part), "{part} is not in:\n{screen}");
    }
    assert_eq!(
        story(&fixture).join(", "),
        "task_started 1, task_passed 1, task_started 2",
        "something else was asked about"
    );
}

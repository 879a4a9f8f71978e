//! `/omo:ulw-plan` from the typed goal to a session that is planned and not begun, what the commands say about
//! themselves, and how a session that waits is offered to a user who begins to work there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::{Value, json};

use super::file_of;
use crate::block_text::{bash, between};
use crate::client_lab::client_lab;
use crate::plans::type_prompt;

/// A goal with all that a shell would take for something else.
pub(super) const GOAL: &str = "a word's `file` for \"each\" $(task); --force it";

#[test]
fn a_goal_becomes_a_design_and_tasks_and_nothing_is_begun() {
    let fixture = client_lab(planner(8));
    let run = type_prompt(&fixture, &format!("/omo:ulw-plan {GOAL}"), &[]);
    let said = run.result().unwrap();
    assert!(said.contains("/omo:ulw-exec"), "{said}");
    let id = run.session_id().unwrap();
    let of = |name: &str, member: &str| file_of(&fixture, id, name, member);
    assert_eq!(
        (of("session.json", "/goal"), of("session.json", "/phase")),
        (json!(GOAL), json!("PLANNING_COMPLETE"))
    );
    let explorers = of("context.json", "/explorers")
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut names: Vec<_> = explorers
        .iter()
        .filter_map(|explorer| explorer["id"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["files", "tests"]);
    assert_eq!(
        of("tasks/1.json", "/criteria"),
        json!(["`grep -q done words/1.txt`", "It reads well"])
    );
    assert_eq!(of("tasks/2.json", "/blocked_by"), json!(["1"]));
    let folder = fixture
        .lab
        .home()
        .join(".claude/ultrawork/sessions")
        .join(id);
    assert_eq!(
        fs::read_to_string(folder.join("design.md")).unwrap().trim(),
        "# Words\n\nOne file for each."
    );
    let mode = |name: &str| {
        fs::metadata(folder.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        ["", "tasks", "session.json", "design.md", "tasks/1.json"].map(mode),
        [0o700, 0o700, 0o600, 0o600, 0o600]
    );
    // What belongs to planning is allowed. That the model begins by itself is not.
    let denied = run.json.as_ref().unwrap()["permission_denials"]
        .as_array()
        .unwrap()
        .clone();
    let denied: Vec<&Value> = denied
        .iter()
        .map(|denial| &denial["tool_input"]["command"])
        .collect();
    assert_eq!(
        denied,
        [&json!(format!("omo run start --tasks --session {id}"))]
    );
    assert!(
        !fixture.lab.project().join(".git/omo").exists(),
        "a run was opened"
    );
    assert!(!fixture.lab.project().join("words").exists());
    assert_eq!(fixture.model.unscripted(), 0);
}

/// A session that explores with two agents, designs, and makes two tasks. Behind so many steps it ends its turn:
/// with the eighth it goes too far.
pub(super) fn planner(steps: usize) -> ModelScript {
    let explorer = |request: &RecordedRequest| {
        let prompt = request.first_text();
        let (id, name) = (
            between(&prompt, "in session ", ",").unwrap(),
            between(&prompt, "under the name ", ".").unwrap(),
        );
        match request.answers() {
            0 => bash(&format!(
                "omo agent context add --session {id} --explorer-id {name} --summary 'there is nothing yet'"
            )),
            _ => ModelTurn::text(format!("Recorded: {}", request.tool_results_text())),
        }
    };
    ModelScript::new()
        .whenever("", ModelTurn::computed(move |request| plan(request, steps)))
        .agent("Look at the code.", vec![ModelTurn::computed(explorer); 2])
}

fn plan(request: &RecordedRequest, steps: usize) -> ModelTurn {
    let all = request.all_text();
    let id = between(&all, "Session ", " begins")
        .expect("omo made a session")
        .to_owned();
    let task = |more: &str| bash(&format!("omo agent task create --session {id} {more}"));
    match request.answers() {
        done if done > steps => ModelTurn::text("Type /omo:ulw-exec to begin."),
        0 => bash(&format!("omo agent context init --session {id} --expected files,tests")),
        1 => ["files", "tests"].iter().fold(ModelTurn::text("I explore."), |turn, name| {
            let prompt = format!("Look at the code. Record it in session {id}, under the name {name}.");
            let call = json!({
                "subagent_type": "omo:verifier", "description": "explore", "prompt": prompt, "run_in_background": false,
            });
            turn.tool("Agent", call)
        }),
        2 => bash(&format!("omo agent context get --session {id} --summary --wait 540")),
        3 => bash(&format!("omo agent tasks design --session {id} <<'DESIGN'\n# Words\n\nOne file for each.\nDESIGN")),
        4 => task(
            "--subject 'The word 1' --description 'Write it.' --criteria '`grep -q done words/1.txt`|It reads well'",
        ),
        5 => task("--subject 'The word 2' --criteria '`grep -q done words/2.txt`' --blocked-by 1"),
        6 => bash(&format!("omo agent task list --session {id}")),
        7 => bash(&format!("omo agent tasks update --session {id} --phase PLANNING_COMPLETE")),
        8 => bash(&format!("omo run start --tasks --session {id}")),
        _ => ModelTurn::text(format!("{}\nType /omo:ulw-exec to begin.", request.tool_results_text())),
    }
}

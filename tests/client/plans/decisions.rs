//! The decisions of a plan are taken by a person: in the client's dialog, or by their next prompt.

use omo_testkit::model::{RecordedRequest, RequestKind};
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::json;

use super::{PLAN, code, file, planned, type_prompt};
use crate::block_text::{bash, last_block};
use crate::client_lab::ClientFixture;

const DECIDING: &str = "# Rates\n\n## Verification\n- **Verdict:** Approved\n\n## Decisions\n\n\
    ### [DP-001] Where the rates come from (blocking)\n\n**Options:**\n- A: The bank\n- B: The cache\n\
    **Recommendation:** Option B\n\n## Tasks\n\n### Task 1: Fetch the rates\n\n**Files:**\n- Create: `rates.txt`\n\n\
    **Verify:**\nRun: `test -f rates.txt`\n";

/// A model that decides by itself before it asks, and after the person has chosen otherwise.
fn eager_model(request: &RecordedRequest) -> ModelTurn {
    let (results, all) = (request.tool_results_text(), request.all_text());
    let is_answered = all.contains("Your questions have been answered");
    match last_block(&all).and_then(|block| block.lines().next()) {
        _ if results.contains("Answered q1") => ModelTurn::text("All is answered."),
        Some("STOP") => ModelTurn::text("The user has to decide."),
        Some("DO") => bash("omo agent next"),
        _ if !is_answered && !all.contains("no answer of theirs is recorded") => {
            bash("omo answer q1 B")
        }
        _ if !is_answered => ModelTurn::call(
            "AskUserQuestion",
            json!({ "questions": [{
                "question": "Where do the rates come from?",
                "header": "q1",
                "multiSelect": false,
                "options": [
                    { "label": "B: The cache (Recommended)", "description": "fast" },
                    { "label": "A: The bank", "description": "fresh" },
                ],
            }] }),
        ),
        _ if results.contains("not B") => bash("omo answer q1 A"),
        _ => bash("omo answer q1 B"),
    }
}

fn chosen_line(fixture: &ClientFixture) -> Option<String> {
    let plan = file(fixture, PLAN).expect("the plan");
    plan.lines()
        .find(|line| line.contains("Chosen"))
        .map(str::to_owned)
}

#[test]
fn only_what_a_person_chose_in_the_dialog_is_taken() {
    let fixture = planned(
        DECIDING,
        ModelScript::new().whenever("", ModelTurn::computed(eager_model)),
    );
    let shown = type_prompt(&fixture, &format!("/omo:execute-plan {PLAN}"), &[]);
    let code = code(shown.result().expect("the client says why nothing ran"));
    let terminal = fixture.terminal();
    terminal
        .say(&format!("/omo:execute-plan {PLAN} --approve {code}"))
        .unwrap();
    terminal.wait_for("Where do the rates come from").unwrap();
    assert_eq!(chosen_line(&fixture), None, "the model decided by itself");
    terminal.key("Down").unwrap();
    terminal.key("Enter").unwrap();
    terminal.wait_for("All is answered.").unwrap();
    assert_eq!(
        chosen_line(&fixture).as_deref(),
        Some("**Chosen:** Option A")
    );
    let requests = fixture.model.requests_of(RequestKind::Main);
    let said = requests.last().expect("a request").all_text();
    for part in [
        "no answer of theirs is recorded",
        "with `A: The bank`, not B",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
}

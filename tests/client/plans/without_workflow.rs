//! A plan in which everything goes well, by a client that has no Workflow tool.

use omo_testkit::model::RequestKind;

use super::obedient_model::{Trouble, obedient_script};
use super::{CHECKPOINT, REPORT, approved, blocks, file, planned, tasks, type_prompt, words};

#[test]
fn a_plan_is_complete_without_the_workflow_tool() {
    let fixture = planned(&words(), obedient_script(Trouble::default()));
    let run = approved(&fixture, "", &["--disallowedTools", "Workflow"]);
    assert!(
        run.result()
            .unwrap()
            .contains("Execution complete: complete"),
        "{run:?}"
    );
    assert_eq!(tasks(&fixture), ["1 passed 1", "2 passed 1", "3 passed 1"]);
    assert_eq!(blocks(&fixture), ["DONE: Execution complete: complete",]);
    let agents = fixture.model.requests_of(RequestKind::Agent);
    assert!(agents.iter().all(|agent| {
        agent
            .system_text()
            .contains("You execute tasks of a plan, one at a time.")
    }));
    assert_eq!(
        file(&fixture, CHECKPOINT),
        None,
        "the checkpoint of a complete run is removed"
    );
    let report = file(&fixture, REPORT).unwrap();
    assert!(
        report.contains("**Status:** complete\n\n**Tasks:** 3 total, 3 completed, 0 blocked"),
        "{report}"
    );

    // Typed once more, nothing is done again, and the person is told how it would be.
    let requests = fixture.model.requests_of(RequestKind::Agent).len();
    let run = type_prompt(&fixture, "/omo:execute-plan docs/plan.md", &[]);
    let said = run.result().unwrap();
    assert!(
        said.contains("type: /omo:execute-plan docs/plan.md --again"),
        "{said}"
    );
    assert_eq!(
        fixture.model.requests_of(RequestKind::Agent).len(),
        requests
    );
    assert_eq!(fixture.model.unscripted(), 0);
}

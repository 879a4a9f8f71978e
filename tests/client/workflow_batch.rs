//! Plans in the client: the command opens the run, the workflow dispatches a batch of it.

use std::time::Duration;

use omo_testkit::model::RequestKind;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::client_lab::client_lab;

/// What a worker reports.
fn report(id: &str, status: &str, evidence: &str) -> ModelTurn {
    let input =
        json!({ "task_id": id, "status": status, "files_written": [], "evidence": evidence });
    ModelTurn::call("StructuredOutput", input)
}

#[test]
fn a_batch_goes_to_one_worker_after_another() {
    let batch = json!({
        "name": "omo:execute-batch",
        "args": {
            "run": "r-1-abcd",
            "plan_file": "docs/plan.md",
            "tasks": [{ "id": "1" }, { "id": "2" }, { "id": "3", "depends_on": ["2"] }],
            "batches": [["1", "2"], ["3"]],
        },
    });
    let script = ModelScript::new()
        .turn(ModelTurn::call("Workflow", batch))
        .say("I wait for the batch.")
        .agent(
            "Execute task 1 of",
            [
                ModelTurn::bash("command -v omo").delay(Duration::from_secs(2)),
                report("1", "done", "PASSED 1"),
                ModelTurn::text("Done."),
            ],
        )
        .agent(
            "Execute task 2 of",
            [report("2", "failed", "FAILED 2"), ModelTurn::text("Done.")],
        )
        .say("The batch is over.");
    let fixture = client_lab(script);
    let run = fixture.print("run the workflow omo:execute-batch", &[]);
    assert_eq!(run.result(), Some("The batch is over."));
    for part in [
        "PASSED 1",
        "FAILED 2",
        "skipped: dependency 2 failed or blocked in this run",
    ] {
        assert!(
            fixture.count(2, part) > 0,
            "the client did not hand on: {part}"
        );
    }
    let agents = fixture.model.requests_of(RequestKind::Agent);
    let first: &Value = &agents.first().unwrap().body;
    assert!(
        first["model"].as_str().unwrap().contains("sonnet"),
        "{}",
        first["model"]
    );
    assert!(
        first["system"]
            .to_string()
            .contains("You execute tasks of a plan, one at a time."),
        "not our executor"
    );
    // The worker found omo on its path.
    assert!(
        agents[1].count_of("/bin/omo") > 0,
        "{}",
        agents[1].body["messages"]
    );
    assert_eq!(fixture.model.unscripted(), 0);
}

//! The script for the client's Workflow tool: played by node with a stub of what the client gives it,
//! on every vector.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test's helpers fail as a test does"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// How node words that "run it" is no JSON, in the vectors and since version 20.
const NOT_JSON: &str = "Unexpected token 'r', \"run it\" is not valid JSON";

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// What came of each case.
fn play(cases: &Value) -> Value {
    let mut node = Command::new("node");
    node.arg(top().join("tests/workflows/play.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut node = node.spawn().expect("these tests need node");
    let script = fs::read_to_string(top().join("workflows/execute-plan.js")).unwrap();
    let input = json!({ "script": script, "cases": cases });
    node.stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "node ended with {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[ignore = "needs node: cargo xtask test"]
fn every_vector_comes_out_as_it_says() {
    let vectors: Value =
        serde_json::from_str(include_str!("../vectors/batch-workflow.json")).unwrap();
    let cases = &vectors["cases"];
    let played = play(cases);
    let own_words = played["notJson"].as_str().unwrap();
    let mut wrong = Vec::new();
    for (case, outcome) in cases
        .as_array()
        .unwrap()
        .iter()
        .zip(played["outcomes"].as_array().unwrap())
    {
        let calls = outcome["calls"].as_array().unwrap();
        let labels: Vec<&Value> = calls.iter().map(|call| &call["options"]["label"]).collect();
        let throws = case["throws"]
            .as_str()
            .map(|text| text.replace(NOT_JSON, own_words));
        let expected = json!([
            case["dispatched"],
            case["logs"],
            case["result"],
            throws,
            first_call(case)
        ]);
        let options = calls.first().map(|call| {
            let of = |name: &str| &call["options"][name];
            json!({ "label": of("label"), "model": of("model"), "agentType": of("agentType"), "phase": of("phase") })
        });
        let found = json!([
            labels,
            outcome["logs"],
            outcome["result"],
            outcome["throws"],
            options
        ]);
        if found != expected {
            wrong.push(format!("{}: {found}\n  instead of {expected}", case["id"]));
        }
    }
    assert_eq!(cases.as_array().unwrap().len(), 33);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the first worker is started with: the agent is ours.
fn first_call(case: &Value) -> Value {
    let mut options = case["first_call_options"].clone();
    if let Some(agent) = options.get_mut("agentType") {
        *agent = json!("omo:worker");
    }
    options
}

#[test]
#[ignore = "needs node: cargo xtask test"]
fn every_worker_gets_the_commands_that_begin_and_end_its_task() {
    let args = json!({ "run": "r-1-abcd", "plan_file": "docs/plan.md", "project_root": "/home/me/it",
        "tasks": [{ "id": "1" }], "batches": [["1", "2-tests"]] });
    let played = play(&json!([{ "args": args, "agent_script": {} }]));
    let calls = played["outcomes"][0]["calls"].as_array().unwrap();
    for (call, id) in calls.iter().zip(["1", "2-tests"]) {
        let prompt = call["prompt"].as_str().unwrap();
        for part in [
            &format!("Execute task {id} of the plan docs/plan.md"),
            "/home/me/it",
            &format!("omo agent start {id} --run r-1-abcd\n"),
            "Run the `omo agent done` line that stands at its end\n",
            &format!("task_id \"{id}\""),
        ] {
            assert!(prompt.contains(part), "`{part}` is not in:\n{prompt}");
        }
        let required = ["task_id", "status", "files_written", "evidence"];
        assert_eq!(call["options"]["schema"]["required"], json!(required));
        assert_eq!(
            call["options"]["schema"]["properties"]["status"]["enum"],
            json!(["done", "failed", "blocked"])
        );
    }
    assert_eq!(calls.len(), 2);
}

/// The client lets a workflow take the place of a command of the same name.
#[test]
#[ignore = "needs node: cargo xtask test"]
fn the_workflow_has_a_name_that_no_command_has() {
    let played = play(&json!([]));
    let name = played["meta"]["name"].as_str().unwrap();
    assert!(
        !top().join(format!("commands/{name}.md")).exists(),
        "{name} is a command too"
    );
    assert!(
        fs::read_to_string(top().join("commands/execute-plan.md"))
            .unwrap()
            .contains(&format!("omo:{name}"))
    );
    assert_eq!(played["meta"]["phases"][0]["title"], "Execute Batch");
}

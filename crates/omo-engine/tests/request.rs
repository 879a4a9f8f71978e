//! The request of an ultraplan's run, and the conditions before its begin.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod outcome;
mod preflight;
mod strategy;
mod target;

use std::path::PathBuf;

use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::Plan;
use serde_json::Value;

/// Rows of a table with their expected results.
fn vectors(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors/plans")
        .join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A step with all required lines, and its `On failure` clause.
fn step(number: u64, on_failure: &str) -> String {
    format!(
        "### Step {number}: Part {number}\n\n- **Files:** `src/{number}.rs`\n- **Changes:** Do it.\n\
         - **Verify:** `make check`\n- **On failure:** {on_failure}\n\
         - **Checkpoint:** `git commit -m \"part {number}\"`\n\n"
    )
}

fn session(number: usize, steps: &[u64], wave: u64) -> String {
    let list =
        |item: &dyn Fn(&u64) -> String| steps.iter().map(item).collect::<Vec<_>>().join(", ");
    format!(
        "### Session {number}: Session {number}\n\n- **Steps:** {}\n- **Wave:** {wave}\n- **Depends on:** none\n\
         - **Scope fence:**\n  - Touch: {}\n\n",
        list(&u64::to_string),
        list(&|step| format!("src/{step}.rs")),
    )
}

fn read(text: &str) -> Plan {
    let plan = dialects::read("plan.md", text.as_bytes(), BatchOptions::default());
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    plan
}

/// A plan of these steps and sessions: the numbers of the steps of each, and its wave.
fn plan(steps: u64, sessions: &[(&[u64], u64)]) -> Plan {
    let steps = (1..=steps).map(|number| step(number, "revert"));
    let heading = if sessions.is_empty() {
        ""
    } else {
        "## Execution Strategy\n\n"
    };
    let sessions = sessions
        .iter()
        .enumerate()
        .map(|(place, (steps, wave))| session(place + 1, steps, *wave));
    let begin = ["# A plan\n\n## Implementation Plan\n\n".to_owned()];
    let parts = begin
        .into_iter()
        .chain(steps)
        .chain([heading.to_owned()])
        .chain(sessions);
    read(&parts.collect::<String>())
}

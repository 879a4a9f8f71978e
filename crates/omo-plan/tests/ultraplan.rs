//! Ultraplans as their original system reads them, and reports of their problems.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail as a test does"
)]

mod groups;
mod hostile;
mod session_spec;
mod tasks;
mod vectors;

use omo_plan::diagnostic::Code;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::Plan;

fn read(text: &str) -> Plan {
    dialects::read("plan.md", text.as_bytes(), BatchOptions::default())
}

/// The rules that a plan breaks, in the order of the file, each with the task that it is about.
fn codes(plan: &Plan) -> Vec<(Code, Option<&str>)> {
    plan.diagnostics
        .iter()
        .map(|found| (found.code, found.task.as_deref()))
        .collect()
}

fn step(number: u64, files: &str) -> String {
    format!(
        "### Step {number}: Part {number}\n\n- **Files:** {files}\n- **Changes:** Do it.\n- **Verify:** `make check`\n\
         - **On failure:** revert\n- **Checkpoint:** `git commit -m \"part {number}\"`\n\n"
    )
}

//! Ultraplans are read as the system that they come from reads them, and what is wrong with one is told.

mod hostile;
mod sessions;
mod spec;
mod vectors;

use omo_plan::diagnostic::Code;
use omo_plan::dialect::ultra;
use omo_plan::digest::sha256;
use omo_plan::document::Document;
use omo_plan::model::{Plan, Source};

/// Reads a text as a plan, of whatever kind.
fn read(text: &str) -> Plan {
    let source = Source { path: "plan.md".to_owned(), sha256: sha256(text.as_bytes()), bytes: text.len() as u64 };
    let document = Document::read(text);
    ultra::read(&document, &source).or_else(|| ultra::unrecognized(&document, &source)).unwrap()
}

/// The rules that a plan breaks, in the order of the file, each with the unit that it is about.
fn codes(plan: &Plan) -> Vec<(Code, Option<&str>)> {
    plan.diagnostics.iter().map(|found| (found.code, found.unit.as_deref())).collect()
}

/// A step with these files, with all that it needs.
fn step(number: u64, files: &str) -> String {
    format!(
        "### Step {number}: Part {number}\n\n- **Files:** {files}\n- **Changes:** Do it.\n- **Verify:** `make check`\n\
         - **On failure:** revert\n- **Checkpoint:** `git commit -m \"part {number}\"`\n\n"
    )
}

//! What the report of a run tells beside how each step stands: what was changed that nothing names, and what is not as
//! it was before.

use omo_core::text::sanitize;

use crate::outcome::OutcomeSummary;
use crate::state::{RunState, TaskState};

/// The section of the findings; empty where there is nothing to tell.
pub(super) fn section(state: &RunState, reached: &OutcomeSummary) -> String {
    let known = |id: &String| state.tasks.get(id).map(|known| (id.clone(), known));
    let tasks: Vec<(String, &TaskState)> = reached.tasks.iter().filter_map(|(id, _)| known(id)).collect();
    let of_steps = tasks.iter().flat_map(|(id, known)| {
        let told = task_findings(known).into_iter();
        told.map(move |line| format!("- Step {id}: {line}\n"))
    });
    let drift = state.changed_files.iter().map(|(file, kept)| {
        let kept = kept.as_ref().map(|kept| format!("; that is kept in {}", sanitize(kept, 200)));
        format!("- {} was changed by something else{}\n", sanitize(file, 200), kept.unwrap_or_default())
    });
    let lines: Vec<String> = of_steps.chain(drift).collect();
    if lines.is_empty() { String::new() } else { format!("### Findings\n\n{}\n", lines.concat()) }
}

fn task_findings(known: &TaskState) -> Vec<String> {
    let mut lines = Vec::new();
    let outside = known.last_end.as_ref().map(|end| end.out_of_scope.join(", ")).filter(|files| !files.is_empty());
    if let Some(files) = outside {
        lines.push(format!("changed what it does not name, which is in no commit of it: {}", sanitize(&files, 400)));
    }
    if known.is_to_restore {
        lines.push("its changes are taken back before anything else is begun in its work tree".to_owned());
    }
    if !known.not_restored.is_empty() {
        lines.push(format!("could not be taken back: {}", sanitize(&known.not_restored.join("; "), 400)));
    }
    lines
}

//! Brief of a task list's verifier: the end of every task, and the evidence that it cites.

use std::fmt::Write;

use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use omo_plan::model::Task;
use omo_view::run_view::TaskView;

use super::BRIEF_BYTES;
use super::brief::{push_section, task_heading};
use super::evidence::evidence_line;
use crate::report::task_list::final_report::{unfinished_line, unsearched_tasks};
use crate::report::task_list::messages::task_names;
use crate::state::RunState;
use crate::unfinished_lines::unfinished_lines;
use crate::view::{RunFacts, run_view};

const TASKS_BYTES: usize = 4_800;
const PART_BYTES: usize = 900;
const _: () = assert!(TASKS_BYTES + 2 * PART_BYTES < BRIEF_BYTES - 1_400);

/// The brief; at most [`BRIEF_BYTES`] long.
pub(super) fn brief(state: &RunState, unit: &Task) -> String {
    let mut text = task_heading(state, &sanitize(&unit.id, 64));
    let own: Vec<String> = unit
        .criteria
        .iter()
        .map(|text| format!("- {}", sanitize(text, 200)))
        .collect();
    push_section(
        &mut text,
        "What you judge the whole by",
        &own,
        PART_BYTES / 2,
        "and more",
    );
    let rows: Vec<TaskView> = run_view(&RunFacts::of_state("", state)).tasks;
    let lines: Vec<String> = rows.iter().flat_map(|row| task_lines(state, row)).collect();
    let rest = "`omo run show` and `omo agent evidence list` have all of them";
    push_section(
        &mut text,
        "The tasks, and what shows that they are done",
        &lines,
        TASKS_BYTES,
        rest,
    );
    let mut found: Vec<String> = unfinished_lines(state)
        .into_iter()
        .map(|line| format!("- {}", unfinished_line(line)))
        .collect();
    let unsearched = unsearched_tasks(state);
    if !unsearched.is_empty() {
        found.insert(
            0,
            format!(
                "- Not looked for in what was done for {}",
                task_names(&unsearched)
            ),
        );
    }
    push_section(
        &mut text,
        "Added lines that look unfinished",
        &found,
        PART_BYTES,
        "and more",
    );
    push_section(
        &mut text,
        "The verdict before",
        &previous_verdict(state),
        PART_BYTES / 2,
        "and more",
    );
    let evidence = if state.plan.policy.unproved_continues {
        "Evidence that you run with your own ticket has to be green; where you may run no command, read the files"
    } else {
        "A PASS needs green evidence that was run with your own ticket"
    };
    let _ = write!(
        text,
        "## WHAT COUNTS\n\n\
         - Judge every criterion by what you see, not by what is claimed, and change no file.\n\
         - {evidence}. omo then runs the commands of all tasks once more; with one of them red, or a task that is not \
         done, it is no PASS.\n\
         - What you write beside the verdict decides nothing.\n",
    );
    text
}

fn task_lines(state: &RunState, row: &TaskView) -> Vec<String> {
    let Some(task) = state
        .plan
        .task(&row.id)
        .filter(|task| !task.is_verification())
    else {
        return Vec::new();
    };
    let task_state = state.tasks.get(&row.id);
    let mut lines = vec![format!(
        "- {}: {} ({})",
        row.id,
        sanitize(&row.title, 80),
        row.standing.key()
    )];
    for check in &row.checks {
        let verdict = check.verdict.unwrap_or("not run");
        let before = if row.already_green.contains(&check.command) {
            ", as it was before the work"
        } else {
            ""
        };
        lines.push(format!(
            "  - checked: {} {verdict}{before}",
            paste_form(&check.command, 120)
        ));
    }
    lines.extend(
        task.criteria
            .iter()
            .map(|text| format!("  - to judge: {}", sanitize(text, 200))),
    );
    let ids = task_state
        .map(|task_state| task_state.evidence_ids.as_slice())
        .unwrap_or_default();
    let named = state
        .evidence
        .iter()
        .filter(|evidence| ids.contains(&evidence.id));
    lines.extend(named.map(|evidence| format!("  - claimed with {}", evidence_line(evidence))));
    if ids.is_empty() && !task.criteria.is_empty() {
        lines.push(format!(
            "  - nothing was put forward: {}",
            sanitize(&row.evidence, 120)
        ));
    }
    if let Some(note) = &row.note {
        lines.push(format!("  - its worker says: {}", sanitize(note, 160)));
    }
    lines
}

fn previous_verdict(state: &RunState) -> Vec<String> {
    let Some(verdict) = state.verdicts.last().filter(|verdict| !verdict.passed) else {
        return Vec::new();
    };
    let reopened = verdict
        .reopen
        .iter()
        .map(|(id, why)| format!("- {id}: {}", sanitize(why, 200)));
    let note = Some(&verdict.note)
        .filter(|note| !note.is_empty())
        .map(|note| format!("- {}", sanitize(note, 200)));
    reopened.chain(note).collect()
}

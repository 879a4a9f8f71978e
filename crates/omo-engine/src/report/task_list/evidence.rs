//! Evidence in the final report: commands that omo ran, and apart from them what was judged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use omo_core::check::task_check::{TaskCheckOutcome, TaskCheckVerdict};
use omo_core::text::command_text::paste_form;
use omo_core::text::sanitize;
use omo_plan::model::Task;

use crate::event::{Evidence, PlanVerdict};
use crate::report::table::{cell, code_cell, truncated_table};
use crate::report::task_list::messages::{bullet_list, list_some};
use crate::state::{RunState, TaskStatus};

#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Tables of checked commands and of judged criteria; empty without any.
pub(super) fn evidence_sections(state: &RunState, amount: Amount) -> String {
    let mut text = String::new();
    let checked = checked_commands(state);
    if !checked.is_empty() {
        let rows: Vec<_> = checked
            .iter()
            .map(|row| {
                [
                    cell(row.task, 20),
                    code_cell(row.command, amount.columns),
                    cell(&exit_text(row.outcome, row.is_vacuous), 40),
                ]
            })
            .collect();
        text.push_str("#### Checked by command\n\n");
        text.push_str(&truncated_table(
            ["Task", "Command", "Exit"],
            &rows,
            amount.rows,
        ));
    }
    let judged = judged_criteria(state);
    if !judged.is_empty() {
        let rows: Vec<_> = judged
            .iter()
            .map(|row| {
                let ids: Vec<&str> = row.shown_by.iter().map(|known| known.id.as_str()).collect();
                let ids = if ids.is_empty() {
                    "none".to_owned()
                } else {
                    list_some(ids)
                };
                [
                    cell(row.task, 20),
                    cell(row.criterion, amount.columns - 8),
                    cell(&ids, 60),
                ]
            })
            .collect();
        text.push_str(judged_by(state));
        text.push_str(&truncated_table(
            ["Task", "Criterion", "Evidence"],
            &rows,
            amount.rows,
        ));
        let ids: BTreeSet<&str> = judged
            .iter()
            .flat_map(|row| &row.shown_by)
            .map(|known| known.id.as_str())
            .collect();
        let cited: Vec<String> = state
            .evidence
            .iter()
            .filter(|known| ids.contains(known.id.as_str()))
            .map(evidence_line)
            .collect();
        if !cited.is_empty() {
            let _ = writeln!(text, "{}", bullet_list(&cited, amount.rows));
        }
    }
    if let Some(verdict) = current_verdict(state) {
        text.push_str(&verdict_line(state, verdict, amount));
    }
    text
}

pub(super) struct Checked<'a> {
    task: &'a str,
    command: &'a str,
    outcome: Option<&'a TaskCheckOutcome>,
    is_vacuous: bool,
}

pub(super) struct Judged<'a> {
    task: &'a str,
    criterion: &'a str,
    shown_by: Vec<&'a Evidence>,
}

pub(super) fn checked_commands(state: &RunState) -> Vec<Checked<'_>> {
    let mut rows = Vec::new();
    for task in &state.plan.tasks {
        let Some(task_state) = state.tasks.get(&task.id) else {
            continue;
        };
        for (place, check) in task.proving_checks().enumerate() {
            let own = task_state
                .checks
                .iter()
                .find(|(command, _)| *command == check.command)
                .map(|(_, outcome)| outcome);
            rows.push(Checked {
                task: &task.id,
                command: &check.command,
                outcome: final_outcome(state, &check.command).or(own),
                is_vacuous: task_state.already_green.contains(&place),
            });
        }
    }
    for check in &state.plan.final_checks {
        if rows.iter().all(|row| row.command != check.command) {
            let outcome = final_outcome(state, &check.command);
            rows.push(Checked {
                task: "all",
                command: &check.command,
                outcome,
                is_vacuous: false,
            });
        }
    }
    rows
}

fn final_outcome<'a>(state: &'a RunState, command: &str) -> Option<&'a TaskCheckOutcome> {
    let place = state
        .plan
        .final_checks
        .iter()
        .position(|check| check.command == command)?;
    state.final_checks.get(&place)
}

pub(super) fn judged_criteria(state: &RunState) -> Vec<Judged<'_>> {
    let by_id: BTreeMap<&str, &Evidence> = state
        .evidence
        .iter()
        .map(|known| (known.id.as_str(), known))
        .collect();
    let claimed = state.plan.tasks.iter().filter_map(|task| {
        let known = state.tasks.get(&task.id)?;
        (known.status == TaskStatus::Claimed && !task.is_verification()).then_some((task, known))
    });
    let rows = claimed.flat_map(|(task, known)| {
        let shown_by: Vec<&Evidence> = known
            .evidence_ids
            .iter()
            .filter_map(|id| by_id.get(id.as_str()).copied())
            .collect();
        task.criteria
            .iter()
            .map(String::as_str)
            .map(move |criterion| Judged {
                task: &task.id,
                criterion,
                shown_by: shown_by.clone(),
            })
    });
    rows.collect()
}

pub(super) fn tasks_done_before(state: &RunState) -> Vec<&str> {
    let tasks = state.plan.tasks.iter().filter(|task| {
        state
            .tasks
            .get(&task.id)
            .is_some_and(|task| task.status == TaskStatus::Claimed && task.evidence_ids.is_empty())
    });
    tasks.map(|task: &Task| task.id.as_str()).collect()
}

/// The last verdict, if it is about the present work: the verification ended with it.
pub(super) fn current_verdict(state: &RunState) -> Option<&PlanVerdict> {
    let verification = state
        .plan
        .verification_task()
        .and_then(|task| state.tasks.get(&task.id))?;
    let last = state.verdicts.last()?;
    let has_ended = matches!(verification.status, TaskStatus::Passed | TaskStatus::Failed);
    let is_its_end = verification
        .last_end
        .as_ref()
        .is_some_and(|end| end.evidence == last.summary_line());
    (has_ended && is_its_end).then_some(last)
}

fn judged_by(state: &RunState) -> &'static str {
    match (current_verdict(state), state.verdicts.is_empty()) {
        (Some(PlanVerdict { passed: true, .. }), _) => "#### Judged by the verifier\n\n",
        (Some(PlanVerdict { passed: false, .. }), _) => {
            "#### Claimed, and not confirmed: the verdict is FAIL\n\n"
        }
        (None, true) => "#### Claimed, and not judged\n\n",
        (None, false) => "#### Claimed, and not judged since work went on\n\n",
    }
}

fn exit_text(outcome: Option<&TaskCheckOutcome>, is_vacuous: bool) -> String {
    let Some(outcome) = outcome else {
        return "not run".to_owned();
    };
    let word = outcome.verdict.word();
    match (&outcome.verdict, outcome.exit) {
        (TaskCheckVerdict::Green, Some(exit)) if is_vacuous => {
            format!("{exit}, as before the work")
        }
        (TaskCheckVerdict::Green | TaskCheckVerdict::Red, Some(exit)) => exit.to_string(),
        (_, Some(exit)) => format!("{exit}, {word}"),
        (_, None) => word.to_owned(),
    }
}

fn verdict_line(
    state: &RunState,
    verdict: &PlanVerdict,
    Amount { rows, columns }: Amount,
) -> String {
    let word = if verdict.passed { "PASS" } else { "FAIL" };
    let shown_by = state
        .evidence
        .iter()
        .filter(|known| verdict.evidence_ids.contains(&known.id));
    let mut points: Vec<String> = shown_by.map(evidence_line).collect();
    if !verdict.note.is_empty() {
        points.push(format!(
            "Its note: {}",
            sanitize(&verdict.note, columns + 24)
        ));
    }
    let gap = if points.is_empty() { "" } else { "\n" };
    format!(
        "Verdict of the verifier: {word}\n\n{}{gap}",
        bullet_list(&points, rows)
    )
}

pub(super) fn evidence_line(known: &Evidence) -> String {
    let id = sanitize(&known.id, 20);
    format!(
        "{id} {}, exit {}",
        paste_form(&known.command, 70),
        exit_text(Some(&known.outcome), false)
    )
}

//! What evidence shows: commands that were run and were green, by the worker that had to run them. Why it does not, in
//! words.

use omo_core::text::sanitize;
use omo_plan::model::TaskKind;

use crate::event::{Evidence, PlanVerdict};
use crate::state::{RunState, TaskStatus};

/// Whether evidence shows that a task is done: the worker that is at it has run all of it, and all is known and green.
pub(crate) fn check_worker_evidence(state: &RunState, task: &str, ids: &[String]) -> Result<(), String> {
    if ids.is_empty() {
        return Err("no evidence is named".to_owned());
    }
    for id in ids {
        let evidence = green_evidence(state, id)?;
        if evidence.task != task {
            return Err(format!("{} was run for {}", evidence.id, evidence.task));
        }
        if !is_of_current_worker(state, evidence) {
            return Err(format!("{} was run by an earlier worker", evidence.id));
        }
    }
    Ok(())
}

/// Whether what is known of the whole lets a verdict say that all of it is done: every task is, everything that is
/// cited was green, some of it was run by the verifier, and no check of the tasks is red or was not run since.
pub(crate) fn check_passing_verdict(state: &RunState, verdict: &PlanVerdict) -> Result<(), String> {
    check_tasks_and_evidence(state, verdict)?;
    for (place, check) in state.plan.final_checks.iter().enumerate() {
        let command = sanitize(&check.command, 120).replace('`', "'");
        match state.final_checks.get(&place) {
            None => return Err(format!("`{command}` was not run since the verification began")),
            Some(outcome) if !outcome.is_green() => {
                return Err(format!("`{command}` {}", sanitize(outcome.describe(), 160)));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The same without the checks of the tasks.
pub(crate) fn check_tasks_and_evidence(state: &RunState, verdict: &PlanVerdict) -> Result<(), String> {
    for task in state.plan.tasks.iter().filter(|task| task.kind != TaskKind::Verify) {
        let is_done = match state.tasks.get(&task.id).map(|known| known.status) {
            Some(TaskStatus::Passed | TaskStatus::Claimed) => true,
            // No command proves it: the verifier's own look is all that there is, and it stays unverified.
            Some(TaskStatus::Unverified) => state.plan.policy.unproved_continues,
            _ => false,
        };
        if !is_done {
            let standing = state.standing(&task.id).map_or("missing", |standing| standing.word());
            return Err(format!("{} {} is {standing}", state.plan.dialect.unit_word(), task.id));
        }
    }
    if verdict.evidence_ids.is_empty() {
        return Err("no evidence is named".to_owned());
    }
    let verification = state.plan.verification_task().map(|task| task.id.as_str()).unwrap_or_default();
    let mut has_own = false;
    for id in &verdict.evidence_ids {
        let evidence = green_evidence(state, id)?;
        has_own |= evidence.task == verification && is_of_current_worker(state, evidence);
    }
    if has_own { Ok(()) } else { Err("none of the evidence was run by this verification".to_owned()) }
}

/// Whether evidence was run by the worker that is at its task.
fn is_of_current_worker(state: &RunState, evidence: &Evidence) -> bool {
    state.tasks.get(&evidence.task).is_some_and(|known| known.evidence_ids.contains(&evidence.id))
}

/// The evidence of this id, where it shows anything.
fn green_evidence<'a>(state: &'a RunState, id: &str) -> Result<&'a Evidence, String> {
    let known = state.evidence.iter().find(|known| known.id == id);
    let known = known.ok_or_else(|| format!("there is no evidence `{}`", sanitize(id, 20)))?;
    if known.outcome.is_green() {
        return Ok(known);
    }
    Err(format!("{} is not green: {}", known.id, sanitize(known.outcome.describe(), 160)))
}

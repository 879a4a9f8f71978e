//! Rules by which evidence proves a task or a whole run: its commands are green, and the worker
//! that had to run them ran them. A refusal is a text for that worker.

use std::collections::HashSet;

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::text::sanitize;
use omo_plan::model::{Plan, Task};
use omo_plan::proof::{ProofSource, judges_others};

use crate::event::{Evidence, PlanVerdict};
use crate::standing::is_work_done;
use crate::state::{RunState, TaskStatus};

pub(crate) fn unproved_reason(plan: &Plan, task: &Task) -> String {
    match &task.proved_by {
        Some(ProofSource::Task(judge)) => {
            format!("no check of its own: {judge} proves it, once that has passed")
        }
        Some(ProofSource::FinalChecks) => {
            "no check of its own: the checks of the whole prove it".to_owned()
        }
        None if plan.policy.unproved_continues => "no command proves it".to_owned(),
        None => "no Verify: nothing could prove it".to_owned(),
    }
}

/// Tasks without a check of their own that were proved since, with their common proof.
pub(crate) fn newly_proved(state: &RunState) -> Option<(Vec<String>, ProofSource)> {
    let mut found: Option<(Vec<String>, ProofSource)> = None;
    for task in &state.plan.tasks {
        if state
            .tasks
            .get(&task.id)
            .is_none_or(|task| task.status != TaskStatus::Unverified)
        {
            continue;
        }
        let Some(source) = task
            .proved_by
            .as_ref()
            .filter(|source| is_green(state, source) && judged_since(state, &task.id, source))
        else {
            continue;
        };
        match &mut found {
            None => found = Some((vec![task.id.clone()], source.clone())),
            Some((tasks, known)) if known == source => tasks.push(task.id.clone()),
            Some(_) => {}
        }
    }
    found
}

/// `true` if the proof is newer than the last work on the task; new work voids checks of the whole.
pub(crate) fn judged_since(state: &RunState, task: &str, source: &ProofSource) -> bool {
    let at = |id: &str| state.tasks.get(id).and_then(|task| task.updated_at);
    match source {
        ProofSource::Task(judge) => at(task)
            .zip(at(judge))
            .is_some_and(|(done, judged)| done < judged),
        ProofSource::FinalChecks => true,
    }
}

pub(crate) fn is_green(state: &RunState, source: &ProofSource) -> bool {
    match source {
        ProofSource::Task(judge) => state
            .tasks
            .get(judge)
            .is_some_and(|task| task.status == TaskStatus::Passed),
        ProofSource::FinalChecks => {
            let mut outcomes =
                (0..state.plan.final_checks.len()).map(|place| state.final_checks.get(&place));
            !state.plan.final_checks.is_empty()
                && outcomes.all(|known| known.is_some_and(TaskCheckOutcome::is_green))
        }
    }
}

/// `true` if a task's check judges work of earlier tasks: it may be green before the task begins.
pub(crate) fn judges_earlier_work(state: &RunState, task: &Task, check: &TaskCheck) -> bool {
    if !state.plan.policy.unproved_continues {
        return false;
    }
    let mut checkpoints = state
        .plan
        .checkpoints
        .iter()
        .filter(|known| known.task == task.id)
        .peekable();
    let is_checkpoint = checkpoints.peek().is_some();
    if is_checkpoint && !checkpoints.any(|known| known.check == *check) {
        return false;
    }
    let mut others = state.plan.tasks.iter().filter(|other| other.id != task.id);
    let judges_begun_work = others.any(|other| {
        let is_proved_here =
            matches!(&other.proved_by, Some(ProofSource::Task(judge)) if *judge == task.id);
        let is_begun = state
            .tasks
            .get(&other.id)
            .is_some_and(|other| other.attempts > 0);
        is_begun && (is_proved_here || is_checkpoint && other.section == task.section)
    });
    judges_begun_work || task.files.is_empty() && judges_others(task)
}

pub(crate) fn describe_proof(state: &RunState, source: &ProofSource) -> String {
    let (name, checks): (String, Vec<&TaskCheck>) = match source {
        ProofSource::Task(judge) => (
            judge.clone(),
            state
                .plan
                .task(judge)
                .into_iter()
                .flat_map(Task::proving_checks)
                .collect(),
        ),
        ProofSource::FinalChecks => (
            "the checks of the whole".to_owned(),
            state.plan.final_checks.iter().collect(),
        ),
    };
    let commands: Vec<String> = checks
        .iter()
        .map(|check| format!("`{}`", sanitize(&check.command, 120).replace('`', "'")))
        .collect();
    format!(
        "no check of its own; proved by {name}: {}",
        sanitize(&commands.join(", "), 300)
    )
}

/// Accepts evidence for a task: at least one id, each green and run by the task's present worker.
pub(crate) fn check_worker_evidence(
    state: &RunState,
    task: &str,
    ids: &[String],
) -> Result<(), String> {
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

/// Accepts a pass: tasks done, evidence green and some the verifier's, checks of the whole green.
pub(crate) fn check_passing_verdict(state: &RunState, verdict: &PlanVerdict) -> Result<(), String> {
    check_tasks_and_evidence(state, verdict)?;
    if !judges_the_whole(state) {
        return Ok(());
    }
    for (place, check) in state.plan.final_checks.iter().enumerate() {
        let command = sanitize(&check.command, 120).replace('`', "'");
        match state.final_checks.get(&place) {
            None => {
                return Err(format!(
                    "`{command}` was not run since the verification began"
                ));
            }
            Some(outcome) if !outcome.is_green() => {
                return Err(format!("`{command}` {}", sanitize(outcome.describe(), 160)));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

pub(crate) fn check_tasks_and_evidence(
    state: &RunState,
    verdict: &PlanVerdict,
) -> Result<(), String> {
    let review = running_review(state);
    for task in state
        .plan
        .work_tasks()
        .filter(|task| review.is_none_or(|review| review.deps.contains(&task.id)))
    {
        // A task that no command proves the verifier only looks at, and it stays unproved.
        let task_state = state.tasks.get(&task.id);
        let is_done = task_state
            .is_some_and(|task_state| is_work_done(&state.plan.policy, task_state.status));
        if !is_done {
            let standing = state
                .standing(&task.id)
                .map_or("missing", |standing| standing.word());
            return Err(format!(
                "{} {} is {standing}",
                state.plan.dialect.unit_word(),
                task.id
            ));
        }
    }
    if verdict.evidence_ids.is_empty() {
        // A task that no command proves stays unproved after a good review too: a reviewer may judge it by reading.
        let is_by_reading = state.plan.policy.unproved_continues;
        return if is_by_reading {
            Ok(())
        } else {
            Err("no evidence is named".to_owned())
        };
    }
    let verification = review.map(|task| task.id.as_str()).unwrap_or_default();
    let mut has_own = false;
    for id in &verdict.evidence_ids {
        let evidence = green_evidence(state, id)?;
        has_own |= evidence.task == verification && is_of_current_worker(state, evidence);
    }
    if has_own {
        Ok(())
    } else {
        Err("none of the evidence was run by this verification".to_owned())
    }
}

pub(crate) fn running_review(state: &RunState) -> Option<&Task> {
    state
        .plan
        .tasks
        .iter()
        .filter(|task| task.is_verification())
        .find(|task| {
            state
                .tasks
                .get(&task.id)
                .is_some_and(|task| task.running.is_some())
        })
}

pub(crate) fn judges_the_whole(state: &RunState) -> bool {
    let Some(review) = running_review(state) else {
        return true;
    };
    let judged: HashSet<&str> = review.deps.iter().map(String::as_str).collect();
    state
        .plan
        .tasks
        .iter()
        .all(|task| task.is_verification() || judged.contains(task.id.as_str()))
}

fn is_of_current_worker(state: &RunState, evidence: &Evidence) -> bool {
    state
        .tasks
        .get(&evidence.task)
        .is_some_and(|task| task.evidence_ids.contains(&evidence.id))
}

fn green_evidence<'a>(state: &'a RunState, id: &str) -> Result<&'a Evidence, String> {
    let known = state.evidence.iter().find(|known| known.id == id);
    let known = known.ok_or_else(|| format!("there is no evidence `{}`", sanitize(id, 20)))?;
    if known.outcome.is_green() {
        return Ok(known);
    }
    Err(format!(
        "{} is not green: {}",
        known.id,
        sanitize(known.outcome.describe(), 160)
    ))
}

//! Verbs of a task list's run alone: evidence, a verdict on the whole, and later tasks.

use omo_core::text::sanitize;
use omo_plan::id;
use omo_plan::model::{MAX_PLAN_TASKS, Task};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_plan::task_list::criterion::criterion_text;

use super::{VerbCaller, ended_refusal, find_task, task_of_ticket};
use crate::event::{ClosedFinding, EventKind, Evidence, PlanVerdict, TaskNote};
use crate::evidence_rules;
use crate::state::{MAX_REASON_CHARS, RunPhase, RunState, TaskStatus};

const NEXT_HINT: &str = "`omo agent next` says what comes next";

/// Records evidence under a new id; refuses as [`super::task_of_ticket`].
pub fn record_evidence(
    state: &RunState,
    ticket: &str,
    evidence: Evidence,
) -> Result<EventKind, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    let attempt = state.attempt_of(&task.id);
    let id = format!("e{}", state.evidence.len() + 1);
    Ok(EventKind::EvidenceRan {
        evidence: Evidence {
            id,
            task: task.id.clone(),
            attempt,
            ..evidence
        },
    })
}

/// Records a worker's note; refuses as [`super::task_of_ticket`], and an empty or surplus note.
pub fn leave_note(state: &RunState, ticket: &str, text: &str) -> Result<EventKind, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    // A mark follows where the text is cut.
    let text = sanitize(text, TaskNote::MAX_CHARS - 1);
    if text.trim().is_empty() {
        let hint =
            "say it in one line: `omo agent note --ticket … \"the parser is in src/parse.rs\"`";
        return Err(VerbRefusal::new(
            VerbRefusalKind::Usage,
            "the note is empty",
            hint,
        ));
    }
    if state.notes.len() >= TaskNote::MAX_COUNT {
        let message = format!(
            "the run has {} notes, and takes no more",
            TaskNote::MAX_COUNT
        );
        let hint = "`--note` of `omo agent done` still takes one line about this task";
        return Err(VerbRefusal::precondition(message, hint));
    }
    let attempt = state.attempt_of(&task.id);
    Ok(EventKind::NoteLeft(TaskNote {
        task: task.id.clone(),
        attempt,
        text,
    }))
}

/// Objection to a passing verdict by its verifier; the checks of the tasks run next, and [`give_verdict`] looks at
/// them. `None` for a ticket that is not the verifier's: that is for [`give_verdict`] to say.
pub fn verdict_objection(state: &RunState, ticket: &str, verdict: &PlanVerdict) -> Option<String> {
    let is_verifier = task_of_ticket(state, ticket).is_ok_and(Task::is_verification);
    if is_verifier && verdict.passed {
        evidence_rules::check_tasks_and_evidence(state, verdict).err()
    } else {
        None
    }
}

/// Records a verdict. Refuses a ticket that is not the verifier's, a pass against a
/// [`verdict_objection`] or a check not green since its begin, and a refusal without tasks.
pub fn give_verdict(
    state: &RunState,
    ticket: &str,
    verdict: PlanVerdict,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    if !task.is_verification() {
        let message = format!(
            "that ticket is of {} {}, and not of the verification",
            task_word(state),
            task.id
        );
        return Err(VerbRefusal::precondition(
            message,
            "a worker ends with `omo agent done`",
        ));
    }
    if verdict.passed {
        evidence_rules::check_passing_verdict(state, &verdict).map_err(|why| {
            VerbRefusal::new(
                VerbRefusalKind::ChecksNotGreen,
                format!("PASS does not count: {why}"),
                PASS_HINT,
            )
        })?;
        // A task that is done again is none that a passing verdict could name.
        return Ok(vec![EventKind::VerdictGiven {
            verdict: PlanVerdict {
                reopen: Vec::new(),
                ..sanitize_verdict(verdict)
            },
        }]);
    }
    for (id, _) in &verdict.reopen {
        if find_task(state, id)?.is_verification() {
            let message = "the verification is done again by itself";
            return Err(VerbRefusal::new(VerbRefusalKind::Usage, message, FAIL_HINT));
        }
    }
    if let Some(id) = verdict
        .evidence_ids
        .iter()
        .find(|id| state.evidence.iter().all(|known| known.id != **id))
    {
        let message = format!("there is no evidence `{}`", sanitize(id, 20));
        return Err(VerbRefusal::new(
            VerbRefusalKind::NotFound,
            message,
            "`omo agent evidence list` shows what there is",
        ));
    }
    // A verification begins when every task is done: one that is not came later.
    if verdict.reopen.is_empty()
        && !state.plan.tasks.iter().any(|task| {
            let task_state = state.tasks.get(&task.id);
            task_state.is_some_and(|task_state| {
                matches!(task_state.status, TaskStatus::Pending | TaskStatus::Held)
            })
        })
    {
        return Err(VerbRefusal::new(
            VerbRefusalKind::Usage,
            "FAIL names nothing that is to be done again",
            FAIL_HINT,
        ));
    }
    Ok(vec![EventKind::VerdictGiven {
        verdict: sanitize_verdict(verdict),
    }])
}

const PASS_HINT: &str = "fix it, or `omo agent verdict FAIL --ticket … --reopen \"ID: why\"` has it done again; the ticket stays valid";
const FAIL_HINT: &str =
    "`--reopen \"2: what is wrong\"` for each task, or `omo agent task create` for what is missing";

fn sanitize_verdict(verdict: PlanVerdict) -> PlanVerdict {
    let reopen = verdict
        .reopen
        .into_iter()
        .map(|(id, why)| (id, sanitize(&why, MAX_REASON_CHARS)))
        .collect();
    let later = verdict
        .later
        .iter()
        .map(|text| sanitize(text, MAX_REASON_CHARS))
        .filter(|text| !text.trim().is_empty());
    let later = later.take(PlanVerdict::MAX_LATER).collect();
    PlanVerdict {
        reopen,
        later,
        note: sanitize(&verdict.note, MAX_REASON_CHARS),
        ..verdict
    }
}

/// Closes a finding by its number; refuses an unknown or closed one.
pub fn close_finding(state: &RunState, number: usize) -> Result<EventKind, VerbRefusal> {
    if state.open_findings().all(|(known, _)| known != number) {
        let message = format!("the run has no open finding {number}");
        return Err(VerbRefusal::new(
            VerbRefusalKind::NotFound,
            message,
            "`omo run later` lists those that are open",
        ));
    }
    Ok(EventKind::FindingClosed(ClosedFinding { number }))
}

/// Adds a task for any caller: commands in its criteria need no approval, since they are judged,
/// and its worker runs them as evidence.
pub fn add_task(
    state: &RunState,
    _caller: &VerbCaller,
    task: Task,
) -> Result<EventKind, VerbRefusal> {
    if !state.is_task_list() {
        return Err(VerbRefusal::precondition(
            "the tasks of this run are those of its plan",
            "edit the plan, then `omo run resume` takes it in",
        ));
    }
    if state.phase != RunPhase::Executing {
        return Err(ended_refusal("`omo run resume` goes on with it"));
    }
    if let Err(invalid) = id::parse_id(&task.id) {
        return Err(VerbRefusal::new(
            VerbRefusalKind::Usage,
            invalid.to_string(),
            "a task is called by its number",
        ));
    }
    if task.is_verification() || task.id == omo_plan::task_list::VERIFY_TASK_ID {
        return Err(VerbRefusal::precondition(
            "the verification is not a task that can be added",
            NEXT_HINT,
        ));
    }
    if state.plan.task(&task.id).is_some() {
        return Err(VerbRefusal::precondition(
            format!("there is a {} {} already", task_word(state), task.id),
            "take another number",
        ));
    }
    if state.plan.tasks.len() >= MAX_PLAN_TASKS {
        return Err(VerbRefusal::precondition(
            format!("a run has at most {MAX_PLAN_TASKS} tasks"),
            NEXT_HINT,
        ));
    }
    for id in &task.deps {
        if find_task(state, id)?.is_verification() {
            return Err(VerbRefusal::precondition(
                format!(
                    "{} would wait for the verification, which comes after all tasks",
                    task.id
                ),
                NEXT_HINT,
            ));
        }
    }
    let mut added = task;
    let commands = std::mem::take(&mut added.checks);
    added.criteria.extend(commands.iter().map(criterion_text));
    Ok(EventKind::TaskAdded {
        task: Box::new(added),
    })
}

fn task_word(state: &RunState) -> &'static str {
    state.plan.dialect.unit_word()
}

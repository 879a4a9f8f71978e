//! Verbs on a run, such as `retry_task`: state and caller → events, or a refusal without effect.

mod attempts;
mod client_events;
mod task_list;
mod user_actions;

use omo_core::recorded_answer::RecordedAnswer;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_plan::model::{Plan, PlannedState, Task};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use crate::event::{AttemptEnd, EventActor, EventKind, ImportedStatus};
use crate::evidence_rules;
use crate::question_text::build_question;
use crate::rounds;
use crate::schedule::{self, NextAction};
use crate::standing::lacks_contract;
use crate::state::{ANSWER_SKIP, MAX_LOST_WORKERS, QuestionState, RunPhase, RunState, TaskStatus};

pub(crate) use crate::evidence_rules::judges_the_whole;
pub use attempts::{
    AttemptMeasurement, AttemptStart, CommitOutcome, StrayCommit, final_check_events,
    give_up_attempt, judge_attempt, may_start, report_lost_worker, reverts_changes, start_attempt,
    task_of_ticket, with_snapshot,
};
pub(crate) use attempts::{asks_about_commit, has_done_task};
pub use client_events::{client_end_events, lost_worktree_events, pause_event, running_task_in};
pub(crate) use client_events::{is_unrecorded_client, limit_reset_at};
pub use task_list::{
    add_task, close_finding, give_verdict, leave_note, record_evidence, verdict_objection,
};
pub use user_actions::{
    accept_billing, answer_question, cancel_run, distrust_ticks, foreign_ticks_event,
    reopen_passed_task, replace_plan, retry_task, set_budget, set_time_limit, skip_task,
};

#[derive(Clone, Debug, Default)]
pub struct VerbCaller {
    pub actor: EventActor,
    /// Last input of a person in that session; `None` where unknown, and unused for a terminal: a person is at it.
    pub prompted_at: Option<Timestamp>,
    pub recorded_answers: Vec<RecordedAnswer>,
    /// Group of the plan that the caller works on, as a client that the run itself has started.
    pub group: Option<String>,
}

impl VerbCaller {
    /// `true` if a person has typed since `at`; at a terminal one always has.
    fn has_user_spoken_since(&self, at: Timestamp) -> bool {
        self.actor.session.is_none() || self.prompted_at.is_some_and(|prompted| prompted > at)
    }
}

/// Probe for the life of a recorded process; `None` where unknown.
pub type ProcessProbe<'a> = &'a dyn Fn(&crate::event::RecordedProcess) -> Option<bool>;

/// Events that make `caller` the holder of a run, and give back tasks of dead workers. A run has
/// one holder at a time: refused while the process of another one lives.
pub fn join_run(
    state: &RunState,
    caller: &VerbCaller,
    is_alive: ProcessProbe,
) -> Result<Vec<EventKind>, VerbRefusal> {
    // A run that is over has no holder: the caller that goes on with it becomes the holder.
    if state.phase != RunPhase::Executing {
        return Ok(Vec::new());
    }
    // A client of the run itself takes it from no holder, and the supervisor of the clients gives their tasks back.
    if caller.group.is_some() {
        return Ok(Vec::new());
    }
    let holder = &state.holder;
    let holder_lives = holder.process.as_ref().and_then(is_alive);
    let is_terminal = caller.actor.session.is_none();
    let mut events = Vec::new();
    if !holder.is_same_holder(&caller.actor) && !is_terminal {
        // A holder of unknown life is taken to live; `omo run resume` takes the run from it.
        if holder.session.is_some() && holder_lives != Some(false) {
            return Err(held_refusal(state));
        }
        events.push(EventKind::HolderChanged);
    } else if !is_terminal
        && (holder_lives == Some(false)
            || holder.process.is_none() && caller.actor.process.is_some())
    {
        // The same session in another process, or an unknown one: without this a dead session could never be found.
        events.push(EventKind::HolderChanged);
    }
    // The clients of parallel workers have a supervisor, which looks after them.
    let ended_workers = state
        .running_attempts()
        .filter(|_| state.parallel.is_none())
        // A worker of unknown life is as alive as the holder that started it.
        .filter(
            |(_, running)| match running.by.process.as_ref().and_then(is_alive) {
                Some(lives) => !lives,
                None => holder_lives == Some(false) && running.by.is_same_holder(holder),
            },
        );
    events
        .extend(ended_workers.map(|(id, _)| lost_worker_event(state, id, "its session has ended")));
    Ok(events)
}

/// Takes a run from its holder, on `omo run resume` by a person.
pub fn take_over_run(state: &RunState, caller: &VerbCaller) -> Vec<EventKind> {
    let mut events = Vec::new();
    match &state.phase {
        RunPhase::Executing if state.holder == caller.actor => {}
        RunPhase::Executing => events.push(EventKind::HolderChanged),
        RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => {
            events.extend(rounds::resume_events(state, None));
        }
    }
    // The supervisor goes on looking after the clients of sessions.
    let is_looked_after = state.parallel.is_some() && state.phase == RunPhase::Executing;
    let others = state
        .running_attempts()
        .filter(|(_, running)| !is_looked_after && running.by != caller.actor);
    events.extend(others.map(|(id, _)| lost_worker_event(state, id, "the run was taken over")));
    events
}

fn held_refusal(state: &RunState) -> VerbRefusal {
    let pid = state
        .holder
        .process
        .as_ref()
        .map(|process| format!(", process {}", process.pid))
        .unwrap_or_default();
    let message = format!(
        "the run is held by {}{pid}, last at work {}",
        state.holder.describe(),
        state.updated_at
    );
    let hint =
        "wait for it, end it there, or take it over from a terminal of your own: `omo run resume`";
    VerbRefusal::new(VerbRefusalKind::Contention, message, hint)
}

fn lost_worker_event(state: &RunState, id: &str, why: &str) -> EventKind {
    let task = state.tasks.get(id);
    let attempt = task.map_or(1, |task| task.attempts);
    if task.is_some_and(|task| task.lost_workers + 1 >= MAX_LOST_WORKERS) {
        let evidence = format!("its worker was lost {MAX_LOST_WORKERS} times");
        let end = AttemptEnd {
            attempt,
            evidence,
            ..AttemptEnd::default()
        };
        return EventKind::TaskFailed {
            task: id.to_owned(),
            is_final: true,
            end,
        };
    }
    EventKind::TaskHeld {
        task: id.to_owned(),
        attempt,
        reason: why.to_owned(),
        is_pause: false,
    }
}

/// The next event that no caller asks for, such as a due question or the end; applied until `None`.
pub fn automatic_event(state: &RunState) -> Option<EventKind> {
    if state.phase == RunPhase::Executing
        && let Some(task) = tasks_without_contract(&state.plan).find(|task| is_waiting(state, task))
    {
        return Some(missing_contract_event(task));
    }
    if state.phase == RunPhase::Executing
        && let Some((tasks, by)) = evidence_rules::newly_proved(state)
    {
        return Some(EventKind::TasksProved { tasks, by });
    }
    if state.phase == RunPhase::Executing
        && let Some(task) = state.refused_commit(Some(ANSWER_SKIP))
    {
        let reason =
            "its commit was refused, and its user leaves it out; its work is kept".to_owned();
        return Some(EventKind::TaskSkipped {
            task: task.id.clone(),
            reason,
        });
    }
    match schedule::next_action(state) {
        NextAction::AskNew(about) => Some(EventKind::QuestionOpened {
            question: build_question(state, about),
        }),
        NextAction::End(result) => Some(EventKind::RunEnded { result }),
        NextAction::NextRound { reopened } => Some(EventKind::RoundStarted {
            round: state.round.saturating_add(1),
            reopened,
        }),
        _ => None,
    }
}

/// Events of a new run: checked-off tasks are done, tasks without a promised contract fail.
pub fn opening_events(plan: &Plan) -> Vec<EventKind> {
    let known = plan.tasks.iter().filter_map(known_by_plan_event);
    known
        .chain(tasks_without_contract(plan).map(missing_contract_event))
        .collect()
}

fn known_by_plan_event(task: &Task) -> Option<EventKind> {
    let (status, evidence) = match task.state {
        PlannedState::Open => return None,
        PlannedState::Done => (
            ImportedStatus::Done,
            "the plan says that there is nothing left to do",
        ),
        PlannedState::LeftOut => (ImportedStatus::Blocked, "the plan leaves it out"),
    };
    let (task, evidence) = (task.id.clone(), evidence.to_owned());
    Some(EventKind::TaskImported {
        task,
        status,
        evidence,
        files: Vec::new(),
    })
}

fn tasks_without_contract(plan: &Plan) -> impl Iterator<Item = &Task> {
    plan.tasks.iter().filter(|task| lacks_contract(plan, task))
}

fn missing_contract_event(task: &Task) -> EventKind {
    let end = AttemptEnd {
        evidence: "missing Task Contract".to_owned(),
        ..AttemptEnd::default()
    };
    EventKind::TaskFailed {
        task: task.id.clone(),
        is_final: true,
        end,
    }
}

fn is_waiting(state: &RunState, task: &Task) -> bool {
    let status = state.tasks.get(&task.id).map(|task| task.status);
    matches!(status, Some(TaskStatus::Pending | TaskStatus::Held))
}

fn ended_refusal(hint: &str) -> VerbRefusal {
    VerbRefusal::precondition("the run has ended", hint)
}

fn unanswered_refusal(question: &QuestionState) -> VerbRefusal {
    let first = question.question.text.lines().next().unwrap_or_default();
    let message = format!(
        "question {} waits for an answer: {}",
        question.question.id,
        sanitize(first, 200)
    );
    VerbRefusal::new(
        VerbRefusalKind::NeedsPerson,
        message,
        "`omo agent next` shows the question and how it is answered",
    )
}

pub fn find_task<'a>(state: &'a RunState, id: &str) -> Result<&'a Task, VerbRefusal> {
    state.plan.task(id).ok_or_else(|| {
        let ids: Vec<&str> = state
            .plan
            .tasks
            .iter()
            .take(20)
            .map(|task| task.id.as_str())
            .collect();
        let more = if state.plan.tasks.len() > ids.len() {
            ", …"
        } else {
            ""
        };
        let message = format!(
            "the plan has no {} `{}`",
            state.plan.dialect.unit_word(),
            sanitize(id, 60)
        );
        VerbRefusal::new(
            VerbRefusalKind::NotFound,
            message,
            format!("it has {}{more}", ids.join(", ")),
        )
    })
}

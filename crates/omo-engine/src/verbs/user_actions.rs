//! Decisions of a person about a run: an answer, a task left out or done again, an edited plan, the end.

use std::collections::BTreeSet;

use omo_core::text::sanitize;
use omo_plan::model::{Plan, PlannedState, Task};
use omo_plan::plan_summary::SESSION_PREFIX;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use super::{VerbCaller, ended_refusal, find_task, known_by_plan_event};
use crate::event::{EventKind, QuestionKind};
use crate::parallel_state::{GroupStatus, ParallelState};
use crate::question_text::build_question;
use crate::rounds;
use crate::standing::lacks_contract;
use crate::state::{
    ANSWER_CONTINUE, MAX_REASON_CHARS, QuestionState, RunPhase, RunState, TaskStanding, TaskState,
    TaskStatus,
};

/// Leaves a task out on a person's word; refuses a done, skipped or running one, and an ended run.
pub fn skip_task(
    state: &RunState,
    caller: &VerbCaller,
    id: &str,
    why: &str,
) -> Result<EventKind, VerbRefusal> {
    let task = find_task(state, id)?;
    if state.phase != RunPhase::Executing {
        return Err(ended_refusal(
            "`omo run retry TASK` has it done again, `omo run resume` goes on with the run",
        ));
    }
    match state.standing(id) {
        Some(
            standing @ TaskStanding::Is(
                TaskStatus::Running
                | TaskStatus::Passed
                | TaskStatus::Claimed
                | TaskStatus::Skipped,
            ),
        ) => {
            let message = format!("{id} is {}", standing.word());
            return Err(VerbRefusal::precondition(
                message,
                "only what is not at work and was not done can be left out",
            ));
        }
        _ => require_user(state, caller, id, "skip")?,
    }
    Ok(EventKind::TaskSkipped {
        task: task.id.clone(),
        reason: sanitize(why, MAX_REASON_CHARS),
    })
}

/// Has a failed, skipped or unproved task done again on a person's word; refuses any other one.
pub fn retry_task(
    state: &RunState,
    caller: &VerbCaller,
    id: &str,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = find_task(state, id)?;
    let standing = state.standing(id);
    let is_allowed = matches!(
        standing,
        Some(TaskStanding::Is(
            TaskStatus::Failed | TaskStatus::Skipped | TaskStatus::Unverified | TaskStatus::Claimed
        ))
    );
    if let (false, Some(standing)) = (is_allowed, &standing) {
        let hint = match standing {
            TaskStanding::Blocked { by } => format!("it waits for {by}: `omo run retry {by}`"),
            TaskStanding::Is(TaskStatus::Passed) => passed_retry_hint(state, id),
            TaskStanding::Is(_) => {
                "only what failed, was left out or could not be proved is done again".to_owned()
            }
        };
        let message = format!("{id} is {}", standing.word());
        return Err(VerbRefusal::precondition(message, hint));
    }
    if lacks_contract(&state.plan, task) {
        let message = format!("{id} still has no Task Contract");
        return Err(VerbRefusal::precondition(
            message,
            "add it to the plan, then `omo run resume`",
        ));
    }
    reopen(state, caller, task)
}

/// Has a passed task and all that depends on it done again; refuses while a worker is at those.
pub fn reopen_passed_task(
    state: &RunState,
    caller: &VerbCaller,
    id: &str,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = find_task(state, id)?;
    if state.standing(id) != Some(TaskStanding::Is(TaskStatus::Passed)) {
        return retry_task(state, caller, id);
    }
    let dependents = ended_dependents(state, id);
    let mut at_work = dependents.iter().filter(|id| {
        state
            .tasks
            .get(**id)
            .is_some_and(|task| task.running.is_some())
    });
    if let Some(other) = at_work.next() {
        let message = format!("a worker is at {other}, which depends on {id}");
        let hint = format!(
            "let it finish, or `omo agent fail --lost {other}` if it is gone; then run this again"
        );
        return Err(VerbRefusal::new(VerbRefusalKind::Contention, message, hint));
    }
    let mut events = reopen(state, caller, task)?;
    for other in dependents {
        if !is_done_again(&events, other) {
            let reason = format!("it depends on {id}, which is done again");
            events.push(EventKind::TaskReopened {
                task: other.to_owned(),
                reason,
            });
        }
    }
    Ok(events)
}

fn is_done_again(events: &[EventKind], id: &str) -> bool {
    events.iter().any(|event| match event {
        EventKind::TaskReopened { task, .. } => task == id,
        EventKind::RoundStarted { reopened, .. } => reopened.iter().any(|(task, _)| task == id),
        _ => false,
    })
}

/// The tasks that are done again with a passed one, and the command of a person for it.
fn passed_retry_hint(state: &RunState, id: &str) -> String {
    let dependents = ended_dependents(state, id);
    let with = match dependents.as_slice() {
        [] => "nothing that was done depends on it".to_owned(),
        dependents => format!(
            "with it what depends on it is done again: {}",
            dependents.join(", ")
        ),
    };
    format!("{with}; `omo run retry {id} --passed` has it done all the same")
}

/// Begun dependents, also through others or their sessions, in the order of the plan; skipped ones stay so.
fn ended_dependents<'a>(state: &'a RunState, id: &str) -> Vec<&'a str> {
    let mut found: BTreeSet<&str> = BTreeSet::from([id]);
    loop {
        let before = found.len();
        let groups: BTreeSet<&str> = state
            .plan
            .groups
            .iter()
            .filter(|group| group.tasks.iter().any(|id| found.contains(id.as_str())))
            .map(|group| group.id.as_str())
            .collect();
        let more: Vec<&str> = state
            .plan
            .tasks
            .iter()
            .filter(|task| {
                let group = state.plan.group_of(&task.id).map(|(_, group)| group);
                task.deps.iter().any(|dep| found.contains(dep.as_str()))
                    || group.is_some_and(|group| {
                        group.deps.iter().any(|dep| groups.contains(dep.as_str()))
                    })
            })
            .map(|task| task.id.as_str())
            .collect();
        found.extend(more);
        if found.len() == before {
            break;
        }
    }
    state
        .plan
        .tasks
        .iter()
        .filter(|task| found.contains(task.id.as_str()) || task.is_verification())
        .filter(|task| task.id != id)
        .filter(|task| {
            !matches!(
                state.status_of(&task.id),
                TaskStatus::Pending | TaskStatus::Held | TaskStatus::Skipped
            )
        })
        .map(|task| task.id.as_str())
        .collect()
}

fn reopen(
    state: &RunState,
    caller: &VerbCaller,
    task: &Task,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let id = task.id.as_str();
    require_user(state, caller, id, "retry")?;
    let mut events = Vec::new();
    if task.is_verification() {
        require_judgeable(state, task)?;
        events.extend((state.phase != RunPhase::Executing).then_some(EventKind::RunResumed));
    } else if state.phase != RunPhase::Executing {
        events.extend(rounds::resume_events(state, Some(id)));
    }
    events.push(EventKind::TaskReopened {
        task: task.id.clone(),
        reason: "asked for by its user".to_owned(),
    });
    Ok(events)
}

/// Refuses a review of tasks that ended undone; those it refused itself are as they were before.
fn require_judgeable(state: &RunState, review: &Task) -> Result<(), VerbRefusal> {
    let Some(other) = review.deps.iter().find(|id| {
        state.status_of(id).is_ended() && !state.unblocks_dependents(id) && !state.is_refused(id)
    }) else {
        return Ok(());
    };
    let word = state
        .standing(other)
        .map_or("open", |standing| standing.word());
    let message = format!("{} judges {other}, which is {word}", review.id);
    let hint = format!("`omo run retry {other}` has it done, and judged after that");
    Err(VerbRefusal::precondition(message, hint))
}

fn require_user(
    state: &RunState,
    caller: &VerbCaller,
    id: &str,
    verb: &str,
) -> Result<(), VerbRefusal> {
    let since = state
        .tasks
        .get(id)
        .and_then(|task| task.updated_at)
        .unwrap_or(state.opened_at);
    if caller.has_user_spoken_since(since) {
        return Ok(());
    }
    let message = format!(
        "a person decides about `omo run {verb} {id}`, and none has typed anything since {id} came to this"
    );
    Err(VerbRefusal::new(
        VerbRefusalKind::NeedsPerson,
        message,
        "end the turn and ask; once they have answered, run it again",
    ))
}

/// Records the answer that a person gave since the question was opened; refuses without one.
/// `plan_sha256` is the digest of the plan's file with the answer written into it.
pub fn answer_question(
    state: &RunState,
    caller: &VerbCaller,
    question: &str,
    option: &str,
    plan_sha256: Option<String>,
) -> Result<EventKind, VerbRefusal> {
    let known = state
        .questions
        .iter()
        .find(|known| known.question.id == question)
        .ok_or_else(|| {
            let message = format!("the run has no question `{}`", sanitize(question, 60));
            VerbRefusal::new(
                VerbRefusalKind::NotFound,
                message,
                "`omo agent next` shows the one that waits",
            )
        })?;
    if let Some(answer) = &known.answer {
        let message = format!("question {question} was answered: {}", answer.option);
        return Err(VerbRefusal::precondition(
            message,
            "`omo agent next` says what comes next",
        ));
    }
    if state.phase != RunPhase::Executing {
        return Err(ended_refusal(
            "`omo run resume` goes on with it, and asks again what is still open",
        ));
    }
    let options = known.question.option_ids();
    if !options.contains(&option) {
        let message = format!(
            "question {question} has no option `{}`",
            sanitize(option, 60)
        );
        return Err(VerbRefusal::new(
            VerbRefusalKind::NotFound,
            message,
            format!("it has {}", options.join(", ")),
        ));
    }
    if !caller.has_user_spoken_since(known.opened_at) {
        require_recorded_answer(caller, known, option)?;
    }
    Ok(EventKind::QuestionAnswered {
        question: question.to_owned(),
        option: option.to_owned(),
        plan_sha256,
    })
}

/// Refuses an answer that no person gave: within the turn only the client's dialog records a choice.
fn require_recorded_answer(
    caller: &VerbCaller,
    known: &QuestionState,
    option: &str,
) -> Result<(), VerbRefusal> {
    let question = &known.question;
    let id = &question.id;
    let QuestionKind::Decisions { decisions } = &question.kind else {
        let message = format!(
            "question {id} waits for a person, and none has typed anything since it was opened"
        );
        return Err(VerbRefusal::new(
            VerbRefusalKind::NeedsPerson,
            message,
            "show them the question and end the turn",
        ));
    };
    let only_decision = match &**decisions {
        [decision] => Some(decision),
        _ => None,
    };
    let Some(answer) = caller.recorded_answers.iter().rfind(|answer| {
        answer.at > known.opened_at
            && (answer.names(id)
                || only_decision.is_some_and(|decision| answer.names(&decision.id)))
    }) else {
        let message =
            format!("question {id} waits for a person, and no answer of theirs is recorded");
        let hint = format!(
            "ask with AskUserQuestion, header {id}, the choices as labels; where that does not work, show them the \
             question and end the turn: their next prompt lets the answer pass"
        );
        return Err(VerbRefusal::new(
            VerbRefusalKind::NeedsPerson,
            message,
            hint,
        ));
    };
    let is_chosen = question.options.iter().any(|known| {
        let others = question
            .options
            .iter()
            .filter(|other| other.id != known.id)
            .map(|other| other.text.as_str());
        known.id == option && answer.chooses(option, &known.text, others)
    });
    if is_chosen || answer.is_own_words() {
        return Ok(());
    }
    let message = format!(
        "the person answered question {id} with `{}`, not {option}",
        sanitize(&answer.answer, 60)
    );
    Err(VerbRefusal::new(
        VerbRefusalKind::NeedsPerson,
        message,
        "answer with what they chose, or end the turn and ask again",
    ))
}

/// Accepts `payer` before the question is asked; refused if no person has typed since the opening.
pub fn accept_billing(
    state: &RunState,
    caller: &VerbCaller,
    payer: &str,
) -> Result<Vec<EventKind>, VerbRefusal> {
    if !caller.has_user_spoken_since(state.opened_at) {
        let message = "a person decides who pays for the clients, and none has typed anything since the run was opened";
        return Err(VerbRefusal::new(
            VerbRefusalKind::NeedsPerson,
            message.to_owned(),
            "end the turn and ask them",
        ));
    }
    let question = build_question(
        state,
        QuestionKind::Billing {
            payer: payer.to_owned(),
        },
    );
    let answered = EventKind::QuestionAnswered {
        question: question.id.clone(),
        option: ANSWER_CONTINUE.to_owned(),
        plan_sha256: None,
    };
    Ok(vec![EventKind::QuestionOpened { question }, answered])
}

/// Sets the budget, in millionths of a US dollar; a higher one needs a person's word.
pub fn set_budget(
    state: &RunState,
    caller: &VerbCaller,
    micros: u64,
) -> Result<Option<EventKind>, VerbRefusal> {
    let Some(parallel) = state
        .parallel
        .as_ref()
        .filter(|parallel| parallel.policy.budget_micros != Some(micros))
    else {
        return Ok(None);
    };
    if parallel
        .policy
        .budget_micros
        .is_some_and(|before| micros > before)
    {
        require_person(
            state,
            caller,
            "a person decides what the clients may cost, and none has typed anything since",
        )?;
    }
    Ok(Some(EventKind::BudgetSet { micros }))
}

/// Sets the time limit of later clients, in seconds; a longer one needs a person's word.
pub fn set_time_limit(
    state: &RunState,
    caller: &VerbCaller,
    seconds: u32,
) -> Result<Option<EventKind>, VerbRefusal> {
    let Some(before) = state
        .parallel
        .as_ref()
        .map(|parallel| parallel.policy.time_limit_seconds())
    else {
        return Ok(None);
    };
    if seconds > before {
        require_person(
            state,
            caller,
            "a person decides for how long a client may run, and none has typed anything since",
        )?;
    }
    Ok((seconds != before).then_some(EventKind::TimeLimitSet { seconds }))
}

/// Refuses unless a person has typed since the open question, or the opening of the run.
fn require_person(state: &RunState, caller: &VerbCaller, message: &str) -> Result<(), VerbRefusal> {
    let since = state
        .open_question()
        .map_or(state.opened_at, |question| question.opened_at);
    if caller.has_user_spoken_since(since) {
        return Ok(());
    }
    Err(VerbRefusal::new(
        VerbRefusalKind::NeedsPerson,
        message.to_owned(),
        "show them the question and end the turn",
    ))
}

/// Cancels a run; refuses an ended one.
pub fn cancel_run(state: &RunState, why: &str) -> Result<EventKind, VerbRefusal> {
    if state.phase == RunPhase::Executing {
        return Ok(EventKind::RunCancelled {
            reason: sanitize(why, MAX_REASON_CHARS),
        });
    }
    Err(VerbRefusal::precondition(
        "the run has ended already",
        "`omo run show` says how",
    ))
}

/// Takes an edited plan, in which checked-off tasks count as done. Refuses another dialect, a
/// changed or removed task with a worker, and a session that would lose its work.
pub fn replace_plan(
    state: &RunState,
    plan: Plan,
    approved: String,
) -> Result<Vec<EventKind>, VerbRefusal> {
    if plan.dialect != state.plan.dialect {
        let message = format!(
            "the plan was {} and is {} now",
            state.plan.dialect.word(),
            plan.dialect.word()
        );
        return Err(VerbRefusal::precondition(
            message,
            "open a run of its own for it",
        ));
    }
    let differences = state.compare_plan(&plan);
    let mut at_work = state.running_attempts().map(|(id, _)| id);
    if let Some(id) = at_work.find(|id| {
        differences
            .changed
            .iter()
            .chain(&differences.removed)
            .any(|other| other == id)
    }) {
        let message = format!("a worker is at {id}, which was changed in the plan");
        return Err(VerbRefusal::new(
            VerbRefusalKind::Contention,
            message,
            "let it finish, or `omo agent fail` it; then run this again",
        ));
    }
    if let Some(parallel) = &state.parallel {
        require_kept_sessions(state, parallel, &plan)?;
    }
    let done: Vec<EventKind> = plan
        .tasks
        .iter()
        .filter(|task| {
            task.state != PlannedState::Open && differences.added.contains(&task.id)
                || differences.ticked.contains(&task.id)
        })
        .filter_map(known_by_plan_event)
        .collect();
    Ok([
        vec![EventKind::PlanChanged {
            plan: Box::new(plan),
            approved,
        }],
        done,
    ]
    .concat())
}

/// Reopens tasks that were checked off without a tick of omo, maybe by a worker; returns their ids.
pub fn distrust_ticks(state: &RunState, plan: &mut Plan) -> Vec<String> {
    let was_done: BTreeSet<&str> = state
        .plan
        .tasks
        .iter()
        .filter(|task| task.state == PlannedState::Done || state.ticked.contains(&task.id))
        .map(|task| task.id.as_str())
        .collect();
    let mut opened = Vec::new();
    for task in &mut plan.tasks {
        if task.state == PlannedState::Done && !was_done.contains(task.id.as_str()) {
            task.state = PlannedState::Open;
            opened.push(task.id.clone());
        }
    }
    opened
}

/// Event that has ticks of [`distrust_ticks`] cleared in the file, like omo's own at open tasks.
pub fn foreign_ticks_event(tasks: Vec<String>) -> Option<EventKind> {
    let has_one = !tasks.is_empty();
    has_one.then_some(EventKind::PlanTicked {
        ticked: tasks,
        opened: Vec::new(),
        plan_sha256: None,
        tip: None,
    })
}

/// Refuses a plan that parts sessions from their client, or from the commits on their branch.
fn require_kept_sessions(
    state: &RunState,
    parallel: &ParallelState,
    plan: &Plan,
) -> Result<(), VerbRefusal> {
    if let Some(id) = parallel
        .groups
        .keys()
        .filter(|id| plan.groups.iter().all(|group| group.id != **id))
        .find(|id| parallel.has_status(id, &[GroupStatus::Running]))
    {
        let message = format!(
            "a client works on {}, which the plan does not have any more",
            session_name(id)
        );
        return Err(VerbRefusal::new(
            VerbRefusalKind::Contention,
            message,
            "let it finish, or `omo run cancel`; then run this again",
        ));
    }
    for (id, _) in state.tasks.iter().filter(|(_, task)| has_work(task)) {
        let (Some((_, from)), Some((_, to))) = (state.plan.group_of(id), plan.group_of(id)) else {
            continue;
        };
        // Merged work is the start of every session that has not begun yet.
        let may_move = parallel.has_status(&from.id, &[GroupStatus::Merged])
            && parallel
                .groups
                .get(&to.id)
                .is_none_or(|group| group.status == GroupStatus::Merged);
        if from.id != to.id && !may_move {
            let word = state.plan.dialect.unit_word();
            let message = format!(
                "{word} {id} was worked on in {}, and no other worker has that",
                session_name(&from.id)
            );
            let hint = format!(
                "leave it there; a run of its own starts the plan over: `omo run start {}`",
                plan.source.path
            );
            return Err(VerbRefusal::precondition(message, hint));
        }
    }
    Ok(())
}

fn session_name(id: &str) -> String {
    format!("session {}", id.strip_prefix(SESSION_PREFIX).unwrap_or(id))
}

fn has_work(task: &TaskState) -> bool {
    let has_commit = task
        .last_end
        .as_ref()
        .is_some_and(|end| end.commit.is_some());
    task.running.is_some()
        || task.baseline.is_some()
        || task.status == TaskStatus::Passed && has_commit
}

//! What each verb does to a run: from its state, and from what the edge measured, to events or to a
//! refusal.
//!
//! A refusal changes nothing. Whoever asks is told what was wrong and what to do.

use omo_core::check::{Check, CheckOutcome, CheckVerdict};
use omo_core::timestamp::Timestamp;
use omo_core::words::neutral;

use crate::model::{Dialect, OnFailure, Plan, Unit, UnitKind};
use crate::run::event::{Actor, GateKind, UnitEnd, What};
use crate::run::question::gate;
use crate::run::schedule::{self, Action, lacks_contract};
use crate::run::state::{FINAL, GateState, Phase, RunState, Standing, UnitStatus};

/// So often a worker may be lost before the unit counts as failed: a session that dies at the same
/// unit again and again must not be fed to it for ever.
pub const MAX_LOST: u32 = 3;

/// Why a verb does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of thing is in the way.
    pub kind: RefusalKind,
    /// What, in one sentence without its end.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// What kind of thing is in the way of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// What was named is not there.
    NotFound,
    /// Something else has to happen first, or it is not this caller's to do.
    Precondition,
    /// Somebody else is at it.
    Contention,
    /// A person has to say so.
    Human,
}

impl Refusal {
    fn new(kind: RefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }
}

/// Who asks, and what is known about them.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Who it is.
    pub actor: Actor,
    /// When a person last typed something in that session; `None` where that is not known. Does not
    /// matter for a terminal: a person is at it.
    pub prompted_at: Option<Timestamp>,
}

impl Caller {
    /// Whether a person has spoken since: at a terminal one always does.
    fn has_person_since(&self, at: Timestamp) -> bool {
        self.actor.session.is_none() || self.prompted_at.is_some_and(|prompted| prompted > at)
    }
}

/// Whether a process that was written down still lives; `None` where that cannot be told.
pub type IsAlive<'a> = &'a dyn Fn(&crate::run::event::Process) -> Option<bool>;

/// Takes part in a run: what has to be written down before anything else that this caller does.
///
/// A run belongs to one session at a time. It goes over to another one when the process of the first is
/// gone, and its units that were at work are then given back.
///
/// # Errors
///
/// The session that the run belongs to lives.
pub fn take(state: &RunState, caller: &Caller, is_alive: IsAlive) -> Result<Vec<What>, Refusal> {
    // A run that is over has no holder: whoever goes on with it becomes that.
    if state.phase != Phase::Executing {
        return Ok(Vec::new());
    }
    let holder = &state.holder;
    let holder_lives = holder.process.as_ref().and_then(is_alive);
    let is_terminal = caller.actor.session.is_none();
    let mut events = Vec::new();
    if !holder.is_same(&caller.actor) && !is_terminal {
        // A holder of whom nothing can be told is taken to live; `omo run resume` takes the run from it.
        if holder.session.is_some() && holder_lives != Some(false) {
            return Err(held(state));
        }
        events.push(What::Taken);
    } else if !is_terminal
        && (holder_lives == Some(false) || holder.process.is_none() && caller.actor.process.is_some())
    {
        // The same session in another process of the client, or one whose process was not known: without
        // it nobody could ever tell that this session is gone.
        events.push(What::Taken);
    }
    // Of a worker of whom nothing can be told, what is known of the holder that started it is true.
    let is_lost = |by: &Actor| match by.process.as_ref().and_then(is_alive) {
        Some(lives) => !lives,
        None => holder_lives == Some(false) && by.is_same(holder),
    };
    let gone = state.running().filter(|(_, running)| is_lost(&running.by));
    events.extend(gone.map(|(id, _)| lost(state, id, "its session has ended")));
    Ok(events)
}

/// Takes a run from whoever has it: what a person asks for with `omo run resume`.
pub fn take_over(state: &RunState, caller: &Caller) -> Vec<What> {
    let mut events = Vec::new();
    match &state.phase {
        Phase::Executing if state.holder == caller.actor => {}
        Phase::Executing => events.push(What::Taken),
        Phase::Ended { .. } | Phase::Cancelled { .. } => events.push(What::Resumed),
    }
    let others = state.running().filter(|(_, running)| running.by != caller.actor);
    events.extend(others.map(|(id, _)| lost(state, id, "the run was taken over")));
    events
}

fn held(state: &RunState) -> Refusal {
    let pid = state.holder.process.as_ref().map(|process| format!(", process {}", process.pid)).unwrap_or_default();
    let message = format!("the run is held by {}{pid}, last at work {}", state.holder.word(), state.updated_at);
    let hint = "wait for it, end it there, or take it over from a terminal of your own: `omo run resume`";
    Refusal::new(RefusalKind::Contention, message, hint)
}

/// A worker is gone.
fn lost(state: &RunState, id: &str, why: &str) -> What {
    let unit = state.units.get(id);
    let attempt = unit.map_or(1, |unit| unit.attempts);
    if unit.is_some_and(|unit| unit.lost + 1 >= MAX_LOST) {
        let evidence = format!("its worker was lost {MAX_LOST} times");
        let end = UnitEnd { attempt, evidence, ..UnitEnd::default() };
        return What::UnitFailed { unit: id.to_owned(), is_final: true, end };
    }
    What::UnitHeld { unit: id.to_owned(), attempt, why: why.to_owned() }
}

/// The event that follows by itself from where a run stands, if one does: a task that cannot be begun
/// has failed, a gate that is due, or the end. Applied again and again until there is none.
pub fn advance(state: &RunState) -> Option<What> {
    if state.phase == Phase::Executing
        && let Some(unit) = without_contract(&state.plan).find(|unit| waits(state, unit))
    {
        return Some(without_contract_failed(unit));
    }
    match schedule::next(state) {
        Action::Open(about) => Some(What::GateOpened { gate: gate(state, about) }),
        Action::End(result) => Some(What::RunEnded { result }),
        _ => None,
    }
}

/// What is written down right after a run was opened: tasks without the contract that the plan promises
/// are failed before they begin. Those of an edited plan are by [`advance`].
pub fn opened(plan: &Plan) -> Vec<What> {
    without_contract(plan).map(without_contract_failed).collect()
}

fn without_contract(plan: &Plan) -> impl Iterator<Item = &Unit> {
    plan.units.iter().filter(|unit| lacks_contract(plan, unit))
}

fn without_contract_failed(unit: &Unit) -> What {
    let end = UnitEnd { evidence: "missing Task Contract".to_owned(), ..UnitEnd::default() };
    What::UnitFailed { unit: unit.id.clone(), is_final: true, end }
}

fn waits(state: &RunState, unit: &Unit) -> bool {
    let status = state.units.get(&unit.id).map(|known| known.status);
    matches!(status, Some(UnitStatus::Pending | UnitStatus::Held))
}

/// What the edge found out before a worker begins.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The SHA-256 of the new ticket.
    pub ticket: String,
    /// The work tree as it is.
    pub tree: Option<String>,
    /// The files that this worker must not change, with their digests.
    pub guarded: Vec<(String, String)>,
    /// The places of the checks that are green already.
    pub vacuous: Vec<usize>,
}

/// Whether a worker may begin with a unit now.
///
/// # Errors
///
/// It is not there, not its turn, somebody is at it, or a person has to answer first.
pub fn may_start<'a>(state: &'a RunState, id: &str) -> Result<&'a Unit, Refusal> {
    let unit = found(state, id)?;
    let precondition =
        |message: String| Refusal::new(RefusalKind::Precondition, message, "`omo next` says what comes next");
    match state.standing(id) {
        Some(Standing::Is(UnitStatus::Running)) => {
            let message = format!("somebody is at {} {id} already", state.plan.dialect.unit_word());
            let hint = format!("let it finish; if that worker is gone: `omo unit fail --lost {id}`");
            return Err(Refusal::new(RefusalKind::Contention, message, hint));
        }
        Some(standing) if standing.is_ended() => {
            let more = match &standing {
                Standing::Blocked { by } => format!(" by {by}"),
                Standing::Is(UnitStatus::Passed) => String::new(),
                Standing::Is(_) => format!("; `omo unit retry {id}` has it done again"),
            };
            return Err(precondition(format!("{id} is {}{more}", standing.word())));
        }
        _ => {}
    }
    match schedule::next(state) {
        Action::Ask(gate) => Err(unanswered(gate)),
        Action::Start(ready) if ready.iter().any(|one| one.id == id) => Ok(unit),
        Action::Over => Err(over("`omo run resume` goes on with it")),
        _ => Err(precondition(format!("it is not the turn of {id}"))),
    }
}

fn over(hint: &str) -> Refusal {
    Refusal::new(RefusalKind::Precondition, "the run has ended", hint)
}

fn unanswered(gate: &GateState) -> Refusal {
    let first = gate.gate.question.lines().next().unwrap_or_default();
    let message = format!("gate {} waits for an answer: {}", gate.gate.id, neutral(first, 200));
    Refusal::new(RefusalKind::Human, message, "`omo next` shows the question and how it is answered")
}

/// The unit of this id.
///
/// # Errors
///
/// The plan has none.
pub fn found<'a>(state: &'a RunState, id: &str) -> Result<&'a Unit, Refusal> {
    state.plan.unit(id).ok_or_else(|| {
        let ids: Vec<&str> = state.plan.units.iter().take(20).map(|unit| unit.id.as_str()).collect();
        let more = if state.plan.units.len() > ids.len() { ", …" } else { "" };
        let message = format!("the plan has no {} `{}`", state.plan.dialect.unit_word(), neutral(id, 60));
        Refusal::new(RefusalKind::NotFound, message, format!("it has {}{more}", ids.join(", ")))
    })
}

/// A worker begins.
///
/// # Errors
///
/// As [`may_start`].
pub fn start(state: &RunState, id: &str, start: Start) -> Result<What, Refusal> {
    may_start(state, id)?;
    let attempt = state.units.get(id).map_or(0, |unit| unit.attempts) + 1;
    let Start { ticket, tree, guarded, vacuous } = start;
    Ok(What::UnitStarted { unit: id.to_owned(), attempt, ticket, tree, guarded, vacuous })
}

/// The unit that a ticket was given for, by the ticket's SHA-256.
///
/// # Errors
///
/// The ticket was used, belongs to an earlier attempt, or is none of this run.
pub fn of_ticket<'a>(state: &'a RunState, ticket: &str) -> Result<&'a Unit, Refusal> {
    let id = state.running().find(|(_, running)| running.ticket == ticket).map(|(id, _)| id);
    id.and_then(|id| state.plan.unit(id)).ok_or_else(|| {
        let message = "that ticket is not valid: it was used, its attempt has ended, or it is of another run";
        Refusal::new(
            RefusalKind::Precondition,
            message,
            "`omo next` says what comes next; `omo unit start` gives a new ticket",
        )
    })
}

/// What the verify runner and the comparison of the work trees found of one attempt.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Each check that ran, with what came of it. After a red one no further is run.
    pub outcomes: Vec<(Check, CheckOutcome)>,
    /// The files that differ from the work tree at the start.
    pub files: Vec<String>,
    /// Those of them that the unit does not name.
    pub out_of_scope: Vec<String>,
    /// Files that the worker must not have changed, and did.
    pub tampered: Vec<String>,
    /// Files that the unit was to make, and that are not there.
    pub missing: Vec<String>,
    /// What the worker left for those who come after it.
    pub note: Option<String>,
    /// The digests of the test files, where this is the tests half of a pair.
    pub tests: Vec<(String, String)>,
    /// The work tree that the checks judged.
    pub tree: Option<String>,
}

/// Judges an attempt by what was measured: the only way to a unit that has passed.
///
/// # Errors
///
/// As [`of_ticket`].
pub fn judged(state: &RunState, ticket: &str, measured: Measured) -> Result<Vec<What>, Refusal> {
    let unit = of_ticket(state, ticket)?;
    let attempt = state.units.get(&unit.id).map_or(1, |known| known.attempts);
    let id = unit.id.clone();
    let wanted: Vec<&Check> = unit.proof().collect();
    // What is none of its checks proves nothing about it, and refutes nothing.
    let outcomes: Vec<(usize, &(Check, CheckOutcome))> = measured
        .outcomes
        .iter()
        .filter_map(|ran| Some((wanted.iter().position(|check| **check == ran.0)?, ran)))
        .collect();
    let ran = outcomes.iter().map(|(place, (check, outcome))| What::CheckRan {
        unit: id.clone(),
        attempt,
        place: *place,
        command: check.command.clone(),
        outcome: outcome.clone(),
    });
    let mut events: Vec<What> = ran.collect();
    let missing = outcomes.iter().find_map(|(_, (_, outcome))| match &outcome.verdict {
        CheckVerdict::Environment { command } => Some(command.clone().unwrap_or_else(|| outcome.detail.clone())),
        _ => None,
    });
    // Every one of its checks, each green each time that it ran: as many green results of one prove nothing.
    let is_green = wanted.iter().all(|check| outcomes.iter().any(|(_, (ran, _))| ran == *check))
        && outcomes.iter().all(|(_, (_, outcome))| outcome.is_green());
    let end = UnitEnd {
        attempt,
        evidence: evidence(&outcomes),
        files: measured.files,
        out_of_scope: measured.out_of_scope,
        missing: measured.missing,
        note: measured.note,
        tests: measured.tests,
        tree: measured.tree,
    };
    if !measured.tampered.is_empty() {
        let evidence = format!("changed what it must not change: {}", neutral(&measured.tampered.join(", "), 300));
        events.extend(failed(unit, UnitEnd { evidence, ..end }, state));
    } else if let Some(what) = missing {
        events.push(What::UnitHeld { unit: id.clone(), attempt, why: format!("its check could not be run: {what}") });
        events.push(What::GateOpened { gate: gate(state, GateKind::Environment { unit: id, what }) });
    } else if unit.kind == UnitKind::Tests && !end.missing.is_empty() {
        // A command that fails because there is no test fails, too.
        let evidence = format!("the tests are not there: {}", end.missing.join(", "));
        events.extend(failed(unit, UnitEnd { evidence, ..end }, state));
    } else if wanted.is_empty() {
        let evidence = "no Verify: nothing could prove it".to_owned();
        events.push(What::UnitUnverified { unit: id, end: UnitEnd { evidence, ..end } });
    } else if is_green {
        events.push(What::UnitPassed { unit: id, end });
    } else {
        events.extend(failed(unit, end, state));
    }
    Ok(events)
}

/// What the checks showed, on one line.
fn evidence(outcomes: &[(usize, &(Check, CheckOutcome))]) -> String {
    let of = |(_, (check, outcome)): &(usize, &(Check, CheckOutcome))| {
        // Most checks of a plan are no test runners: that nothing was counted says nothing about them.
        let detail = outcome.detail.strip_suffix(", no count of tests").unwrap_or(&outcome.detail);
        format!("`{}` {}", neutral(&check.command, 120).replace('`', "'"), neutral(detail, 160))
    };
    if outcomes.is_empty() {
        return "its checks were not run".to_owned();
    }
    let red = outcomes.iter().find(|(_, (_, outcome))| !outcome.is_green());
    red.map_or_else(|| outcomes.iter().map(of).collect::<Vec<_>>().join("; "), of)
}

/// What becomes of an attempt that has failed.
fn failed(unit: &Unit, end: UnitEnd, state: &RunState) -> Vec<What> {
    let id = unit.id.clone();
    let before = state.units.get(&unit.id).map_or(0, |known| known.attempts_before);
    let is_last = end.attempt.saturating_sub(before) >= unit.attempts_max;
    match unit.on_failure {
        OnFailure::Skip => {
            let why = end.evidence.clone();
            vec![What::UnitFailed { unit: id.clone(), is_final: true, end }, What::UnitSkipped { unit: id, why }]
        }
        // The gate that asks about it follows by itself.
        OnFailure::Escalate => vec![What::UnitFailed { unit: id, is_final: true, end }],
        OnFailure::Hold | OnFailure::Revert | OnFailure::Retry => {
            vec![What::UnitFailed { unit: id, is_final: is_last, end }]
        }
    }
}

/// A worker says itself that it cannot be done.
///
/// # Errors
///
/// As [`of_ticket`].
pub fn gave_up(state: &RunState, ticket: &str, why: &str, files: Vec<String>) -> Result<Vec<What>, Refusal> {
    let unit = of_ticket(state, ticket)?;
    let attempt = state.units.get(&unit.id).map_or(1, |known| known.attempts);
    let evidence = format!("given up: {}", neutral(why, 300));
    Ok(failed(unit, UnitEnd { attempt, evidence, files, ..UnitEnd::default() }, state))
}

/// The worker of a unit is gone: it is begun again.
///
/// # Errors
///
/// Nobody is at it.
pub fn worker_lost(state: &RunState, id: &str) -> Result<What, Refusal> {
    let unit = found(state, id)?;
    if state.units.get(&unit.id).is_some_and(|unit| unit.running.is_some()) {
        return Ok(lost(state, id, "its worker was reported lost"));
    }
    let message = format!("nobody is at {} {id}", state.plan.dialect.unit_word());
    Err(Refusal::new(RefusalKind::Precondition, message, "`omo next` says what comes next"))
}

/// A person leaves a unit out.
///
/// # Errors
///
/// It was done or left out, somebody is at it, the run has ended, or no person said so.
pub fn skip(state: &RunState, caller: &Caller, id: &str, why: &str) -> Result<What, Refusal> {
    let unit = found(state, id)?;
    if state.phase != Phase::Executing {
        return Err(over("`omo unit retry` has a unit done again, `omo run resume` goes on with the run"));
    }
    match state.standing(id) {
        Some(
            standing @ Standing::Is(
                UnitStatus::Running | UnitStatus::Passed | UnitStatus::Claimed | UnitStatus::Skipped,
            ),
        ) => {
            let message = format!("{id} is {}", standing.word());
            return Err(Refusal::new(
                RefusalKind::Precondition,
                message,
                "only what is not at work and was not done can be left out",
            ));
        }
        _ => person_wanted(state, caller, id, "skip")?,
    }
    Ok(What::UnitSkipped { unit: unit.id.clone(), why: neutral(why, 300) })
}

/// A person has a unit done again that failed, was left out, or could not be proved.
///
/// # Errors
///
/// It is not in such a state, or no person said so.
pub fn retry(state: &RunState, caller: &Caller, id: &str) -> Result<Vec<What>, Refusal> {
    let unit = found(state, id)?;
    let standing = state.standing(id);
    let may = matches!(
        standing,
        Some(Standing::Is(UnitStatus::Failed | UnitStatus::Skipped | UnitStatus::Unverified | UnitStatus::Claimed))
    );
    if let (false, Some(standing)) = (may, &standing) {
        let hint = match standing {
            Standing::Blocked { by } => format!("it waits for {by}: `omo unit retry {by}`"),
            Standing::Is(_) => "only what failed, was left out or could not be proved is done again".to_owned(),
        };
        let message = format!("{id} is {}", standing.word());
        return Err(Refusal::new(RefusalKind::Precondition, message, hint));
    }
    if lacks_contract(&state.plan, unit) {
        let message = format!("{id} still has no Task Contract");
        return Err(Refusal::new(RefusalKind::Precondition, message, "add it to the plan, then `omo run resume`"));
    }
    person_wanted(state, caller, id, "retry")?;
    let mut events = Vec::new();
    if state.phase != Phase::Executing {
        events.push(What::Resumed);
    }
    events.push(What::UnitReopened { unit: unit.id.clone(), why: "asked for by its user".to_owned() });
    Ok(events)
}

fn person_wanted(state: &RunState, caller: &Caller, id: &str, verb: &str) -> Result<(), Refusal> {
    let since = state.units.get(id).and_then(|unit| unit.at).unwrap_or(state.opened_at);
    if caller.has_person_since(since) {
        return Ok(());
    }
    let message =
        format!("a person decides about `omo unit {verb}`, and none has typed anything since {id} came to this");
    Err(Refusal::new(RefusalKind::Human, message, "end the turn and ask; once they have answered, run it again"))
}

/// A gate is answered. `plan_sha256` is the plan's file after the answer was written into it.
///
/// # Errors
///
/// It is not there, was answered, has no such option, the run has ended, or no person has spoken since the
/// gate was opened.
pub fn answer(
    state: &RunState,
    caller: &Caller,
    gate: &str,
    option: &str,
    plan_sha256: Option<String>,
) -> Result<What, Refusal> {
    let known = state.gates.iter().find(|known| known.gate.id == gate).ok_or_else(|| {
        let message = format!("the run has no gate `{}`", neutral(gate, 60));
        Refusal::new(RefusalKind::NotFound, message, "`omo next` shows the one that waits")
    })?;
    if let Some(answer) = &known.answer {
        let message = format!("gate {gate} was answered: {}", answer.option);
        return Err(Refusal::new(RefusalKind::Precondition, message, "`omo next` says what comes next"));
    }
    if state.phase != Phase::Executing {
        return Err(over("`omo run resume` goes on with it, and asks again what is still open"));
    }
    let options: Vec<&str> = known.gate.options.iter().map(|option| option.id.as_str()).collect();
    if !options.contains(&option) {
        let message = format!("gate {gate} has no option `{}`", neutral(option, 60));
        return Err(Refusal::new(RefusalKind::NotFound, message, format!("it has {}", options.join(", "))));
    }
    // The question of a decision is put to the person within the turn; everything else ends the turn.
    let within_turn = matches!(known.gate.about, GateKind::Decisions { .. });
    if !within_turn && !caller.has_person_since(known.opened_at) {
        let message = format!("gate {gate} waits for a person, and none has typed anything since it was opened");
        return Err(Refusal::new(RefusalKind::Human, message, "show them the question and end the turn"));
    }
    Ok(What::GateAnswered { gate: gate.to_owned(), option: option.to_owned(), plan_sha256 })
}

/// The run is ended before its end.
///
/// # Errors
///
/// It has ended.
pub fn cancel(state: &RunState, why: &str) -> Result<What, Refusal> {
    if state.phase == Phase::Executing {
        return Ok(What::Cancelled { why: neutral(why, 300) });
    }
    Err(Refusal::new(RefusalKind::Precondition, "the run has ended already", "`omo run show` says how"))
}

/// The final checks have run: what came of each, in the order of the plan, up to the first that was red or
/// further.
pub fn finals(measured: Vec<(Check, CheckOutcome)>) -> Vec<What> {
    let ran = measured.into_iter().enumerate().map(|(place, (check, outcome))| What::CheckRan {
        unit: FINAL.to_owned(),
        attempt: 0,
        place,
        command: check.command,
        outcome,
    });
    ran.collect()
}

/// Goes on with an edited plan.
///
/// # Errors
///
/// It is of another dialect, or somebody is at a unit that changed or is gone.
pub fn replan(state: &RunState, plan: Plan, approved: String) -> Result<What, Refusal> {
    if plan.dialect != state.plan.dialect {
        let word = |dialect: Dialect| dialect.word();
        let message = format!("the plan was {} and is {} now", word(state.plan.dialect), word(plan.dialect));
        return Err(Refusal::new(RefusalKind::Precondition, message, "open a run of its own for it"));
    }
    let differences = state.differences(&plan);
    let mut at_work = state.running().map(|(id, _)| id);
    if let Some(id) = at_work.find(|id| differences.changed.iter().chain(&differences.removed).any(|other| other == id))
    {
        let message = format!("somebody is at {id}, which the plan says otherwise now");
        return Err(Refusal::new(
            RefusalKind::Contention,
            message,
            "let it finish, or `omo unit fail` it, and then again",
        ));
    }
    Ok(What::PlanChanged { plan: Box::new(plan), approved })
}

//! Every way that some life of a run takes: found by playing the rules, so that none is drawn that
//! they do not take, and none that they take is left out.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::gate::{GateVerdict, Record};
use omo_core::limits::Limits;
use omo_core::promise::Claim;
use omo_core::review::{Review, ReviewVerdict, later};
use omo_core::session::{Activation, Interruption, PauseReason, Session, Trigger};
use omo_core::stop::{Row, StopAction, StopDecision, StopEvent, StopFacts, TranscriptFacts};
use omo_core::stop::{apply, decide, is_to_be_judged};
use omo_core::timestamp::Timestamp;
use omo_core::verification::{Check, Findings, GateResult, MAX_ATTEMPTS, Phase, judge};
use omo_core::verification::{standing_failure_told, tell_standing_failure};

/// Where a run stands, in one word.
pub(super) type State = &'static str;

/// The arrows, each with what takes them.
pub(super) type Arrows = BTreeMap<(State, State), BTreeSet<String>>;

/// Where every life begins, as Mermaid writes it.
pub(super) const START: State = "[*]";

/// So many things happen in a row: enough to reach every state and to come back from it.
const STEPS: usize = 5;

fn state(session: &Session) -> State {
    match (&session.verdict, &session.ulw.paused, session.verification.phase) {
        (Some(verdict), _, _) => verdict.kind.word(),
        (None, Some(_), _) => "paused",
        (None, None, Phase::Working) => "working",
        (None, None, Phase::Gates) => "checks",
        (None, None, Phase::Review | Phase::Verified) => "review",
    }
}

/// One thing that can happen to a run.
#[derive(Clone, Copy)]
enum Happening {
    Stop(Stop),
    /// The user stops the run.
    StopContinuation,
    /// The user types the keyword again.
    Keyword,
    /// An error of the API that only the user can fix.
    ApiError,
    /// The reviewer ends with a verdict.
    Reviewed(ReviewVerdict),
}

/// A turn that wants to end.
#[derive(Clone, Copy)]
struct Stop {
    says: Says,
    found: Found,
    is_interrupted: bool,
    minute: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Nothing,
    Done,
    Blocked,
}

/// What is found where a claim is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Green,
    GreenOnOtherFiles,
    Red,
    Tampered,
    NothingToJudgeBy,
}

fn happenings() -> Vec<Happening> {
    let mut all = vec![Happening::StopContinuation, Happening::Keyword, Happening::ApiError];
    all.extend([ReviewVerdict::Verified, ReviewVerdict::Rejected].map(Happening::Reviewed));
    let last = Limits::default().max_minutes;
    for says in [Says::Nothing, Says::Done, Says::Blocked] {
        for found in [Found::Green, Found::GreenOnOtherFiles, Found::Red, Found::Tampered, Found::NothingToJudgeBy] {
            for (is_interrupted, minute) in [(false, 1), (true, 1), (false, last)] {
                all.push(Happening::Stop(Stop { says, found, is_interrupted, minute }));
            }
        }
    }
    all
}

/// Runs that differ in what the rules ask beside where a run stands.
fn beginnings() -> Vec<Session> {
    let begin = |review_wanted| {
        let mut session = Session::default();
        let activation = Activation {
            trigger: Trigger::Keyword,
            task: None,
            prompt_id: None,
            limits: Limits::default(),
            gates: Vec::new(),
            review_wanted,
            base: None,
        };
        session.activate(activation, at(0));
        session
    };
    let (mut tried, mut continued) = (begin(true), begin(true));
    tried.verification.attempts = MAX_ATTEMPTS - 1;
    continued.ulw.stop_blocks = continued.limits.max_blocks - 1;
    vec![begin(true), begin(false), tried, continued]
}

fn at(minute: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(minute) * 60_000)
}

/// Every arrow that some life of a run takes.
pub(super) fn arrows() -> Arrows {
    let mut arrows = Arrows::new();
    arrows.entry((START, "working")).or_default().insert("`ulw`".to_owned());
    let mut present = beginnings();
    let mut seen = BTreeSet::new();
    for _ in 0..STEPS {
        let mut next = Vec::new();
        for (session, happening) in present.iter().flat_map(|it| happenings().into_iter().map(move |what| (it, what))) {
            let mut after = session.clone();
            happen(&mut after, happening, &mut arrows);
            if after.is_armed() && seen.insert(format!("{after:?}")) {
                next.push(after);
            }
        }
        present = next;
    }
    arrows
}

fn happen(session: &mut Session, happening: Happening, arrows: &mut Arrows) {
    let before = state(session);
    let why = match happening {
        Happening::Stop(stop) => {
            wants_to_end(session, stop, arrows);
            return;
        }
        Happening::StopContinuation => {
            session.stop_continuation(None, at(1));
            "you stop it"
        }
        Happening::Keyword => {
            session.resume(at(1));
            "`ulw`"
        }
        Happening::ApiError => {
            session.pause(PauseReason::ApiError, at(1));
            "an error that you must mend"
        }
        Happening::Reviewed(verdict) => {
            if session.verification.asked.is_some() {
                let review = Review { verdict, at: Some(at(1)), ..Review::default() };
                session.verification.review = Some(later(session.verification.review.take(), review));
            }
            return;
        }
    };
    if before != state(session) {
        draw(arrows, before, session, why);
    }
}

fn draw(arrows: &mut Arrows, before: State, session: &Session, why: &str) {
    arrows.entry((before, state(session))).or_default().insert(why.to_owned());
}

/// As the hook does it: what is claimed is judged first, then the table decides.
fn wants_to_end(session: &mut Session, stop: Stop, arrows: &mut Arrows) {
    let claim = match stop.says {
        Says::Nothing => None,
        Says::Done => Some(Claim::Done),
        Says::Blocked => Some(Claim::Blocked { reason: String::new() }),
    };
    let event = StopEvent { claim, ..StopEvent::default() };
    let interrupted = stop.is_interrupted.then_some(Interruption::AtSomeTime);
    let before = session.clone();
    let findings = findings(stop.found);
    let facts = StopFacts {
        event: &event,
        session: Some(&before),
        transcript: TranscriptFacts { interrupted, tool_called_since_block: true, ..TranscriptFacts::default() },
        client_block_cap: None,
        judgement: None,
        same_failure_sent: standing_failure_told(&before, findings.tree.as_deref()),
        plan: None,
        now: at(stop.minute),
    };
    if !is_to_be_judged(&facts) {
        let decision = decide(Some(&facts));
        if matches!(decision.action, StopAction::Block(_)) {
            tell_standing_failure(session, findings.tree);
        }
        apply(session, &decision, facts.now);
        if state(&before) != state(session) || matches!(decision.action, StopAction::Block(_)) {
            draw(arrows, state(&before), session, &label(&decision, None));
        }
        return;
    }
    let mut judged = state(&before);
    if stop.says == Says::Done && !findings.gates.is_empty() {
        session.verification.phase = Phase::Gates;
        draw(arrows, judged, session, "the model claims to be done");
        judged = state(session);
    }
    let check = judge(&before, findings);
    let same_failure_sent = check.told_before(&before);
    let decision = decide(Some(&StopFacts { judgement: Some(check.judgement), same_failure_sent, ..facts }));
    check.record(session, facts.now, 0);
    apply(session, &decision, facts.now);
    draw(arrows, judged, session, &label(&decision, Some(&check)));
}

fn findings(found: Found) -> Findings {
    let verdict = if found == Found::Red { GateVerdict::Failed } else { GateVerdict::Green };
    let tree = if found == Found::GreenOnOtherFiles { "others" } else { "those that were claimed" };
    let gate = GateResult { record: Record { verdict, ..Record::default() }, ..GateResult::default() };
    Findings {
        tree: Some(tree.to_owned()),
        gates: if found == Found::NothingToJudgeBy { Vec::new() } else { vec![gate] },
        is_sealed: found != Found::Tampered,
        ..Findings::default()
    }
}

/// Why, in the words of the log.
fn label(decision: &StopDecision, check: Option<&Check>) -> String {
    match (&decision.action, check) {
        (StopAction::End { why, .. }, _) if decision.row == Row::ClaimJudged => why.clone(),
        (StopAction::Pause(_), _) => "Esc".to_owned(),
        (StopAction::Block(_), Some(check)) => check.label().to_owned(),
        _ => decision.row.label().to_owned(),
    }
}

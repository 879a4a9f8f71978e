//! State changes of a run, found by applying the rules to every sequence of a few events.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::counterfactual::ProveMode;
use omo_core::check::session_check::{CheckRecord, CheckVerdict};
use omo_core::limits::RunLimits;
use omo_core::promise::Claim;
use omo_core::review::{Review, ReviewVerdict, standing_review};
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::{Interruption, PauseReason, Session, UlwActivation, UlwTrigger};
use omo_core::stop::claim::{CheckResult, ClaimFindings, ClaimOutcome, judge_claim};
use omo_core::stop::{
    StopAction, StopDecision, StopEvent, StopFacts, StopFinding, StopRow, TranscriptTail,
};
use omo_core::stop::{apply_decision, decide, needs_judgement};
use omo_core::timestamp::Timestamp;

pub(super) type RunStateName = &'static str;

pub(super) type RunArrows = BTreeMap<(RunStateName, RunStateName), BTreeSet<String>>;

pub(super) const START: RunStateName = "[*]";

/// Events in a row: enough to reach every state and to come back.
const STEPS: usize = 5;

fn state(session: &Session) -> RunStateName {
    match (
        &session.verdict,
        &session.ulw.paused,
        session.verification.phase,
    ) {
        (Some(verdict), _, _) => verdict.kind.word(),
        (None, Some(_), _) => "paused",
        (None, None, VerificationPhase::Working) => "working",
        (None, None, VerificationPhase::Checks) => "checks",
        (None, None, VerificationPhase::Review | VerificationPhase::Verified) => "review",
    }
}

#[derive(Clone, Copy)]
enum Happening {
    Stop(TurnEnd),
    StopContinuation,
    Keyword,
    /// An error of the API that only the user can fix.
    ApiError,
    SaidStop,
    Reviewed(ReviewVerdict),
}

#[derive(Clone, Copy)]
struct TurnEnd {
    says: FinalMessage,
    found: ClaimCase,
    is_interrupted: bool,
    minute: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FinalMessage {
    Nothing,
    Done,
    Blocked,
}

/// Findings about a judged claim.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClaimCase {
    Green,
    GreenOnOtherFiles,
    Red,
    NothingToJudgeBy,
}

fn happenings() -> Vec<Happening> {
    let mut all = vec![
        Happening::StopContinuation,
        Happening::Keyword,
        Happening::ApiError,
        Happening::SaidStop,
    ];
    all.extend([ReviewVerdict::Verified, ReviewVerdict::Rejected].map(Happening::Reviewed));
    let last = RunLimits::default().max_minutes;
    for says in [
        FinalMessage::Nothing,
        FinalMessage::Done,
        FinalMessage::Blocked,
    ] {
        for found in [
            ClaimCase::Green,
            ClaimCase::GreenOnOtherFiles,
            ClaimCase::Red,
            ClaimCase::NothingToJudgeBy,
        ] {
            for (is_interrupted, minute) in [(false, 1), (true, 1), (false, last)] {
                all.push(Happening::Stop(TurnEnd {
                    says,
                    found,
                    is_interrupted,
                    minute,
                }));
            }
        }
    }
    all
}

/// Runs that differ in facts of the rules beside `RunStateName`.
fn starting_sessions() -> Vec<Session> {
    let begin = |review_wanted| {
        let mut session = Session::default();
        let activation = UlwActivation {
            trigger: UlwTrigger::Keyword,
            task: None,
            prompt_id: None,
            limits: RunLimits::default(),
            checks: Vec::new(),
            review_wanted,
            prove: ProveMode::default(),
            base: None,
            begins_anew: false,
        };
        session.activate(activation, at(0));
        session
    };
    let (mut tried, mut continued) = (begin(true), begin(true));
    tried.verification.attempts = tried.max_attempts() - 1;
    continued.ulw.stop_blocks = continued.limits.max_blocks - 1;
    vec![begin(true), begin(false), tried, continued]
}

fn at(minute: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(minute) * 60_000)
}

/// Arrows from state to state, each with its reasons, found within [`STEPS`] events.
pub(super) fn arrows() -> RunArrows {
    let mut arrows = RunArrows::new();
    arrows
        .entry((START, "working"))
        .or_default()
        .insert("`ulw`".to_owned());
    let mut present = starting_sessions();
    let mut seen = BTreeSet::new();
    for _ in 0..STEPS {
        let mut next = Vec::new();
        for (session, happening) in present
            .iter()
            .flat_map(|it| happenings().into_iter().map(move |what| (it, what)))
        {
            let mut after = session.clone();
            apply_happening(&mut after, happening, &mut arrows);
            if after.is_armed() && seen.insert(format!("{after:?}")) {
                next.push(after);
            }
        }
        present = next;
    }
    arrows
}

fn apply_happening(session: &mut Session, happening: Happening, arrows: &mut RunArrows) {
    let before = state(session);
    let why = match happening {
        Happening::Stop(stop) => {
            end_turn(session, stop, arrows);
            return;
        }
        Happening::StopContinuation => {
            session.stop_continuation(None, true, at(1));
            "you stop it"
        }
        Happening::Keyword => {
            session.resume(at(1));
            "`ulw`"
        }
        Happening::ApiError => {
            session.pause(PauseReason::ApiError, at(1));
            "an error that you must fix"
        }
        Happening::SaidStop => {
            session.pause(PauseReason::Asked, at(1));
            "you say to stop"
        }
        Happening::Reviewed(verdict) => {
            if session.verification.requested_review.is_some() {
                let review = Review {
                    verdict,
                    at: Some(at(1)),
                    ..Review::default()
                };
                session.verification.review =
                    Some(standing_review(session.verification.review.take(), review));
            }
            return;
        }
    };
    if before != state(session) {
        draw(arrows, before, session, why);
    }
}

fn draw(arrows: &mut RunArrows, before: RunStateName, session: &Session, why: &str) {
    arrows
        .entry((before, state(session)))
        .or_default()
        .insert(why.to_owned());
}

/// As the hook does: a claim is judged first, then the table decides.
fn end_turn(session: &mut Session, stop: TurnEnd, arrows: &mut RunArrows) {
    let claim = match stop.says {
        FinalMessage::Nothing => None,
        FinalMessage::Done => Some(Claim::Done),
        FinalMessage::Blocked => Some(Claim::Blocked {
            reason: String::new(),
        }),
    };
    let event = StopEvent {
        claim,
        ..StopEvent::default()
    };
    let interrupted = stop.is_interrupted.then_some(Interruption::AtSomeTime);
    let findings = findings(stop.found);
    let mut facts = StopFacts {
        event,
        transcript: TranscriptTail {
            interrupted,
            tool_called_since_block: true,
            ..TranscriptTail::default()
        },
        client_block_cap: None,
        finding: StopFinding::Tree(findings.tree.clone()),
        plan: None,
        tokens: None,
        now: at(stop.minute),
    };
    let mut before = state(session);
    if needs_judgement(session, &facts) {
        facts.finding = StopFinding::Claim(Box::new(judge_claim(session, findings)));
        if stop.says == FinalMessage::Done && stop.found != ClaimCase::NothingToJudgeBy {
            session.verification.phase = VerificationPhase::Checks;
            draw(arrows, before, session, "the model claims to be done");
            before = state(session);
        }
    }
    let decision = decide(Some(session), Some(&facts));
    apply_decision(session, &decision, &facts);
    if facts.claim().is_some()
        || before != state(session)
        || matches!(decision.action, StopAction::Block(_))
    {
        draw(arrows, before, session, &label(&decision, facts.claim()));
    }
}

fn findings(found: ClaimCase) -> ClaimFindings {
    let verdict = if found == ClaimCase::Red {
        CheckVerdict::Failed
    } else {
        CheckVerdict::Green
    };
    let tree = if found == ClaimCase::GreenOnOtherFiles {
        "others"
    } else {
        "those that were claimed"
    };
    let check = CheckResult {
        record: CheckRecord {
            verdict,
            ..CheckRecord::default()
        },
        ..CheckResult::default()
    };
    ClaimFindings {
        tree: Some(tree.to_owned()),
        checks: if found == ClaimCase::NothingToJudgeBy {
            Vec::new()
        } else {
            vec![check]
        },
        ..ClaimFindings::default()
    }
}

fn label(decision: &StopDecision, check: Option<&ClaimOutcome>) -> String {
    match (&decision.action, check) {
        (StopAction::End { why, .. }, _) if decision.row == StopRow::ClaimJudged => why.clone(),
        (StopAction::Pause(_), _) => "Esc".to_owned(),
        (StopAction::Block(_), Some(check)) => check.label().to_owned(),
        _ => decision.row.label().to_owned(),
    }
}

//! How a claim becomes a verdict: a table of what was found and what it is worth, the story of a
//! loop that would not let go, and where a promise may come from.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use omo_core::gate::{Best, Counts, Gate, GateVerdict, Origin, Record};
use omo_core::limits::Limits;
use omo_core::promise::{Claim, claim};
use omo_core::review::{self, Asked, Refusal, Rejection, Review, ReviewVerdict};
use omo_core::session::{Activation, Session, Trigger, VerdictKind};
use omo_core::stop::{Row, StopAction, StopEvent, StopFacts, TranscriptFacts, apply, decide, is_to_be_judged};
use omo_core::timestamp::Timestamp;
use omo_core::verification::{
    Check, Findings, GateResult, Judgement, MAX_ATTEMPTS, Phase, Reason, has_review, judge, standing_failure_told,
    tell_standing_failure,
};

const MINUTE: i64 = 60_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * MINUTE)
}

/// A run with one check that wants a review.
fn run() -> Session {
    let mut session = Session::default();
    let gates = vec![Gate::new(Some("tests"), "cargo test", Origin::User).unwrap()];
    let activation = Activation {
        trigger: Trigger::Keyword,
        task: Some("ulw fix it".to_owned()),
        prompt_id: None,
        limits: Limits::default(),
        gates,
        review_wanted: true,
        base: None,
    };
    session.activate(activation, at(0));
    session
}

fn gate(verdict: GateVerdict) -> GateResult {
    let counts = Some(Counts { run: 3, failed: u64::from(verdict == GateVerdict::Failed), skipped: 0 });
    let record = Record { verdict, detail: verdict.word().to_owned(), counts, ..Record::default() };
    let definition = Gate::new(None, "cargo test", Origin::User).unwrap().definition();
    GateResult { name: "tests".to_owned(), run: "cargo test".to_owned(), definition, record, ..GateResult::default() }
}

fn found(verdict: GateVerdict, tree: &str) -> Findings {
    let tree = Some(tree.to_owned()).filter(|tree| !tree.is_empty());
    Findings { tree, gates: vec![gate(verdict)], is_sealed: true, ..Findings::default() }
}

fn asked(tree: &str) -> Asked {
    let tree = Some(tree.to_owned()).filter(|tree| !tree.is_empty());
    Asked { at: Some(at(1)), tree, ..Asked::default() }
}

fn review(verdict: ReviewVerdict) -> Review {
    Review { verdict, at: Some(at(2)), objections: "loses a byte".to_owned(), reviewer: None }
}

const AGAIN: Judgement = Judgement::ReviewWanted { again: true };
const FIRST: Judgement = Judgement::ReviewWanted { again: false };

/// What is known, and what it is worth.
type Case = (&'static str, fn(&mut Session, &mut Findings), Judgement);

const CASES: &[Case] = &[
    ("a red gate", |_, f| f.gates = vec![gate(GateVerdict::Failed)], Judgement::Failed),
    ("a check that ran nothing", |_, f| f.gates = vec![gate(GateVerdict::NothingRan)], Judgement::Failed),
    ("a weaker gate", |_, f| f.gates = vec![gate(GateVerdict::Weaker)], Judgement::Failed),
    ("a changed script", |_, f| f.gates = vec![gate(GateVerdict::Changed)], Judgement::Failed),
    ("a check that is not approved", |_, f| f.gates = vec![gate(GateVerdict::NotApproved)], Judgement::Failed),
    ("one red of two", |_, f| f.gates.push(gate(GateVerdict::TimedOut)), Judgement::Failed),
    ("green, no review asked for yet", |_, _| {}, FIRST),
    ("green, no review wanted", |s, _| s.verification.review_wanted = false, Judgement::Verified),
    ("no check, no review wanted", nothing_to_judge_by, Judgement::NothingToJudgeBy),
    ("no check, a review wanted", |_, f| f.gates.clear(), FIRST),
    ("somebody else wrote the state", |_, f| f.is_sealed = false, Judgement::Tampered),
    ("somebody else wrote the state, all green", tampered_and_green, Judgement::Tampered),
    ("gates that change what they judge", |_, f| f.tree_moves = true, Judgement::Failed),
    ("reviewed on these files", |s, _| wait(s, "t1", ReviewVerdict::Verified), Judgement::Verified),
    ("reviewed on other files", |s, _| wait(s, "t0", ReviewVerdict::Verified), FIRST),
    ("reviewed on these files, but a check is red", red_and_reviewed, Judgement::Failed),
    ("rejected on these files", |s, _| wait(s, "t1", ReviewVerdict::Rejected), Judgement::Failed),
    ("rejected, and the files are others now", |s, _| wait(s, "t0", ReviewVerdict::Rejected), AGAIN),
    ("a review without a verdict", |s, _| wait(s, "t1", ReviewVerdict::Unclear), AGAIN),
    ("asked for and never seen", |s, _| s.verification.asked = Some(asked("t1")), AGAIN),
    ("reviewed on these files, from other material", other_material, FIRST),
    ("files that could never be read", without_id, Judgement::Failed),
    (
        "rejected on these files, from other material",
        |s, f| {
            other_material(s, f);
            s.verification.review = Some(review(ReviewVerdict::Rejected));
        },
        Judgement::Failed,
    ),
    ("these files were rejected before", |s, _| rejected(s, Some("t1")), Judgement::Failed),
    (
        "these files were rejected before, and the next one agrees",
        |s, _| {
            rejected(s, Some("t1"));
            wait(s, "t1", ReviewVerdict::Verified);
        },
        Judgement::Failed,
    ),
    (
        "other files were rejected before",
        |s, _| {
            rejected(s, Some("t0"));
            wait(s, "t1", ReviewVerdict::Verified);
        },
        Judgement::Verified,
    ),
    (
        "an agreement that does not count",
        |s, f| {
            wait(s, "t1", ReviewVerdict::Verified);
            f.refusal = Some(Refusal::OtherPrompt);
        },
        AGAIN,
    ),
    (
        "no id now, one when it was asked",
        |s, f| {
            wait(s, "t1", ReviewVerdict::Verified);
            f.tree = None;
        },
        Judgement::Failed,
    ),
    (
        "files that cannot be read, no review wanted",
        |s, f| {
            s.verification.review_wanted = false;
            f.tree = None;
        },
        Judgement::Failed,
    ),
    ("an id now, none when it was asked", |s, _| wait(s, "", ReviewVerdict::Verified), FIRST),
    ("a review that nobody asked for", |s, _| s.verification.review = Some(review(ReviewVerdict::Verified)), FIRST),
];

fn wait(session: &mut Session, tree: &str, verdict: ReviewVerdict) {
    session.verification.asked = Some(asked(tree));
    session.verification.review = Some(review(verdict));
}

fn rejected(session: &mut Session, tree: Option<&str>) {
    session.verification.reject(Rejection { tree: tree.map(str::to_owned), objections: "no".to_owned() });
}

fn other_material(session: &mut Session, findings: &mut Findings) {
    wait(session, "t1", ReviewVerdict::Verified);
    session.verification.asked.as_mut().unwrap().material = Some("m1".to_owned());
    findings.material = Some("m2".to_owned());
}

fn nothing_to_judge_by(session: &mut Session, findings: &mut Findings) {
    session.verification.review_wanted = false;
    findings.gates.clear();
}

fn tampered_and_green(session: &mut Session, findings: &mut Findings) {
    wait(session, "t1", ReviewVerdict::Verified);
    findings.is_sealed = false;
}

fn red_and_reviewed(session: &mut Session, findings: &mut Findings) {
    wait(session, "t1", ReviewVerdict::Verified);
    findings.gates = vec![gate(GateVerdict::Failed)];
}

fn without_id(session: &mut Session, findings: &mut Findings) {
    wait(session, "", ReviewVerdict::Verified);
    findings.tree = None;
}

#[test]
fn what_was_found_is_worth_what_the_table_says() {
    for (name, change, expected) in CASES {
        let (mut session, mut findings) = (run(), found(GateVerdict::Green, "t1"));
        change(&mut session, &mut findings);
        assert_eq!(judge(&session, findings).judgement, *expected, "{name}");
    }
}

/// One Stop as the hook makes it: judged where it has to be, decided, written down.
fn stop(session: &mut Session, message: &str, findings: &Findings, minute: i64) -> (Row, StopAction) {
    let event = StopEvent { claim: claim(message), ..StopEvent::default() };
    let worked = TranscriptFacts { tool_called_since_block: true, ..TranscriptFacts::default() };
    let facts = |session, judgement, same_failure_sent| StopFacts {
        event: &event,
        session: Some(session),
        transcript: worked,
        client_block_cap: None,
        judgement,
        same_failure_sent,
        plan: None,
        now: at(minute),
    };
    let check: Option<Check> = is_to_be_judged(&facts(session, None, 0)).then(|| judge(session, findings.clone()));
    let told = match &check {
        Some(check) => check.told_before(session),
        None => standing_failure_told(session, findings.tree.as_deref()),
    };
    let decision = decide(Some(&facts(session, check.as_ref().map(|check| check.judgement), told)));
    match &check {
        Some(check) if decision.row > Row::SaidBlocked => check.record(session, at(minute), 0),
        _ if session.verification.failure.is_some() => tell_standing_failure(session, findings.tree.clone()),
        _ => {}
    }
    apply(session, &decision, at(minute));
    (decision.row, decision.action)
}

const DONE: &str = "All done.\n<promise>DONE</promise>";

#[test]
fn red_then_green_then_reviewed_is_verified() {
    let mut session = run();
    assert_eq!(stop(&mut session, DONE, &found(GateVerdict::Failed, "t0"), 1).0, Row::Continue);
    assert_eq!((session.verification.attempts, session.verification.phase), (1, Phase::Working));
    assert_eq!(stop(&mut session, DONE, &found(GateVerdict::Green, "t1"), 2).0, Row::Continue);
    assert_eq!((session.verification.attempts, session.verification.phase), (1, Phase::Review));
    session.verification.review = Some(review::read("Fine.\n<promise>VERIFIED</promise>", at(3)));
    // The review alone ends it: nothing has to be claimed a second time.
    assert!(has_review(&session));
    assert_eq!(stop(&mut session, "The reviewer agrees.", &found(GateVerdict::Green, "t1"), 4).0, Row::ClaimJudged);
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Verified);
    assert_eq!(session.verification.phase, Phase::Verified);
}

#[test]
fn verified_and_then_a_file_changes_is_asked_again() {
    let mut session = run();
    stop(&mut session, DONE, &found(GateVerdict::Green, "t1"), 1);
    session.verification.review = Some(review(ReviewVerdict::Verified));
    assert_eq!(stop(&mut session, DONE, &found(GateVerdict::Green, "t2"), 2).0, Row::Continue);
    assert_eq!(session.verification.asked.as_ref().unwrap().tree.as_deref(), Some("t2"));
    assert_eq!((session.verification.attempts, &session.verification.review), (0, &None));
}

#[test]
fn the_same_failure_on_the_same_files_is_told_twice_and_no_more() {
    let mut session = run();
    let red = found(GateVerdict::Failed, "t1");
    assert_eq!(stop(&mut session, DONE, &red, 1).0, Row::Continue);
    assert_eq!(stop(&mut session, "Hm.", &red, 2).0, Row::Continue);
    assert_eq!(stop(&mut session, "Hm.", &red, 3).0, Row::SameFailure);
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Released);
    let mut session = run();
    for (minute, tree) in [(1, "t1"), (2, "t2"), (3, "t3"), (4, "t4")] {
        let message = if minute == 1 { DONE } else { "Hm." };
        assert_eq!(stop(&mut session, message, &found(GateVerdict::Failed, tree), minute).0, Row::Continue, "{tree}");
    }
}

#[test]
fn what_was_rejected_counts_once_and_its_objections_are_kept_until_the_next_claim() {
    let mut session = run();
    stop(&mut session, DONE, &found(GateVerdict::Green, "t1"), 1);
    session.verification.review = Some(review(ReviewVerdict::Rejected));
    let (row, _) = stop(&mut session, "I will mend that.", &found(GateVerdict::Green, "t1"), 2);
    assert_eq!((row, session.verification.attempts), (Row::Continue, 1));
    assert_eq!(session.verification.failure.as_ref().unwrap().what, "review: loses a byte");
    stop(&mut session, "Still at it.", &found(GateVerdict::Green, "t2"), 3);
    assert_eq!(session.verification.attempts, 1, "nothing was claimed");
    stop(&mut session, DONE, &found(GateVerdict::Green, "t3"), 4);
    assert_eq!((session.verification.attempts, session.verification.phase), (1, Phase::Review));
    assert_eq!(session.verification.failure, None);
}

// The story of a loop that went on for ever after its reviewer had agreed: each of its causes, and
// each of the mendings that were proposed.

#[test]
fn seed_001_a_verdict_that_is_never_seen_ends_after_three_attempts_with_a_warning() {
    let mut session = run();
    let green = found(GateVerdict::Green, "t1");
    let rows: Vec<Row> = (1..=5).map(|minute| stop(&mut session, DONE, &green, minute).0).collect();
    // The first claim asks; then each one that comes without a verdict is a failed verification.
    assert_eq!(rows, [Row::Continue, Row::Continue, Row::Continue, Row::AttemptsSpent, Row::NoRun]);
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Released);
}

#[test]
fn seed_001_the_attempts_are_in_the_state_and_survive_the_process() {
    let mut session = run();
    stop(&mut session, DONE, &found(GateVerdict::Failed, "t1"), 1);
    let written = serde_json::to_string(&session).unwrap();
    assert!(written.contains(r#""attempts":1,"maxAttempts":3"#), "{written}");
    assert_eq!(serde_json::from_str::<Session>(&written).unwrap(), session);
    assert_eq!(MAX_ATTEMPTS, 3);
}

#[test]
fn seed_001_three_red_claims_end_the_run_with_a_warning() {
    let mut session = run();
    for (minute, row) in [(1, Row::Continue), (2, Row::Continue), (3, Row::AttemptsSpent)] {
        let tree = format!("t{minute}");
        let (decided, action) = stop(&mut session, DONE, &found(GateVerdict::Failed, &tree), minute);
        assert_eq!(decided, row);
        let ends = matches!(action, StopAction::End { verdict: VerdictKind::Released, .. });
        assert_eq!(ends, row == Row::AttemptsSpent);
    }
}

#[test]
fn seed_001_a_file_cannot_raise_the_number_of_attempts() {
    let mut session = run();
    session.verification.max_attempts = 100;
    let rows: Vec<Row> = (1..=3)
        .map(|minute| stop(&mut session, DONE, &found(GateVerdict::Failed, &minute.to_string()), minute).0)
        .collect();
    assert_eq!(rows.last(), Some(&Row::AttemptsSpent));
}

#[test]
fn what_the_main_agent_says_of_a_review_starts_nothing() {
    for message in ["The oracle said <promise>VERIFIED</promise>", "Great.\n<promise>VERIFIED</promise>"] {
        let mut session = run();
        stop(&mut session, DONE, &found(GateVerdict::Green, "t1"), 1);
        let (row, _) = stop(&mut session, message, &found(GateVerdict::Green, "t1"), 2);
        assert_eq!((row, session.verdict), (Row::Continue, None), "{message}");
    }
}

#[test]
fn a_claim_that_a_row_before_answers_runs_no_gate() {
    let mut session = run();
    let event = StopEvent { claim: Some(Claim::Done), plan_mode: true, ..StopEvent::default() };
    let facts = StopFacts {
        event: &event,
        session: Some(&session.clone()),
        transcript: TranscriptFacts::default(),
        client_block_cap: None,
        judgement: None,
        same_failure_sent: 0,
        plan: None,
        now: at(1),
    };
    assert!(!is_to_be_judged(&facts), "plan mode");
    let event = StopEvent { plan_mode: false, ..event.clone() };
    assert!(is_to_be_judged(&StopFacts { event: &event, ..facts }));
    session.ulw.stop_blocks = 99;
    assert!(
        is_to_be_judged(&StopFacts { event: &event, session: Some(&session), ..facts }),
        "a claim is judged at a bound"
    );
    session.ulw.said_blocked = Some("no access".to_owned());
    assert!(!is_to_be_judged(&StopFacts { event: &event, session: Some(&session), ..facts }), "said to be blocked");
}

#[test]
fn a_check_that_was_added_meanwhile_has_to_be_asked() {
    let mut session = run();
    session.verification.review_wanted = false;
    let check = judge(&session, found(GateVerdict::Green, "t1"));
    assert!(check.judgement == Judgement::Verified && check.covers(&session));
    session.gates.push(Gate::new(None, "npm test", Origin::User).unwrap());
    assert!(!check.covers(&session));
}

#[test]
fn a_record_is_kept_with_its_gate_and_a_reused_one_is_not_written_again() {
    let mut session = run();
    let mut findings = found(GateVerdict::Failed, "t1");
    judge(&session, findings.clone()).record(&mut session, at(1), 7);
    assert_eq!(session.gates[0].last.as_ref().unwrap().verdict, GateVerdict::Failed);
    assert_eq!(session.gates[0].best, Some(Best { run: 3, skipped: None }));
    findings.gates[0] = GateResult { reused: true, ..gate(GateVerdict::Green) };
    let check = judge(&session, findings);
    assert_eq!(check.reason, Reason::FirstReview);
    check.record(&mut session, at(2), 9);
    assert_eq!(session.gates[0].last.as_ref().unwrap().verdict, GateVerdict::Failed);
    assert_eq!(session.verification.asked.as_ref().unwrap().offset, 9);
}

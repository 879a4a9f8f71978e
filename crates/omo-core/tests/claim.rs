//! How a claim becomes a verdict: a table of what was found and what it is worth, the story of a
//! loop that would not let go, and where a promise may come from.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use omo_core::check::counterfactual::{CheckCounterfactual, Counterfactual, ProveMode};
use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict, TestCounts};
use omo_core::limits::RunLimits;
use omo_core::promise::{Claim, read_claim};
use omo_core::review::{
    self, AgreementRefusal, RejectedTree, RequestedReview, Review, ReviewVerdict,
};
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{Session, UlwActivation, UlwTrigger, VerdictKind};
use omo_core::stop::claim::{
    CheckResult, ClaimFindings, ClaimJudgement, ClaimReason, has_awaited_review, judge_claim,
};
use omo_core::stop::{
    StopAction, StopEvent, StopFacts, StopFinding, StopRow, TranscriptTail, apply_decision, decide,
    needs_judgement,
};
use omo_core::timestamp::Timestamp;

const MINUTE: i64 = 60_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * MINUTE)
}

/// A run with one check that wants a review.
fn run() -> Session {
    let mut session = Session::default();
    let checks = vec![Check::new(Some("tests"), "cargo test", CheckOrigin::User).unwrap()];
    let activation = UlwActivation {
        trigger: UlwTrigger::Keyword,
        task: Some("ulw fix it".to_owned()),
        prompt_id: None,
        limits: RunLimits::default(),
        checks,
        review_wanted: true,
        prove: ProveMode::default(),
        base: None,
        begins_anew: false,
    };
    session.activate(activation, at(0));
    session
}

fn check(verdict: CheckVerdict) -> CheckResult {
    let counts = Some(TestCounts {
        run: 3,
        failed: u64::from(verdict == CheckVerdict::Failed),
        skipped: 0,
    });
    let record = CheckRecord {
        verdict,
        detail: verdict.word().to_owned(),
        counts,
        ..CheckRecord::default()
    };
    let definition = Check::new(None, "cargo test", CheckOrigin::User)
        .unwrap()
        .definition();
    CheckResult {
        name: "tests".to_owned(),
        command: "cargo test".to_owned(),
        definition,
        record,
        ..CheckResult::default()
    }
}

fn found(verdict: CheckVerdict, tree: &str) -> ClaimFindings {
    let tree = Some(tree.to_owned()).filter(|tree| !tree.is_empty());
    ClaimFindings {
        tree,
        checks: vec![check(verdict)],
        ..ClaimFindings::default()
    }
}

fn asked(tree: &str) -> RequestedReview {
    let tree = Some(tree.to_owned()).filter(|tree| !tree.is_empty());
    RequestedReview {
        at: Some(at(1)),
        tree,
        ..RequestedReview::default()
    }
}

fn review(verdict: ReviewVerdict) -> Review {
    Review {
        verdict,
        at: Some(at(2)),
        objections: "loses a byte".to_owned(),
        reviewer: None,
    }
}

const AGAIN: ClaimJudgement = ClaimJudgement::ReviewWanted { again: true };
const FIRST: ClaimJudgement = ClaimJudgement::ReviewWanted { again: false };

/// A review of these files agrees, and the comparison with the start is known.
fn compared(session: &mut Session, findings: &mut ClaimFindings, counterfactual: Counterfactual) {
    wait(session, "t1", ReviewVerdict::Verified);
    findings.counterfactual = counterfactual;
}

fn lost_a_test() -> Counterfactual {
    let notes = vec!["2 tests ran at the start, 1 now".to_owned()];
    Counterfactual::Known(vec![CheckCounterfactual {
        name: "tests".to_owned(),
        notes,
        ..CheckCounterfactual::default()
    }])
}

/// Facts, and their worth.
type Case = (
    &'static str,
    fn(&mut Session, &mut ClaimFindings),
    ClaimJudgement,
);

const CASES: &[Case] = &[
    (
        "a red gate",
        |_, f| f.checks = vec![check(CheckVerdict::Failed)],
        ClaimJudgement::Failed,
    ),
    (
        "a check that ran nothing",
        |_, f| f.checks = vec![check(CheckVerdict::NothingRan)],
        ClaimJudgement::Failed,
    ),
    (
        "a check that is not approved",
        |_, f| f.checks = vec![check(CheckVerdict::NotApproved)],
        ClaimJudgement::Failed,
    ),
    (
        "one red of two",
        |_, f| f.checks.push(check(CheckVerdict::TimedOut)),
        ClaimJudgement::Failed,
    ),
    ("green, no review asked for yet", |_, _| {}, FIRST),
    (
        "green, no review wanted",
        |s, _| s.verification.review_wanted = false,
        ClaimJudgement::Verified,
    ),
    (
        "no check, no review wanted",
        nothing_to_judge_by,
        ClaimJudgement::NothingToJudgeBy,
    ),
    ("no check, a review wanted", |_, f| f.checks.clear(), FIRST),
    (
        "gates that change what they judge",
        |_, f| f.tree_changed = true,
        ClaimJudgement::Failed,
    ),
    (
        "reviewed on these files",
        |s, _| wait(s, "t1", ReviewVerdict::Verified),
        ClaimJudgement::Verified,
    ),
    (
        "reviewed on other files",
        |s, _| wait(s, "t0", ReviewVerdict::Verified),
        FIRST,
    ),
    (
        "reviewed on these files, but a check is red",
        red_and_reviewed,
        ClaimJudgement::Failed,
    ),
    (
        "rejected on these files",
        |s, _| wait(s, "t1", ReviewVerdict::Rejected),
        ClaimJudgement::Failed,
    ),
    (
        "rejected, and the files are others now",
        |s, _| wait(s, "t0", ReviewVerdict::Rejected),
        AGAIN,
    ),
    (
        "a review without a verdict",
        |s, _| wait(s, "t1", ReviewVerdict::Unclear),
        AGAIN,
    ),
    (
        "asked for and never seen",
        |s, _| s.verification.requested_review = Some(asked("t1")),
        AGAIN,
    ),
    (
        "reviewed on these files, from other material",
        other_material,
        FIRST,
    ),
    (
        "reviewed while the comparison goes on",
        |s, f| compared(s, f, Counterfactual::Pending),
        ClaimJudgement::Verified,
    ),
    (
        "reviewed, and the comparison failed",
        |s, f| compared(s, f, Counterfactual::Failed("no room".to_owned())),
        ClaimJudgement::Verified,
    ),
    (
        "reviewed, and the comparison found more",
        |s, f| compared(s, f, lost_a_test()),
        FIRST,
    ),
    (
        "reviewed with all that the comparison found",
        |s, f| {
            compared(s, f, lost_a_test());
            s.verification
                .requested_review
                .iter_mut()
                .for_each(|asked| asked.shown = f.counterfactual.first_lines());
        },
        ClaimJudgement::Verified,
    ),
    (
        "files that could never be read",
        without_id,
        ClaimJudgement::Failed,
    ),
    (
        "rejected on these files, from other material",
        |s, f| {
            other_material(s, f);
            s.verification.review = Some(review(ReviewVerdict::Rejected));
        },
        ClaimJudgement::Failed,
    ),
    (
        "these files were rejected before",
        |s, _| rejected(s, Some("t1")),
        ClaimJudgement::Failed,
    ),
    (
        "these files were rejected before, and the next one agrees",
        |s, _| {
            rejected(s, Some("t1"));
            wait(s, "t1", ReviewVerdict::Verified);
        },
        ClaimJudgement::Failed,
    ),
    (
        "other files were rejected before",
        |s, _| {
            rejected(s, Some("t0"));
            wait(s, "t1", ReviewVerdict::Verified);
        },
        ClaimJudgement::Verified,
    ),
    (
        "an agreement that does not count",
        |s, f| {
            wait(s, "t1", ReviewVerdict::Verified);
            f.refusal = Some(AgreementRefusal::OtherPrompt);
        },
        AGAIN,
    ),
    (
        "no id now, one when it was asked",
        |s, f| {
            wait(s, "t1", ReviewVerdict::Verified);
            f.tree = None;
        },
        ClaimJudgement::Failed,
    ),
    (
        "files that cannot be read, no review wanted",
        |s, f| {
            s.verification.review_wanted = false;
            f.tree = None;
        },
        ClaimJudgement::Failed,
    ),
    (
        "an id now, none when it was asked",
        |s, _| wait(s, "", ReviewVerdict::Verified),
        FIRST,
    ),
    (
        "a review that was not asked for",
        |s, _| s.verification.review = Some(review(ReviewVerdict::Verified)),
        FIRST,
    ),
];

fn wait(session: &mut Session, tree: &str, verdict: ReviewVerdict) {
    session.verification.requested_review = Some(asked(tree));
    session.verification.review = Some(review(verdict));
}

fn rejected(session: &mut Session, tree: Option<&str>) {
    session.verification.reject(RejectedTree {
        tree: tree.map(str::to_owned),
        objections: "no".to_owned(),
    });
}

fn other_material(session: &mut Session, findings: &mut ClaimFindings) {
    wait(session, "t1", ReviewVerdict::Verified);
    session
        .verification
        .requested_review
        .as_mut()
        .unwrap()
        .material = Some("m1".to_owned());
    findings.material = Some("m2".to_owned());
}

fn nothing_to_judge_by(session: &mut Session, findings: &mut ClaimFindings) {
    session.verification.review_wanted = false;
    findings.checks.clear();
}

fn red_and_reviewed(session: &mut Session, findings: &mut ClaimFindings) {
    wait(session, "t1", ReviewVerdict::Verified);
    findings.checks = vec![check(CheckVerdict::Failed)];
}

fn without_id(session: &mut Session, findings: &mut ClaimFindings) {
    wait(session, "", ReviewVerdict::Verified);
    findings.tree = None;
}

#[test]
fn what_was_found_is_worth_what_the_table_says() {
    for (name, change, expected) in CASES {
        let (mut session, mut findings) = (run(), found(CheckVerdict::Green, "t1"));
        change(&mut session, &mut findings);
        assert_eq!(
            judge_claim(&session, findings).judgement,
            *expected,
            "{name}"
        );
    }
}

/// Items of a Stop after work was done.
fn facts(minute: i64) -> StopFacts {
    StopFacts {
        event: StopEvent::default(),
        transcript: TranscriptTail {
            tool_called_since_block: true,
            ..TranscriptTail::default()
        },
        client_block_cap: None,
        finding: StopFinding::NotAsked,
        plan: None,
        tokens: None,
        now: at(minute),
    }
}

/// One Stop as the hook makes it: judged where it has to be, decided, written down.
fn stop(
    session: &mut Session,
    message: &str,
    findings: &ClaimFindings,
    minute: i64,
) -> (StopRow, StopAction) {
    let event = StopEvent {
        claim: read_claim(message),
        ..StopEvent::default()
    };
    let mut facts = StopFacts {
        event,
        ..facts(minute)
    };
    facts.finding = if needs_judgement(session, &facts) {
        StopFinding::Claim(Box::new(judge_claim(session, findings.clone())))
    } else {
        StopFinding::Tree(findings.tree.clone())
    };
    let decision = decide(Some(session), Some(&facts));
    apply_decision(session, &decision, &facts);
    (decision.row, decision.action)
}

const DONE: &str = "All done.\n<promise>DONE</promise>";

#[test]
fn red_then_green_then_reviewed_is_verified() {
    let mut session = run();
    assert_eq!(
        stop(&mut session, DONE, &found(CheckVerdict::Failed, "t0"), 1).0,
        StopRow::Continue
    );
    assert_eq!(
        (session.verification.attempts, session.verification.phase),
        (1, VerificationPhase::Working)
    );
    assert_eq!(
        stop(&mut session, DONE, &found(CheckVerdict::Green, "t1"), 2).0,
        StopRow::Continue
    );
    assert_eq!(
        (session.verification.attempts, session.verification.phase),
        (1, VerificationPhase::Review)
    );
    session.verification.review = Some(review::read_review(
        "Fine.\n<promise>VERIFIED</promise>",
        at(3),
    ));
    // The review alone ends it: nothing has to be claimed a second time.
    assert!(has_awaited_review(&session));
    assert_eq!(
        stop(
            &mut session,
            "The reviewer agrees.",
            &found(CheckVerdict::Green, "t1"),
            4
        )
        .0,
        StopRow::ClaimJudged
    );
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Verified);
    assert_eq!(session.verification.phase, VerificationPhase::Verified);
}

#[test]
fn verified_and_then_a_file_changes_is_asked_again() {
    let mut session = run();
    stop(&mut session, DONE, &found(CheckVerdict::Green, "t1"), 1);
    session.verification.review = Some(review(ReviewVerdict::Verified));
    assert_eq!(
        stop(&mut session, DONE, &found(CheckVerdict::Green, "t2"), 2).0,
        StopRow::Continue
    );
    assert_eq!(
        session
            .verification
            .requested_review
            .as_ref()
            .unwrap()
            .tree
            .as_deref(),
        Some("t2")
    );
    assert_eq!(
        (session.verification.attempts, &session.verification.review),
        (0, &None)
    );
}

#[test]
fn the_same_failure_on_the_same_files_is_reported_twice_and_no_more() {
    let mut session = run();
    let red = found(CheckVerdict::Failed, "t1");
    assert_eq!(stop(&mut session, DONE, &red, 1).0, StopRow::Continue);
    assert_eq!(stop(&mut session, "Hm.", &red, 2).0, StopRow::Continue);
    assert_eq!(stop(&mut session, "Hm.", &red, 3).0, StopRow::SameFailure);
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Released);
    let mut session = run();
    for (minute, tree) in [(1, "t1"), (2, "t2"), (3, "t3"), (4, "t4")] {
        let message = if minute == 1 { DONE } else { "Hm." };
        assert_eq!(
            stop(
                &mut session,
                message,
                &found(CheckVerdict::Failed, tree),
                minute
            )
            .0,
            StopRow::Continue,
            "{tree}"
        );
    }
}

#[test]
fn what_was_rejected_counts_once_and_its_objections_are_kept_until_the_next_claim() {
    let mut session = run();
    stop(&mut session, DONE, &found(CheckVerdict::Green, "t1"), 1);
    session.verification.review = Some(review(ReviewVerdict::Rejected));
    let (row, _) = stop(
        &mut session,
        "I will fix that.",
        &found(CheckVerdict::Green, "t1"),
        2,
    );
    assert_eq!((row, session.verification.attempts), (StopRow::Continue, 1));
    assert_eq!(
        session.verification.failure.as_ref().unwrap().text,
        "review: loses a byte"
    );
    stop(
        &mut session,
        "Still at it.",
        &found(CheckVerdict::Green, "t2"),
        3,
    );
    assert_eq!(session.verification.attempts, 1, "nothing was claimed");
    stop(&mut session, DONE, &found(CheckVerdict::Green, "t3"), 4);
    assert_eq!(
        (session.verification.attempts, session.verification.phase),
        (1, VerificationPhase::Review)
    );
    assert_eq!(session.verification.failure, None);
}

// The story of a loop that went on for ever after its reviewer had agreed: each of its causes, and
// each of the mendings that were proposed.

#[test]
fn a_verdict_that_is_never_seen_ends_after_three_attempts_with_a_warning() {
    let mut session = run();
    let green = found(CheckVerdict::Green, "t1");
    let rows: Vec<StopRow> = (1..=5)
        .map(|minute| stop(&mut session, DONE, &green, minute).0)
        .collect();
    // The first claim asks; then each one that comes without a verdict is a failed claim.
    assert_eq!(
        rows,
        [
            StopRow::Continue,
            StopRow::Continue,
            StopRow::Continue,
            StopRow::AttemptsSpent,
            StopRow::NoRun
        ]
    );
    assert_eq!(session.verdict.unwrap().kind, VerdictKind::Released);
}

#[test]
fn the_attempts_are_in_the_state_and_survive_the_process() {
    let mut session = run();
    stop(&mut session, DONE, &found(CheckVerdict::Failed, "t1"), 1);
    let written = serde_json::to_string(&session).unwrap();
    assert!(
        written.contains(r#""attempts":1,"maxAttempts":3"#),
        "{written}"
    );
    assert_eq!(serde_json::from_str::<Session>(&written).unwrap(), session);
    assert_eq!(session.max_attempts(), 3);
}

#[test]
fn three_red_claims_end_the_run_with_a_warning() {
    let mut session = run();
    for (minute, row) in [
        (1, StopRow::Continue),
        (2, StopRow::Continue),
        (3, StopRow::AttemptsSpent),
    ] {
        let tree = format!("t{minute}");
        let (decided, action) = stop(
            &mut session,
            DONE,
            &found(CheckVerdict::Failed, &tree),
            minute,
        );
        assert_eq!(decided, row);
        let ends = matches!(
            action,
            StopAction::End {
                verdict: VerdictKind::Released,
                ..
            }
        );
        assert_eq!(ends, row == StopRow::AttemptsSpent);
    }
}

#[test]
fn a_file_cannot_raise_the_number_of_attempts() {
    let mut session = run();
    session.verification.max_attempts = 100;
    let rows: Vec<StopRow> = (1..=3)
        .map(|minute| {
            stop(
                &mut session,
                DONE,
                &found(CheckVerdict::Failed, &minute.to_string()),
                minute,
            )
            .0
        })
        .collect();
    assert_eq!(rows.last(), Some(&StopRow::AttemptsSpent));
}

#[test]
fn what_the_main_agent_says_of_a_review_starts_nothing() {
    for message in [
        "The oracle said <promise>VERIFIED</promise>",
        "Great.\n<promise>VERIFIED</promise>",
    ] {
        let mut session = run();
        stop(&mut session, DONE, &found(CheckVerdict::Green, "t1"), 1);
        let (row, _) = stop(&mut session, message, &found(CheckVerdict::Green, "t1"), 2);
        assert_eq!(
            (row, session.verdict),
            (StopRow::Continue, None),
            "{message}"
        );
    }
}

#[test]
fn a_claim_that_an_earlier_row_answers_runs_no_check() {
    let mut session = run();
    let event = StopEvent {
        claim: Some(Claim::Done),
        plan_mode: true,
        ..StopEvent::default()
    };
    let mut facts = StopFacts { event, ..facts(1) };
    assert!(!needs_judgement(&session, &facts), "plan mode");
    facts.event.plan_mode = false;
    assert!(needs_judgement(&session, &facts));
    session.ulw.stop_blocks = 99;
    assert!(
        needs_judgement(&session, &facts),
        "a claim is judged at a bound"
    );
    session.ulw.said_blocked = Some("no access".to_owned());
    assert!(!needs_judgement(&session, &facts), "said to be blocked");
}

#[test]
fn a_review_that_came_without_a_verdict_is_told_apart_from_none() {
    let mut session = run();
    wait(&mut session, "t1", ReviewVerdict::Unclear);
    let reason = |session: &Session| judge_claim(session, found(CheckVerdict::Green, "t1")).reason;
    assert_eq!(reason(&session), ClaimReason::UnclearVerdict);
    session.verification.review = None;
    assert_eq!(reason(&session), ClaimReason::NoVerdict);
}

#[test]
fn what_was_added_meanwhile_has_to_be_asked() {
    let mut session = run();
    session.verification.review_wanted = false;
    let check = judge_claim(&session, found(CheckVerdict::Green, "t1"));
    assert_eq!(check.judgement, ClaimJudgement::Verified);
    let mut facts = StopFacts {
        finding: StopFinding::Claim(Box::new(check)),
        ..facts(1)
    };
    assert!(!facts.is_outdated(&session));
    facts.plan = Some(PlanRun::default());
    assert!(facts.is_outdated(&session), "a plan was opened");
    facts.plan = None;
    session
        .checks
        .push(Check::new(None, "npm test", CheckOrigin::User).unwrap());
    assert!(facts.is_outdated(&session), "a check was added");
}

#[test]
fn a_record_is_kept_with_its_check_and_a_reused_one_is_not_written_again() {
    let mut session = run();
    let mut findings = found(CheckVerdict::Failed, "t1");
    judge_claim(&session, findings.clone()).record(&mut session, at(1), 7);
    assert_eq!(
        session.checks[0].last.as_ref().unwrap().verdict,
        CheckVerdict::Failed
    );
    findings.checks[0] = CheckResult {
        is_reused: true,
        ..check(CheckVerdict::Green)
    };
    let check = judge_claim(&session, findings);
    assert_eq!(check.reason, ClaimReason::FirstReview);
    check.record(&mut session, at(2), 9);
    assert_eq!(
        session.checks[0].last.as_ref().unwrap().verdict,
        CheckVerdict::Failed
    );
    assert_eq!(
        session
            .verification
            .requested_review
            .as_ref()
            .unwrap()
            .offset,
        9
    );
}

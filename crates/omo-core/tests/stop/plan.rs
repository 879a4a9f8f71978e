//! Effects of an open plan run on a Stop: its open tasks hold, and its question lets go.

use omo_core::promise::Claim;
use omo_core::session::plan_run::PlanRun;
use omo_core::stop::claim::ClaimJudgement;
use omo_core::stop::{BlockCause, StopAction, StopRow, needs_judgement};

use super::{
    Case, Given, MINUTE, START, at, blocked, claim_done, last_block_before, spend_all, word,
};

/// Changes by a plan run, and the expected row.
const PLAN_CASES: &[Case] = &[
    ("a plan goes on", |_| {}, StopRow::Continue, "block"),
    (
        "a claim while it goes on is not judged",
        claim_done,
        StopRow::Continue,
        "block",
    ),
    (
        "verified a moment before it was opened",
        |g| {
            g.event.claim = Some(Claim::Done);
            g.judgement = Some(ClaimJudgement::Verified);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "the third failure, now",
        |g| {
            g.session().verification.attempts = 2;
            g.judgement = Some(ClaimJudgement::Failed);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "a failure from before it that is not reported",
        |g| g.same_failure_sent = 2,
        StopRow::Continue,
        "block",
    ),
    (
        "said to be blocked",
        |g| g.event.claim = Some(blocked("no access")),
        StopRow::SaidBlocked,
        "blocked",
    ),
    (
        "8 of 8",
        |g| g.session().ulw.stop_blocks = 8,
        StopRow::BlocksSpent,
        "released",
    ),
    (
        "too old",
        |g| g.session().ulw.started_at = Some(at(START - 240 * MINUTE)),
        StopRow::TimeSpent,
        "expired",
    ),
    (
        "in the cooldown",
        |g| last_block_before(g, 1_000),
        StopRow::Cooldown,
        "warn",
    ),
    (
        "the way out",
        |g| g.session().stop_continuation.disabled = true,
        StopRow::StopContinuation,
        "allow",
    ),
    (
        "a background agent",
        |g| g.event.wakeup_scheduled = true,
        StopRow::BackgroundWork,
        "allow",
    ),
    (
        "ultrawork is off",
        |g| g.session().ulw.enabled = false,
        StopRow::NoRun,
        "allow",
    ),
    ("it waits", waits, StopRow::PlanOrPaused, "allow"),
    (
        "it waits, and the message claims",
        |g| {
            waits(g);
            claim_done(g);
        },
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "it waits at the bounds",
        |g| {
            waits(g);
            spend_all(g);
        },
        StopRow::PlanOrPaused,
        "allow",
    ),
    (
        "it ended while it waited",
        |g| {
            waits(g);
            end_plan(g);
        },
        StopRow::Continue,
        "block",
    ),
    (
        "it ended, and the claim is judged",
        |g| {
            end_plan(g);
            g.event.claim = Some(Claim::Done);
            g.judgement = Some(ClaimJudgement::Verified);
        },
        StopRow::ClaimJudged,
        "verified",
    ),
];

fn waits(given: &mut Given) {
    given.plan.get_or_insert_default().waits = Some("continue after batch 1?".to_owned());
}

fn end_plan(given: &mut Given) {
    given.plan.get_or_insert_default().ended = Some("complete".to_owned());
}

#[test]
fn an_open_plan_is_what_is_left_to_do() {
    for (name, change, row, expected) in PLAN_CASES {
        let mut given = Given {
            plan: Some(PlanRun::default()),
            ..Given::armed()
        };
        change(&mut given);
        let decision = given.decide();
        assert_eq!((decision.row, word(&decision)), (*row, *expected), "{name}");
        let goes_on = given
            .plan
            .as_ref()
            .is_some_and(|plan| plan.waits.is_none() && plan.ended.is_none());
        if let StopAction::Block(block) = &decision.action {
            let expected = if goes_on {
                BlockCause::PlanContinues
            } else {
                BlockCause::Unfinished
            };
            assert_eq!(block.cause, expected, "{name}");
        }
    }
}

#[test]
fn a_claim_is_verified_once_no_plan_is_open() {
    let mut given = Given::armed();
    given.event.claim = Some(Claim::Done);
    assert!(needs_judgement(
        given.session.as_ref().unwrap(),
        &given.facts()
    ));
    given.plan = Some(PlanRun::default());
    assert!(
        !needs_judgement(given.session.as_ref().unwrap(), &given.facts()),
        "it goes on"
    );
    waits(&mut given);
    assert!(
        !needs_judgement(given.session.as_ref().unwrap(), &given.facts()),
        "it waits"
    );
    end_plan(&mut given);
    assert!(
        needs_judgement(given.session.as_ref().unwrap(), &given.facts()),
        "it ended"
    );
}

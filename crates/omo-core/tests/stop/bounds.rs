//! The lower of two bounds, an interruption, and Stops that change nothing.

use omo_core::session::{Interruption, PauseReason};
use omo_core::stop::{StopAction, StopDecision, StopRow, TranscriptTail, allowed_blocks, apply_decision};

use super::{CASES, Given};

#[test]
fn the_lower_bound_counts() {
    let session = Given::armed().session.unwrap();
    for (cap, allowed) in [(None, 8), (Some(20), 8), (Some(8), 8), (Some(5), 5), (Some(1), 1)] {
        assert_eq!(allowed_blocks(&session, cap), allowed, "{cap:?}");
    }
}

#[test]
fn an_interruption_pauses_the_run_once_and_nothing_more_is_continued() {
    let mut given = Given::armed();
    given.transcript.interrupted = Some(Interruption::AtSomeTime);
    let (decision, facts) = (given.decide(), given.facts());
    assert_eq!(decision.action, StopAction::Pause(PauseReason::Interrupted));
    apply_decision(given.session(), &decision, &facts);
    given.transcript = TranscriptTail::default();
    assert_eq!(given.decide(), StopDecision { row: StopRow::PlanOrPaused, action: StopAction::Allow });
    assert!(given.session().is_armed());
}

#[test]
fn what_is_let_through_changes_nothing() {
    for (name, change, _, expected) in CASES.iter().filter(|case| matches!(case.3, "allow" | "warn" | "wait")) {
        let mut given = Given::armed();
        change(&mut given);
        let (before, decision, facts) = (given.session.clone(), given.decide(), given.facts());
        if let Some(session) = &mut given.session {
            apply_decision(session, &decision, &facts);
            session.ulw.rest = None;
        }
        assert_eq!(given.session, before, "{name} ({expected})");
    }
}

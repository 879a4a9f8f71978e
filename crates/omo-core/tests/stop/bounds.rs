//! The lower of two bounds, an interruption, and Stops that change nothing.

use omo_core::session::{Interruption, PauseReason};
use omo_core::stop::{
    BlockCause, StopAction, StopDecision, StopRow, TranscriptTail, allowed_blocks, apply_decision,
};

use super::{CASES, Given, MINUTE, START, at, task};

#[test]
fn the_lower_bound_counts() {
    let session = Given::armed().session.unwrap();
    for (cap, allowed) in [
        (None, 8),
        (Some(20), 8),
        (Some(8), 8),
        (Some(5), 5),
        (Some(1), 1),
    ] {
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
    assert_eq!(
        given.decide(),
        StopDecision {
            row: StopRow::PlanOrPaused,
            action: StopAction::Allow
        }
    );
    assert!(given.session().is_armed());
}

#[test]
fn what_is_let_through_changes_nothing() {
    for (name, change, _, expected) in CASES
        .iter()
        .filter(|case| matches!(case.3, "allow" | "warn" | "wait"))
    {
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

#[test]
fn a_block_counts_on_from_the_last_one_and_names_each_shell_once() {
    let mut given = Given::armed();
    given.cap = Some(5);
    given.event.background = vec![
        task("dev", "shell", "running"),
        task("old", "shell", "completed"),
    ];
    let decision = given.decide();
    let StopAction::Block(block) = &decision.action else {
        panic!("{decision:?}")
    };
    assert_eq!(
        (block.number, block.allowed, block.cause),
        (1, 5, BlockCause::Unfinished)
    );
    assert_eq!(block.newly_named, [task("dev", "shell", "running")]);
    let (now, facts) = (given.now, given.facts());
    apply_decision(given.session(), &decision, &facts);
    assert_eq!(given.session().ulw.stop_blocks, 1);
    assert_eq!(given.session().ulw.last_stop_at, Some(now));
    assert_eq!(given.session().ulw.named_tasks, ["dev"]);
    given.now = at(START + 2 * MINUTE);
    assert_eq!(
        given.decide().row,
        StopRow::BackgroundWork,
        "the model was told, and ends its turn again to wait"
    );
    given.event.background.clear();
    let decision = given.decide();
    let StopAction::Block(block) = &decision.action else {
        panic!("{decision:?}")
    };
    assert_eq!((block.number, block.newly_named.len()), (2, 0));
}

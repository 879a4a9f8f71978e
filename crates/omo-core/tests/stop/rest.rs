//! A run that rests: what it waits for, and since when.

use omo_core::session::rest::RestReason;
use omo_core::stop::{
    BackgroundTask, BlockCause, StopAction, StopBlock, StopDecision, StopFacts, StopRow,
    apply_decision, awaited_work,
};

use super::{Given, MINUTE, START, at, task};

#[test]
fn awaited_work_is_named_since_its_begin() {
    let mut given = Given::armed();
    given.event.background.extend([
        BackgroundTask {
            label: "read the logs".to_owned(),
            ..task("a", "subagent", "running")
        },
        task("b", "workflow", "completed"),
        task("c", "dream", "running"),
    ]);
    given.event.wakeup_scheduled = true;
    let mut session = given.session().clone();
    let decision = StopDecision {
        row: StopRow::BackgroundWork,
        action: StopAction::Allow,
    };
    let facts = |now| StopFacts {
        now,
        ..given.facts()
    };
    apply_decision(&mut session, &decision, &facts(at(START)));
    apply_decision(&mut session, &decision, &facts(at(START + MINUTE)));
    let rest = session.ulw.rest.clone().unwrap();
    assert_eq!(
        (rest.since.unwrap(), rest.awaited_words().unwrap().as_str()),
        (at(START), "subagent `read the logs`, a scheduled wakeup")
    );
    given
        .event
        .background
        .extend((0..9).map(|_| task("d", "monitor", "running")));
    assert_eq!(
        awaited_work(&given.event).last().map(String::as_str),
        Some("7 more")
    );
    let block = StopBlock {
        number: 1,
        allowed: 8,
        newly_named: Vec::new(),
        cause: BlockCause::Unfinished,
    };
    let decision = StopDecision {
        row: StopRow::Continue,
        action: StopAction::Block(block),
    };
    apply_decision(&mut session, &decision, &given.facts());
    assert_eq!(session.ulw.rest.and_then(|rest| rest.since), None);
}

#[test]
fn the_end_of_a_run_names_the_usage_limit_that_it_met_last() {
    const WEEK: i64 = 7 * 1_440;
    let ends = |reason, is_ended, minutes: i64| {
        let mut given = Given::armed();
        given
            .session()
            .rest(reason, Vec::new(), at(START + 5 * MINUTE));
        if is_ended {
            given.session().end_rest(at(START + 6 * MINUTE));
        }
        given.now = at(START + minutes * MINUTE);
        match given.decide().action {
            StopAction::End { why, .. } => why,
            action => format!("{action:?}"),
        }
    };
    for (reason, is_ended, minutes, why) in [
        (
            RestReason::UsageLimit,
            false,
            WEEK,
            "begun 7 days ago, while its usage limit had not ended",
        ),
        (
            RestReason::UsageLimit,
            true,
            241,
            "worked on for 240 minutes, after a usage limit",
        ),
        (RestReason::TurnEnded, false, WEEK, "begun 7 days ago"),
        (
            RestReason::TurnEnded,
            true,
            241,
            "worked on for 240 minutes",
        ),
    ] {
        assert_eq!(ends(reason, is_ended, minutes), why);
    }
}

//! Hard stops: who is asked when, what may not be begun before, and what is dispatched in one go.

use std::collections::BTreeMap;

use omo_plan::model::{OnFailure, Parallel, Plan, Unit};
use omo_plan::run::event::{ImportedStatus, RunResult, What};
use omo_plan::run::segment::segment;
use omo_plan::run::state::CONTINUE;
use omo_plan::run::verbs::RefusalKind;

use crate::kit::{Play, in_batches, needs, plan, unit};

/// Seven units in batches of two, with a stop behind the batches named.
fn seven(stops: &[usize]) -> Plan {
    let units = (1..=7).map(|number| unit(&number.to_string())).collect();
    in_batches(plan(units), &[&["1", "2"], &["3", "4"], &["5", "6"], &["7"]], stops)
}

#[test]
fn a_person_is_asked_behind_a_batch_and_nothing_behind_it_is_begun_before() {
    let mut play = Play::open(seven(&[0, 2]));
    play.pass("1");
    assert_eq!(play.start("3").unwrap_err().message, "it is not the turn of 3");
    play.fail("2");
    assert_eq!(play.asked(), Some(("g1".to_owned(), "hard_stop".to_owned())));
    let refusal = play.start("3").unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Human);
    assert_eq!(
        refusal.message,
        "gate g1 waits for an answer: Batch 1 of 4 is done: 2 of 7 tasks have ended, 1 passed, 1 failed. Continue?"
    );
    play.answer("g1", CONTINUE).unwrap();
    for id in ["3", "4", "5", "6"] {
        assert_eq!(play.asked(), None);
        play.pass(id);
    }
    assert_eq!(play.asked(), Some(("g2".to_owned(), "hard_stop".to_owned())));
    play.answer("g2", CONTINUE).unwrap();
    play.pass("7");
    assert_eq!(play.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn nobody_is_asked_where_nothing_is_left() {
    let mut play = Play::open(in_batches(plan(vec![unit("1"), needs("2", &["1"])]), &[&["1"], &["2"]], &[0, 1]));
    play.fail("1");
    assert_eq!((play.asked(), play.result()), (None, Some(RunResult::CompletedWithFailures)));
    let mut play = Play::open(in_batches(plan(vec![unit("1")]), &[&["1"]], &[0]));
    play.pass("1");
    assert_eq!(play.result(), Some(RunResult::Complete));
}

#[test]
fn a_stop_within_one_stage_holds_the_batches_behind_it() {
    let mut plan = in_batches(plan(vec![unit("1"), unit("2")]), &[&["1"], &["2"]], &[0]);
    plan.policy.parallel = Parallel::Units;
    for group in &mut plan.groups {
        group.stage = 0;
    }
    let mut play = Play::open(plan);
    assert_eq!(play.ready(), ["1"]);
    play.pass("1");
    play.answer("g1", CONTINUE).unwrap();
    assert_eq!(play.ready(), ["2"]);
}

#[test]
fn stages_go_before_the_order_in_the_plan() {
    let mut plan = in_batches(plan(vec![unit("1"), unit("2")]), &[&["1"], &["2"]], &[0, 1]);
    plan.groups[0].stage = 1;
    plan.groups[1].stage = 0;
    let mut play = Play::open(plan);
    assert_eq!(segment(&play.state), [["2"]]);
    play.pass("2");
    play.answer("g1", CONTINUE).unwrap();
    assert!(play.state.is_stop_passed(1) && !play.state.is_stop_passed(0), "only what was shown is passed");
    play.pass("1");
    assert_eq!(play.result(), Some(RunResult::Complete));
}

#[test]
fn a_stop_stays_passed_when_something_before_it_is_done_again() {
    let mut play = Play::open(seven(&[0]));
    play.fail("1");
    play.pass("2");
    play.answer("g1", CONTINUE).unwrap();
    play.retry("1").unwrap();
    assert_eq!(play.ready(), ["1"], "an earlier stage goes first");
    play.pass("1");
    assert_eq!((play.asked(), play.ready()), (None, vec!["3"]));
}

#[test]
fn an_empty_batch_with_a_stop_asks_nobody() {
    let mut play = Play::open(in_batches(plan(vec![unit("1"), unit("2")]), &[&["1"], &[], &["2"]], &[1]));
    play.pass("1");
    play.pass("2");
    assert_eq!((play.asked(), play.result()), (None, Some(RunResult::Complete)));
}

/// Records how a unit ended before the run, as an imported checkpoint does.
fn record(play: &mut Play, id: &str, status: ImportedStatus) {
    let unit = id.to_owned();
    play.write([What::UnitImported { unit, status, evidence: String::new(), files: Vec::new() }]);
}

#[test]
fn a_segment_is_what_is_left_up_to_the_next_stop() {
    let done = ImportedStatus::Done;
    for (stops, ended, passed, expected) in [
        (vec![0], vec![], 0, vec![vec!["1", "2"]]),
        (vec![0], vec!["1", "2"], 1, vec![vec!["3", "4"], vec!["5", "6"], vec!["7"]]),
        (vec![0, 2], vec!["1", "2"], 1, vec![vec!["3", "4"], vec!["5", "6"]]),
        (vec![0, 2], vec!["1", "2", "3", "4", "5", "6"], 2, vec![vec!["7"]]),
        (vec![0, 2], vec!["1", "2", "3"], 1, vec![vec!["4"], vec!["5", "6"]]),
        (vec![0], vec!["1"], 0, vec![vec!["2"]]),
        (vec![0], vec!["1", "2"], 0, vec![]),
        (vec![], vec!["1", "2", "3", "4", "5", "6", "7"], 0, vec![]),
    ] {
        let mut play = Play::open(seven(&stops));
        for id in &ended {
            record(&mut play, id, done);
        }
        for gate in 1..=passed {
            play.advance();
            play.answer(&format!("g{gate}"), CONTINUE).unwrap();
        }
        assert_eq!(segment(&play.state), expected, "{stops:?} {ended:?} {passed}");
    }
}

#[test]
fn what_failed_and_what_it_blocks_is_in_no_segment() {
    let mut units: Vec<Unit> = vec![unit("1"), unit("2"), needs("3", &["1"]), needs("4", &["3"]), unit("5")];
    units[0].on_failure = OnFailure::Hold;
    let mut play = Play::open(in_batches(plan(units), &[&["1", "2"], &["3", "4"], &["5"]], &[0]));
    record(&mut play, "1", ImportedStatus::Failed);
    record(&mut play, "2", ImportedStatus::Done);
    play.advance();
    assert!(segment(&play.state).is_empty(), "the stop waits to be passed");
    play.answer("g1", CONTINUE).unwrap();
    assert_eq!(segment(&play.state), [["5"]]);
}

/// What was dispatched, and how each unit ended, with a stop answered whenever it asks.
fn dispatched(plan: Plan, failing: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let ids: Vec<String> = plan.units.iter().map(|unit| unit.id.clone()).collect();
    let mut play = Play::open(plan);
    let mut order = Vec::new();
    while play.result().is_none() {
        if let Some((gate, _)) = play.asked() {
            play.answer(&gate, CONTINUE).unwrap();
            continue;
        }
        let id = play.ready()[0].to_owned();
        if failing.contains(&id.as_str()) {
            play.fail(&id)
        } else {
            play.pass(&id)
        }
        order.push(id);
    }
    let ends = ids.into_iter().map(|id| (id.clone(), play.standing(&id).to_owned())).collect();
    (order, ends)
}

#[test]
fn what_a_failure_blocks_is_not_dispatched_and_all_else_is() {
    let units = || vec![unit("1"), needs("2", &["1"]), needs("3", &["2"]), unit("4")];
    for (failing, order, ends) in [
        (vec![], vec!["1", "2", "3", "4"], ["passed", "passed", "passed", "passed"]),
        (vec!["2"], vec!["1", "2", "4"], ["passed", "failed", "blocked", "passed"]),
        (vec!["1"], vec!["1", "4"], ["failed", "blocked", "blocked", "passed"]),
        (vec!["4"], vec!["1", "2", "3", "4"], ["passed", "passed", "passed", "failed"]),
    ] {
        let stopped = in_batches(plan(units()), &[&["1", "2"], &["3"], &["4"]], &[0, 1]);
        for plan in [plan(units()), stopped] {
            let (was, how) = dispatched(plan, &failing);
            assert_eq!(was, order, "{failing:?}");
            assert_eq!(how.values().map(String::as_str).collect::<Vec<_>>(), ends, "{failing:?}");
        }
    }
}

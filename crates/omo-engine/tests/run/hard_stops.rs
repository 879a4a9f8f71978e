//! Hard stops: the questions, the tasks behind them, and dispatches in one go.

use std::collections::BTreeMap;

use omo_engine::event::{EventKind, ImportedStatus, RunResult};
use omo_engine::next_batches::next_batches;
use omo_engine::state::ANSWER_CONTINUE;
use omo_plan::model::{OnFailure, Parallelism, Plan, Task};
use omo_plan::refusal::VerbRefusalKind;

use crate::run::kit::{Run, in_batches, needs, plan, task};

/// Seven tasks in batches of two, with stops after the named batches.
fn seven(stops: &[usize]) -> Plan {
    let tasks = (1..=7).map(|number| task(&number.to_string())).collect();
    in_batches(
        plan(tasks),
        &[&["1", "2"], &["3", "4"], &["5", "6"], &["7"]],
        stops,
    )
}

#[test]
fn a_person_is_asked_behind_a_batch_and_nothing_behind_it_is_begun_before() {
    let mut run = Run::open(seven(&[0, 2]));
    run.pass("1");
    assert_eq!(
        run.start("3").unwrap_err().message,
        "it is not the turn of 3"
    );
    run.fail("2");
    assert_eq!(run.asked(), Some(("q1".to_owned(), "hard_stop".to_owned())));
    let refusal = run.start("3").unwrap_err();
    assert_eq!(refusal.kind, VerbRefusalKind::NeedsPerson);
    assert_eq!(
        refusal.message,
        "question q1 waits for an answer: Batch 1 of 4 is done: 2 of 7 tasks have ended, 1 passed, 1 failed. Continue?"
    );
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    for id in ["3", "4", "5", "6"] {
        assert_eq!(run.asked(), None);
        run.pass(id);
    }
    assert_eq!(run.asked(), Some(("q2".to_owned(), "hard_stop".to_owned())));
    run.answer("q2", ANSWER_CONTINUE).unwrap();
    run.pass("7");
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_task_without_proof_is_unproved_at_a_stop_and_not_failed() {
    let mut plan = seven(&[0]);
    plan.policy.unproved_continues = true;
    plan.tasks[1].checks.clear();
    let mut run = Run::open(plan);
    run.pass("1");
    run.pass("2");
    let refusal = run.start("3").unwrap_err();
    assert!(
        refusal
            .message
            .contains(": 2 of 7 tasks have ended, 1 passed, 1 unproved. Continue?"),
        "{refusal:?}"
    );
}

#[test]
fn no_question_is_asked_where_nothing_is_left() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), needs("2", &["1"])]),
        &[&["1"], &["2"]],
        &[0, 1],
    ));
    run.fail("1");
    assert_eq!(
        (run.asked(), run.result()),
        (None, Some(RunResult::CompletedWithFailures))
    );
    let mut run = Run::open(in_batches(plan(vec![task("1")]), &[&["1"]], &[0]));
    run.pass("1");
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_stop_within_one_wave_blocks_the_batches_behind_it() {
    let mut plan = in_batches(plan(vec![task("1"), task("2")]), &[&["1"], &["2"]], &[0]);
    plan.policy.parallel = Parallelism::Tasks;
    for group in &mut plan.groups {
        group.wave = 0;
    }
    let mut run = Run::open(plan);
    assert_eq!(run.ready(), ["1"]);
    run.pass("1");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!(run.ready(), ["2"]);
}

#[test]
fn waves_go_before_the_order_in_the_plan() {
    let mut plan = in_batches(plan(vec![task("1"), task("2")]), &[&["1"], &["2"]], &[0, 1]);
    plan.groups[0].wave = 1;
    plan.groups[1].wave = 0;
    let mut run = Run::open(plan);
    assert_eq!(next_batches(&run.state), [["2"]]);
    run.pass("2");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert!(
        run.state.is_stop_passed(1) && !run.state.is_stop_passed(0),
        "only what was shown is passed"
    );
    run.pass("1");
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_stop_stays_passed_when_something_before_it_is_done_again() {
    let mut run = Run::open(seven(&[0]));
    run.fail("1");
    run.pass("2");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    run.retry("1").unwrap();
    assert_eq!(run.ready(), ["1"], "an earlier wave goes first");
    run.pass("1");
    assert_eq!((run.asked(), run.ready()), (None, vec!["3"]));
}

#[test]
fn an_empty_batch_with_a_stop_asks_nothing() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), task("2")]),
        &[&["1"], &[], &["2"]],
        &[1],
    ));
    run.pass("1");
    run.pass("2");
    assert_eq!(
        (run.asked(), run.result()),
        (None, Some(RunResult::Complete))
    );
}

/// Records the end of a task before the run, as an imported checkpoint does.
fn record(run: &mut Run, id: &str, status: ImportedStatus) {
    let task = id.to_owned();
    run.write([EventKind::TaskImported {
        task,
        status,
        evidence: String::new(),
        files: Vec::new(),
    }]);
}

#[test]
fn a_batch_is_what_is_left_up_to_the_next_stop() {
    let done = ImportedStatus::Done;
    for (stops, ended, passed, expected) in [
        (vec![0], vec![], 0, vec![vec!["1", "2"]]),
        (
            vec![0],
            vec!["1", "2"],
            1,
            vec![vec!["3", "4"], vec!["5", "6"], vec!["7"]],
        ),
        (
            vec![0, 2],
            vec!["1", "2"],
            1,
            vec![vec!["3", "4"], vec!["5", "6"]],
        ),
        (
            vec![0, 2],
            vec!["1", "2", "3", "4", "5", "6"],
            2,
            vec![vec!["7"]],
        ),
        (
            vec![0, 2],
            vec!["1", "2", "3"],
            1,
            vec![vec!["4"], vec!["5", "6"]],
        ),
        (vec![0], vec!["1"], 0, vec![vec!["2"]]),
        (vec![0], vec!["1", "2"], 0, vec![]),
        (vec![], vec!["1", "2", "3", "4", "5", "6", "7"], 0, vec![]),
    ] {
        let mut run = Run::open(seven(&stops));
        for id in &ended {
            record(&mut run, id, done);
        }
        for question in 1..=passed {
            run.advance();
            run.answer(&format!("q{question}"), ANSWER_CONTINUE)
                .unwrap();
        }
        assert_eq!(
            next_batches(&run.state),
            expected,
            "{stops:?} {ended:?} {passed}"
        );
    }
}

#[test]
fn what_failed_and_what_it_blocks_is_in_no_batch() {
    let mut tasks: Vec<Task> = vec![
        task("1"),
        task("2"),
        needs("3", &["1"]),
        needs("4", &["3"]),
        task("5"),
    ];
    tasks[0].on_failure = OnFailure::Hold;
    let mut run = Run::open(in_batches(
        plan(tasks),
        &[&["1", "2"], &["3", "4"], &["5"]],
        &[0],
    ));
    record(&mut run, "1", ImportedStatus::Failed);
    record(&mut run, "2", ImportedStatus::Done);
    run.advance();
    assert!(
        next_batches(&run.state).is_empty(),
        "the stop waits to be passed"
    );
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!(next_batches(&run.state), [["5"]]);
}

/// The dispatches, and the end of each task, with each stop answered.
fn dispatched(plan: Plan, failing: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    let mut run = Run::open(plan);
    let mut order = Vec::new();
    while run.result().is_none() {
        if let Some((question, _)) = run.asked() {
            run.answer(&question, ANSWER_CONTINUE).unwrap();
            continue;
        }
        let id = run.ready()[0].to_owned();
        if failing.contains(&id.as_str()) {
            run.fail(&id);
        } else {
            run.pass(&id);
        }
        order.push(id);
    }
    let ends = ids
        .into_iter()
        .map(|id| (id.clone(), run.standing(&id).to_owned()))
        .collect();
    (order, ends)
}

#[test]
fn what_a_failure_blocks_is_not_dispatched_and_all_else_is() {
    let tasks = || vec![task("1"), needs("2", &["1"]), needs("3", &["2"]), task("4")];
    for (failing, order, ends) in [
        (
            vec![],
            vec!["1", "2", "3", "4"],
            ["passed", "passed", "passed", "passed"],
        ),
        (
            vec!["2"],
            vec!["1", "2", "4"],
            ["passed", "failed", "blocked", "passed"],
        ),
        (
            vec!["1"],
            vec!["1", "4"],
            ["failed", "blocked", "blocked", "passed"],
        ),
        (
            vec!["4"],
            vec!["1", "2", "3", "4"],
            ["passed", "passed", "passed", "failed"],
        ),
    ] {
        let stopped = in_batches(plan(tasks()), &[&["1", "2"], &["3"], &["4"]], &[0, 1]);
        for plan in [plan(tasks()), stopped] {
            let (was, how) = dispatched(plan, &failing);
            assert_eq!(was, order, "{failing:?}");
            assert_eq!(
                how.values().map(String::as_str).collect::<Vec<_>>(),
                ends,
                "{failing:?}"
            );
        }
    }
}

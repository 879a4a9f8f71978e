//! The life of a task list: waves, claims, verdicts, and one iteration after the other.

use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_core::check::task_check::{TaskCheck, TaskCheckVerdict};
use omo_engine::event::{EventKind, QuestionKind, RunResult};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{ANSWER_CONTINUE, MAX_LOST_WORKERS, RunPhase};
use omo_engine::verbs::{self, AttemptStart};
use omo_plan::model::{Plan, Task};
use omo_plan::task_list::VERIFY_TASK_ID;

use crate::run::kit::{Run, no_tool};
use crate::run::task_list_kit::{
    checked_task, criteria_task, fail_for, pass_by, session_plan, without_verification,
};

/// Two tasks side by side, one behind both, and a verification.
fn waves() -> Plan {
    session_plan(vec![
        checked_task("1", &[]),
        criteria_task("2", &[]),
        checked_task("3", &["1", "2"]),
    ])
}

#[test]
fn a_session_is_done_in_waves_and_then_verified() {
    let mut run = Run::open(waves());
    assert_eq!(run.ready(), ["1", "2"]);
    run.pass("1");
    run.claim("2");
    assert_eq!(run.ready(), ["3"]);
    run.pass("3");
    assert_eq!(run.ready(), [VERIFY_TASK_ID]);
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
    let standings = run.all_standings();
    assert_eq!(
        standings,
        [
            ("1", "passed"),
            ("2", "claimed"),
            ("3", "passed"),
            (VERIFY_TASK_ID, "passed")
        ]
    );
    assert_eq!(
        run.state.tasks[VERIFY_TASK_ID]
            .last_end
            .as_ref()
            .unwrap()
            .evidence,
        "PASS, shown by e2"
    );
    assert_eq!(run.state.round, 1);
}

#[test]
fn what_has_failed_is_done_again_with_the_rest_once_all_else_has_ended() {
    let mut run = Run::open(waves());
    run.fail("1");
    assert_eq!(
        (run.state.round, run.standing("1")),
        (1, "failed"),
        "2 is still to be done"
    );
    run.claim("2");
    let EventKind::RoundStarted { round: 2, reopened } = run.last() else {
        panic!("{:?}", run.last())
    };
    assert_eq!(
        reopened.as_slice(),
        [("1".to_owned(), "`prove 1` exit 1".to_owned())]
    );
    assert_eq!((run.state.round, run.ready()), (2, vec!["1"]));
    assert_eq!(
        run.state.tasks["1"].attempts, 1,
        "so that the model of the next one can be told"
    );
    assert_eq!(
        (
            run.standing("2"),
            run.standing("3"),
            run.standing(VERIFY_TASK_ID)
        ),
        ("claimed", "pending", "pending")
    );
    run.fail("1");
    run.pass("1");
    assert_eq!((run.state.round, run.state.tasks["1"].attempts), (3, 3));
    run.pass("3");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_session_has_failed_when_it_was_gone_over_as_often_as_it_may_be() {
    let mut run = Run::open(waves());
    run.claim("2");
    for round in 1..=3 {
        assert_eq!(run.state.round, round);
        run.fail("1");
    }
    assert_eq!(run.result(), Some(RunResult::Failed));
    assert_eq!(run.standing("1"), "failed");
    assert!(
        run.state.verdicts.is_empty(),
        "what is known to have failed is not verified"
    );
}

#[test]
fn what_a_verifier_does_not_take_is_done_again_and_verified_anew() {
    let mut run = Run::open(waves());
    run.pass("1");
    run.claim("2");
    run.pass("3");
    run.refute(&["2"]);
    let EventKind::RoundStarted { round: 2, reopened } = run.last() else {
        panic!("{:?}", run.last())
    };
    let expected = [
        ("2", "the verifier says: not good enough"),
        (VERIFY_TASK_ID, "FAIL: 2: not good enough"),
    ];
    assert_eq!(
        reopened.as_slice(),
        expected.map(|(id, why)| (id.to_owned(), why.to_owned()))
    );
    assert_eq!(run.ready(), ["2"]);
    assert_eq!(
        run.standing("3"),
        "passed",
        "what it did not name stays done"
    );
    run.claim("2");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
    assert_eq!(run.state.verdicts.len(), 2);
}

#[test]
fn a_last_verdict_that_it_is_not_done_ends_the_session_with_what_it_named() {
    let mut plan = waves();
    plan.policy.max_rounds = 1;
    let mut run = Run::open(plan);
    run.pass("1");
    run.claim("2");
    run.pass("3");
    run.refute(&["1", "3"]);
    assert_eq!(run.result(), Some(RunResult::Failed));
    let standings = run.all_standings();
    assert_eq!(
        standings,
        [
            ("1", "failed"),
            ("2", "claimed"),
            ("3", "failed"),
            (VERIFY_TASK_ID, "failed")
        ]
    );
    assert_eq!(
        run.state.tasks["3"].reason.as_deref(),
        Some("the verifier says: not good enough")
    );
}

#[test]
fn a_failed_worker_that_goes_on_begins_to_count_anew() {
    let failed = || {
        let mut run = Run::open(session_plan(vec![
            checked_task("1", &[]),
            checked_task("2", &[]),
        ]));
        run.pass("2");
        (0..3).for_each(|_| run.fail("1"));
        assert_eq!(run.result(), Some(RunResult::Failed));
        run
    };
    let mut run = failed();
    let events = verbs::take_over_run(&run.state, &run.caller);
    assert!(
        matches!(
            events.as_slice(),
            [
                EventKind::RunResumed,
                EventKind::RoundStarted { round: 1, .. }
            ]
        ),
        "{events:?}"
    );
    run.take(Ok(events)).unwrap();
    assert_eq!(
        (run.state.round, run.state.tasks["1"].attempts, run.ready()),
        (1, 3, vec!["1"])
    );
    let mut run = failed();
    run.retry("1").unwrap();
    assert_eq!((run.state.round, run.ready()), (1, vec!["1"]));
    run.pass("1");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_repeated_verification_repeats_none_of_the_tasks_that_it_named() {
    let failed = |reopen: &[&str]| {
        let mut plan = session_plan(vec![checked_task("1", &[])]);
        plan.policy.max_rounds = 1;
        let mut run = Run::open(plan);
        run.pass("1");
        let ticket = run.start(VERIFY_TASK_ID).unwrap();
        match reopen {
            [] => run
                .take(verbs::give_up_attempt(
                    &run.state,
                    &ticket,
                    "no way",
                    Vec::new(),
                ))
                .unwrap(),
            named => run.judges(&ticket, fail_for(named)).unwrap(),
        }
        assert_eq!(run.result(), Some(RunResult::Failed));
        run
    };
    let mut run = failed(&["1"]);
    run.retry(VERIFY_TASK_ID).unwrap();
    assert_eq!(
        (
            run.ready(),
            run.standing("1"),
            run.state.tasks["1"].attempts
        ),
        (vec![VERIFY_TASK_ID], "passed", 1)
    );
    let mut run = failed(&[]);
    run.retry(VERIFY_TASK_ID).unwrap();
    assert_eq!((run.ready(), run.state.round), (vec![VERIFY_TASK_ID], 1));
}

#[test]
fn a_session_that_was_cancelled_goes_on_where_it_was() {
    let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
    run.fail("1");
    run.take(verbs::cancel_run(&run.state, "enough").map(|what| vec![what]))
        .unwrap();
    assert!(matches!(run.state.phase, RunPhase::Cancelled { .. }));
    run.take(Ok(verbs::take_over_run(&run.state, &run.caller)))
        .unwrap();
    assert_eq!((run.state.round, run.ready()), (2, vec!["1"]));
}

#[test]
fn a_verifier_that_is_lost_for_good_takes_a_round_and_one_that_is_lost_once_does_not() {
    let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
    run.pass("1");
    for lost in 1..=MAX_LOST_WORKERS {
        assert_eq!(run.state.round, 1, "{lost}");
        run.start(VERIFY_TASK_ID).unwrap();
        run.take(verbs::report_lost_worker(&run.state, VERIFY_TASK_ID).map(|what| vec![what]))
            .unwrap();
    }
    assert_eq!((run.state.round, run.ready()), (2, vec![VERIFY_TASK_ID]));
    let ticket = run.start(VERIFY_TASK_ID).unwrap();
    run.take(verbs::give_up_attempt(
        &run.state,
        &ticket,
        "no way",
        Vec::new(),
    ))
    .unwrap();
    assert_eq!((run.state.round, run.ready()), (3, vec![VERIFY_TASK_ID]));
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn without_a_verification_the_checks_of_the_tasks_are_run_once_more() {
    let plan = || without_verification(vec![checked_task("1", &[]), criteria_task("2", &[])]);
    let mut run = Run::open(plan());
    run.pass("1");
    run.claim("2");
    assert_eq!(next_action(&run.state), NextAction::FinalChecks);
    run.finals(&Green);
    assert_eq!(run.result(), Some(RunResult::Complete));
    let mut run = Run::open(plan());
    run.pass("1");
    run.claim("2");
    run.finals(&Red);
    assert_eq!(
        (run.state.round, run.ready()),
        (2, vec!["1"]),
        "only what it belongs to is done again"
    );
    assert_eq!(
        run.state.tasks["1"].reason.as_deref(),
        Some("`prove 1` exit 1")
    );
    run.pass("1");
    run.finals(&TaskCheckVerdict::TimedOut);
    run.pass("1");
    run.finals(&Red);
    assert_eq!(
        (run.result(), run.state.round),
        (Some(RunResult::Failed), 3)
    );
}

#[test]
fn checks_of_the_whole_that_cannot_be_run_say_nothing_about_the_tasks() {
    let mut run = Run::open(without_verification(vec![checked_task("1", &[])]));
    run.pass("1");
    run.finals(&no_tool());
    assert_eq!(
        (run.result(), run.state.round, run.standing("1")),
        (Some(RunResult::Failed), 1, "passed")
    );
    run.take(Ok(verbs::take_over_run(&run.state, &run.caller)))
        .unwrap();
    assert_eq!(next_action(&run.state), NextAction::FinalChecks);
    run.finals(&Green);
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_missing_tool_asks_a_person_and_takes_neither_an_attempt_nor_a_round() {
    let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
    run.work("1", &no_tool());
    let question = run.state.open_question().unwrap().question.clone();
    assert_eq!(
        question.kind,
        QuestionKind::CheckNotRunnable {
            task: "1".to_owned(),
            missing: "tool".to_owned()
        }
    );
    assert_eq!((run.state.round, run.state.tasks["1"].attempts), (1, 0));
    run.answer(&question.id, ANSWER_CONTINUE).unwrap();
    run.pass("1");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_task_that_a_person_leaves_out_leaves_the_session_undone() {
    let mut run = Run::open(session_plan(vec![
        checked_task("1", &[]),
        checked_task("2", &[]),
    ]));
    run.skip("1").unwrap();
    run.fail("2");
    assert_eq!(
        (run.state.round, run.standing("1")),
        (2, "skipped"),
        "what has failed is done again all the same"
    );
    run.pass("2");
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
    assert_eq!(run.standing(VERIFY_TASK_ID), "blocked");
}

#[test]
fn what_is_done_again_is_verified_again() {
    let mut run = Run::open(session_plan(vec![
        criteria_task("1", &[]),
        checked_task("2", &[]),
    ]));
    run.claim("1");
    run.pass("2");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
    run.retry("1").unwrap();
    assert_eq!(
        (run.standing(VERIFY_TASK_ID), run.ready()),
        ("pending", vec!["1"])
    );
    run.claim("1");
    assert_eq!(run.ready(), [VERIFY_TASK_ID]);
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
    // Opening a finished session once more runs its checks, and nothing else.
    run.take(Ok(verbs::take_over_run(&run.state, &run.caller)))
        .unwrap();
    assert_eq!(
        (next_action(&run.state), run.state.round),
        (NextAction::FinalChecks, 1)
    );
    run.finals(&Red);
    assert_eq!(
        (run.ready(), run.standing(VERIFY_TASK_ID)),
        (vec!["2"], "pending")
    );
}

#[test]
fn a_task_that_a_verifier_adds_is_done_before_the_next_verification() {
    let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
    run.pass("1");
    let ticket = run.start(VERIFY_TASK_ID).unwrap();
    run.adds(criteria_task("2", &["1"])).unwrap();
    assert_eq!(
        run.ready(),
        Vec::<&str>::new(),
        "what is being verified stays as it is"
    );
    let evidence = run.shows(&ticket, &Green).unwrap();
    let refused = verbs::verdict_objection(&run.state, &ticket, &pass_by(&[&evidence]));
    assert_eq!(refused.as_deref(), Some("task 2 is pending"));
    run.judges(&ticket, fail_for(&[])).unwrap();
    assert_eq!((run.state.round, run.ready()), (2, vec!["2"]));
    run.claim("2");
    run.verify();
    assert_eq!(run.result(), Some(RunResult::Complete));
    let ids: Vec<&str> = run
        .state
        .plan
        .tasks
        .iter()
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(
        (ids, &run.state.plan.groups[0].tasks),
        (
            vec!["1", "2", VERIFY_TASK_ID],
            &vec!["1".to_owned(), "2".to_owned(), VERIFY_TASK_ID.to_owned()]
        )
    );
}

#[test]
fn a_check_belongs_to_every_task_that_has_it() {
    let same = |id: &str| Task {
        checks: vec![TaskCheck::new("make")],
        ..checked_task(id, &[])
    };
    let judged_too = Task {
        criteria: vec!["it reads well".to_owned()],
        ..same("2")
    };
    let mut plan = without_verification(vec![same("1"), judged_too, checked_task("3", &[])]);
    plan.final_checks.dedup();
    let mut run = Run::open(plan);
    run.pass("1");
    run.claim("2");
    run.pass("3");
    let outcomes = vec![(TaskCheck::new("make"), crate::run::kit::outcome(Red))];
    run.take(Ok(verbs::final_check_events(outcomes))).unwrap();
    assert_eq!(run.ready(), ["1", "2"]);
}

#[test]
fn what_was_green_before_the_work_is_what_was_so_before_its_first_attempt() {
    for (first, second) in [(vec![], vec![0]), (vec![0], vec![])] {
        let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
        for vacuous in [first.clone(), second] {
            let start = AttemptStart {
                ticket: "t".to_owned(),
                already_green: vacuous,
                ..AttemptStart::default()
            };
            run.take(verbs::start_attempt(&run.state, "1", start).map(|what| vec![what]))
                .unwrap();
            assert_eq!(run.state.tasks["1"].already_green, first);
            run.take(verbs::give_up_attempt(&run.state, "t", "no", Vec::new()))
                .unwrap();
        }
    }
}

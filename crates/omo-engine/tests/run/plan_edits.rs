//! A plan that is edited under its run: kept, repeated, and refused tasks.

use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::client_policy::ClientCost;
use omo_engine::event::{EventKind, RunResult};
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::{ANSWER_CONTINUE, ANSWER_WITHDRAWN, PlanDifferences};
use omo_engine::verbs::{AttemptMeasurement, CommitOutcome};
use omo_engine::wave_rules::group_outcome;
use omo_plan::model::{Dialect, Plan, PlannedState, Precondition, Task};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use crate::run::kit::{Run, all, decision, in_batches, needs, plan, session, task};
use crate::run::parallel::{begin, both_done, merge, parallel_run, remove, step, waves};

/// The same task with another text.
fn edited(task: Task) -> Task {
    Task {
        body_sha256: format!("another {}", task.body_sha256),
        ..task
    }
}

/// Another reading of a file with these tasks.
fn again(tasks: Vec<Task>) -> Plan {
    let mut plan = plan(tasks);
    plan.source.sha256 = String::from("plan, edited");
    plan
}

#[test]
fn only_what_says_something_else_is_done_again() {
    let three = || vec![task("1"), task("2"), task("3"), task("4")];
    let mut run = Run::open(plan(three()));
    run.pass("1");
    run.pass("2");
    run.fail("3");
    run.replan(again(vec![
        task("1"),
        edited(task("2")),
        edited(task("3")),
        task("5"),
    ]))
    .unwrap();
    let standings: Vec<&str> = ["1", "2", "3", "4", "5"]
        .iter()
        .map(|id| run.standing(id))
        .collect();
    assert_eq!(
        standings,
        ["passed", "pending", "pending", "missing", "pending"]
    );
    let stale: Vec<bool> = ["1", "2", "3", "5"]
        .iter()
        .map(|id| run.state.tasks[*id].is_stale)
        .collect();
    assert_eq!(stale, [false, true, false, false]);
    assert_eq!(
        (run.state.plan_sha256.as_str(), run.state.approved.as_str()),
        ("plan, edited", "approved again")
    );
    run.pass("2");
    assert!(!run.state.tasks["2"].is_stale);
    run.pass("3");
    assert_eq!(run.state.tasks["3"].attempts, 2, "attempts are counted on");
    run.pass("5");
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn what_differs_is_named() {
    let run = Run::open(plan(vec![task("1"), task("2"), task("3")]));
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let same = run
        .state
        .compare_plan(&plan(vec![task("3"), task("2"), task("1")]));
    assert_eq!(
        same,
        PlanDifferences::default(),
        "their order is not their text"
    );
    let other = run.state.compare_plan(&plan(vec![
        task("4"),
        edited(task("3")),
        task("1"),
        edited(task("5")),
    ]));
    assert_eq!(
        other,
        PlanDifferences {
            changed: ids(&["3"]),
            added: ids(&["4", "5"]),
            removed: ids(&["2"]),
            ticked: ids(&[])
        }
    );
}

#[test]
fn a_plan_is_not_changed_under_a_worker() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    let ticket = run.start("1").unwrap();
    for tasks in [vec![edited(task("1")), task("2")], vec![task("2")]] {
        let before = run.state.clone();
        let refusal = run.replan(again(tasks)).unwrap_err();
        assert_eq!(refusal.kind, VerbRefusalKind::Contention);
        assert_eq!(
            refusal.message,
            "a worker is at 1, which was changed in the plan"
        );
        assert_eq!(
            refusal.hint,
            "let it finish, or `omo agent fail` it; then run this again"
        );
        assert_eq!(run.state, before);
    }
    run.replan(again(vec![task("1"), edited(task("2")), task("3")]))
        .unwrap();
    run.done(
        &ticket,
        crate::run::kit::all(
            &task("1"),
            &omo_core::check::task_check::TaskCheckVerdict::Green,
        ),
    )
    .unwrap();
    assert_eq!(run.standing("1"), "passed");
}

#[test]
fn a_plan_stays_of_its_dialect() {
    let mut run = Run::open(plan(vec![task("1")]));
    let refusal = run
        .replan(Plan {
            dialect: Dialect::Ultraplan,
            ..again(vec![task("1")])
        })
        .unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.hint.as_str()),
        (
            VerbRefusalKind::Precondition,
            "open a run of its own for it"
        )
    );
    assert_eq!(
        refusal.message,
        "the plan was dev-workflow and is ultraplan now"
    );
}

#[test]
fn a_failed_task_that_was_edited_has_all_its_attempts_again() {
    let two = || Task {
        max_attempts: 2,
        ..task("1")
    };
    let mut run = Run::open(plan(vec![two()]));
    run.fail("1");
    run.fail("1");
    run.replan(again(vec![edited(two())])).unwrap();
    run.take(Ok(omo_engine::verbs::take_over_run(
        &run.state,
        &run.caller,
    )))
    .unwrap();
    run.fail("1");
    assert_eq!(run.standing("1"), "pending");
    run.fail("1");
    assert_eq!(
        (run.standing("1"), run.state.tasks["1"].attempts),
        ("failed", 4)
    );
}

#[test]
fn a_task_that_lacks_its_contract_is_never_begun() {
    let without = |id: &str| Task {
        contract: None,
        ..task(id)
    };
    let promising = |tasks: Vec<Task>| {
        let mut plan = again(tasks);
        plan.policy.requires_contracts = true;
        plan
    };
    let mut run = Run::open(promising(vec![without("1"), needs("2", &["1"]), task("3")]));
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.ready()),
        ("failed", "blocked", vec!["3"])
    );
    assert_eq!(
        run.state.tasks["1"].last_end.as_ref().unwrap().evidence,
        "missing Task Contract"
    );
    let refusal = run.retry("1").unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (
            VerbRefusalKind::Precondition,
            "1 still has no Task Contract"
        )
    );
    assert_eq!(refusal.hint, "add it to the plan, then `omo run resume`");
    // One that an edit brings is no better.
    run.replan(promising(vec![
        edited(task("1")),
        needs("2", &["1"]),
        task("3"),
        without("4"),
    ]))
    .unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("4")),
        ("pending", "failed")
    );
    for id in ["1", "2", "3"] {
        run.pass(id);
    }
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_task_without_its_contract_is_not_begun_before_it_has_failed_either() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    let mut without = again(vec![
        Task {
            contract: None,
            ..edited(task("1"))
        },
        task("2"),
    ]);
    without.policy.requires_contracts = true;
    run.write([EventKind::PlanChanged {
        plan: Box::new(without),
        approved: String::new(),
    }]);
    assert_eq!((run.standing("1"), run.ready()), ("pending", vec!["2"]));
    assert_eq!(
        run.start("1").unwrap_err().message,
        "it is not the turn of 1"
    );
}

#[test]
fn no_edit_slips_a_batch_past_a_stop() {
    let batches = |first: &[&str]| {
        let mut tasks: Vec<Task> = first.iter().map(|id| task(id)).collect();
        tasks.push(task("9"));
        in_batches(again(tasks), &[first, &["9"]], &[0])
    };
    let mut run = Run::open(batches(&["1", "2"]));
    run.pass("1");
    run.pass("2");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    run.replan(batches(&["1", "2"])).unwrap();
    assert_eq!(run.ready(), ["9"], "what was shown is the same");
    run.replan(batches(&["1", "3"])).unwrap();
    assert_eq!(run.ready(), ["3"]);
    run.pass("3");
    assert_eq!(run.asked().unwrap().1, "hard_stop");
    run.answer("q2", ANSWER_CONTINUE).unwrap();
    let mut plan = batches(&["1", "3"]);
    plan.tasks[0] = edited(task("1"));
    run.replan(plan).unwrap();
    run.pass("1");
    assert_eq!(run.asked(), Some(("q3".to_owned(), "hard_stop".to_owned())));
}

#[test]
fn what_was_asked_about_the_plan_as_it_was_is_taken_back() {
    let deciding = |open: bool| {
        let mut known = decision("D", true);
        known.chosen = (!open).then(|| "B".to_owned());
        Plan {
            preconditions: vec![Precondition::Decision(known)],
            ..again(vec![task("1")])
        }
    };
    let mut run = Run::open(deciding(true));
    run.replan(deciding(false)).unwrap();
    assert_eq!((run.asked(), run.ready()), (None, vec!["1"]));
    assert_eq!(
        run.state.questions[0].answer.as_ref().unwrap().option,
        ANSWER_WITHDRAWN
    );
    let mut run = Run::open(deciding(true));
    run.replan(deciding(true)).unwrap();
    assert_eq!(
        run.asked().unwrap().0,
        "q2",
        "it is still open, and asked again"
    );
    run.answer("q1", "B").unwrap_err();
}

#[test]
fn a_choice_outlives_an_edit_that_asks_the_same() {
    let with = |title: &str| {
        let mut known = decision("D", true);
        title.clone_into(&mut known.title);
        Plan {
            preconditions: vec![Precondition::Decision(known)],
            ..again(vec![task("1")])
        }
    };
    let mut run = Run::open(with("t"));
    run.answer("q1", "B").unwrap();
    run.replan(with("t")).unwrap();
    assert_eq!(run.asked(), None);
    let Precondition::Decision(known) = &run.state.plan.preconditions[0] else {
        panic!()
    };
    assert_eq!(known.chosen.as_deref(), Some("B"));
    run.replan(with("another")).unwrap();
    assert!(run.asked().is_some(), "this is another question");
}

#[test]
fn an_imported_claim_is_done_again_where_its_text_changed() {
    let mut run = Run::open(plan(vec![task("1"), needs("2", &["1"])]));
    run.write([EventKind::TaskImported {
        task: "1".to_owned(),
        status: omo_engine::event::ImportedStatus::Done,
        evidence: String::new(),
        files: Vec::new(),
    }]);
    assert_eq!((run.standing("1"), run.ready()), ("claimed", vec!["2"]));
    run.caller.actor = session("s1", 100);
    run.replan(again(vec![edited(task("1")), needs("2", &["1"])]))
        .unwrap();
    assert_eq!((run.standing("1"), run.ready()), ("pending", vec!["1"]));
    assert!(run.state.tasks["1"].is_stale);
}

/// A plan of these tasks, of which these are checked off.
fn with_ticks(ids: &[&str], ticked: &[&str]) -> Plan {
    let state = |id: &&str| {
        if ticked.contains(id) {
            PlannedState::Done
        } else {
            PlannedState::Open
        }
    };
    again(
        ids.iter()
            .map(|id| Task {
                state: state(id),
                ..task(id)
            })
            .collect(),
    )
}

#[test]
fn what_is_checked_off_meanwhile_counts_as_done_where_no_worker_was() {
    let ids = ["1", "2", "3", "4", "5"];
    let mut run = Run::open(with_ticks(&ids, &[]));
    run.pass("1");
    run.fail("2");
    let ticket = run.start("3").unwrap();
    run.write([EventKind::TaskSkipped {
        task: "4".to_owned(),
        reason: String::new(),
    }]);
    let all = with_ticks(&["1", "2", "3", "4", "5", "6"], &["1", "2", "3", "4", "6"]);
    assert_eq!(run.state.compare_plan(&all).ticked, ["4"]);
    run.replan(all.clone()).unwrap();
    let standings: Vec<&str> = ["1", "2", "3", "4", "5", "6"]
        .iter()
        .map(|id| run.standing(id))
        .collect();
    assert_eq!(
        standings,
        [
            "passed", "failed", "running", "claimed", "pending", "claimed"
        ]
    );
    run.done(
        &ticket,
        crate::run::kit::all(
            &task("3"),
            &omo_core::check::task_check::TaskCheckVerdict::Green,
        ),
    )
    .unwrap();
    // A change is taken in once.
    run.caller.prompted_at = None;
    run.retry("4").unwrap();
    run.replan(all).unwrap();
    assert_eq!(
        (run.standing("3"), run.standing("4")),
        ("passed", "pending")
    );
}

#[test]
fn what_omo_has_ticked_is_no_edit_and_what_it_cannot_tick_is_tried_again_later() {
    let mut run = Run::open(with_ticks(&["1", "2"], &[]));
    run.pass("1");
    let tick = |ticked: &[&str], opened: &[&str]| EventKind::PlanTicked {
        ticked: ticked.iter().map(|id| (*id).to_owned()).collect(),
        opened: opened.iter().map(|id| (*id).to_owned()).collect(),
        plan_sha256: Some("ticked".to_owned()),
        tip: None,
    };
    run.write([tick(&["1", "2"], &[])]);
    assert_eq!(
        run.state
            .compare_plan(&with_ticks(&["1", "2"], &["1", "2"])),
        PlanDifferences::default()
    );
    assert_eq!(run.state.plan_sha256, "ticked");
    run.write([tick(&[], &["2"])]);
    assert_eq!(run.state.ticked.iter().collect::<Vec<_>>(), ["1"]);
    run.write([EventKind::PlanNotTicked {
        reason: "it is read-only".to_owned(),
    }]);
    assert_eq!(run.state.tick_refusal.as_deref(), Some("it is read-only"));
    run.replan(with_ticks(&["2"], &[])).unwrap();
    assert_eq!(
        (run.state.ticked.len(), &run.state.tick_refusal),
        (0, &None)
    );
}

#[test]
fn an_edited_plan_leaves_each_session_what_it_has() {
    let moved = |task: &str, to: usize| {
        let mut plan = waves();
        plan.groups
            .iter_mut()
            .for_each(|group| group.tasks.retain(|id| id != task));
        plan.groups[to].tasks.push(task.to_owned());
        plan
    };
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    run.replan(moved("1", 1)).unwrap();
    run.replan(waves()).unwrap();
    let ticket = run.start("1").unwrap();
    let why = |said: Result<(), VerbRefusal>| said.unwrap_err().message;
    assert!(
        why(run.replan(moved("1", 1))).starts_with("task 1 was worked on in session a"),
        "it has a worker"
    );
    let commit = Some(CommitOutcome::Made {
        id: "made".to_owned(),
        branch: None,
        hooks: None,
    });
    run.done(
        &ticket,
        AttemptMeasurement {
            commit,
            ..all(&task("1"), &Green)
        },
    )
    .unwrap();
    // The next worker there found no trace of it, and asked about that for ever.
    assert!(why(run.replan(moved("1", 1))).starts_with("task 1 was worked on in session a"));
    run.replan(moved("2", 1)).unwrap();
    let mut gone = waves();
    gone.groups.remove(0);
    gone.tasks.drain(..2);
    // Its client could not be recorded any more, and the run could not go on.
    assert!(why(run.replan(gone.clone())).contains("a client works on session a"));
    run.write([EventKind::WorkerEnded {
        group: "a".to_owned(),
        how: String::new(),
        cost: ClientCost::default(),
    }]);
    run.replan(gone).unwrap();
    assert_eq!(step(&run), "start b");
}

#[test]
fn a_task_that_was_added_and_left_out_is_missing_from_the_whole() {
    let mut run = both_done();
    merge(&mut run, "a");
    merge(&mut run, "b");
    let mut more = waves();
    more.tasks.push(task("5"));
    more.groups[0].tasks.push("5".to_owned());
    run.replan(more).unwrap();
    run.skip("5").unwrap();
    assert_eq!(
        group_outcome(&run.state, &run.state.plan.groups[0]),
        Some(GroupStatus::Failed)
    );
    // It was called complete.
    assert_eq!(step(&run), "clean a b");
    remove(&mut run, &["a", "b"]);
    assert_eq!(step(&run), "end Failed");
}

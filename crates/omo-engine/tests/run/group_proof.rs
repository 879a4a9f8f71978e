//! Tasks without a check of their own: the check of their group proves them, or a reviewer judges them.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_engine::event::{EventKind, PlanVerdict, RunEvent, RunResult};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::{ModeOptions, arranged};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::verbs;
use omo_plan::model::{Plan, ReviewTime, Task};
use omo_plan::proof::ProofSource;

use crate::run::kit::{Run, needs, outcome, plan, task};

fn judged_by(id: &str, judge: &str) -> Task {
    Task {
        proved_by: Some(ProofSource::Task(judge.to_owned())),
        checks: Vec::new(),
        ..task(id)
    }
}

fn unproved(id: &str) -> Task {
    Task {
        checks: Vec::new(),
        ..task(id)
    }
}

fn lenient(tasks: Vec<Task>) -> Plan {
    let mut plan = plan(tasks);
    plan.policy.unproved_continues = true;
    plan
}

fn judge(needed: &[&str]) -> Task {
    Task {
        checks: vec![TaskCheck::new("npm test")],
        ..needs("9", needed)
    }
}

#[test]
fn what_judges_a_group_proves_its_tasks_once_it_has_passed() {
    let mut run = Run::open(lenient(vec![
        judged_by("1", "9"),
        judged_by("2", "9"),
        judge(&["1", "2"]),
    ]));
    run.work("1", &Green);
    run.work("2", &Green);
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("unproved", "unproved")
    );
    run.pass("9");
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.standing("9")),
        ("passed", "passed", "passed")
    );
    let evidence = &run.state.tasks["1"].last_end.as_ref().unwrap().evidence;
    assert_eq!(evidence, "no check of its own; proved by 9: `npm test`");
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_red_judge_proves_nothing() {
    let mut run = Run::open(lenient(vec![judged_by("1", "9"), judge(&["1"])]));
    run.work("1", &Green);
    run.fail("9");
    assert_eq!(
        (run.standing("1"), run.standing("9")),
        ("unproved", "failed")
    );
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_check_of_the_whole_proves_what_nothing_else_does() {
    let whole = |verdict| {
        let of_whole = Task {
            proved_by: Some(ProofSource::FinalChecks),
            ..unproved("1")
        };
        let mut run = Run::open(Plan {
            final_checks: vec![TaskCheck::new("make test")],
            ..lenient(vec![of_whole])
        });
        run.work("1", &Green);
        assert_eq!(next_action(&run.state), NextAction::FinalChecks);
        run.take(Ok(verbs::final_check_events(vec![(
            TaskCheck::new("make test"),
            outcome(verdict),
        )])))
        .unwrap();
        (run.standing("1"), run.result().unwrap())
    };
    assert_eq!(whole(Green), ("passed", RunResult::Complete));
    assert_eq!(whole(Red), ("unproved", RunResult::Failed));
}

#[test]
fn a_ledger_that_proves_a_task_by_what_does_not_is_refused() {
    let mut run = Run::open(lenient(vec![
        judged_by("1", "9"),
        unproved("2"),
        judge(&["1"]),
    ]));
    run.work("1", &Green);
    run.work("2", &Green);
    let by = ProofSource::Task("9".to_owned());
    for (tasks, by) in [
        (vec!["1"], by.clone()),
        (vec![], by.clone()),
        (vec!["2"], by),
        (vec!["2"], ProofSource::FinalChecks),
    ] {
        let kind = EventKind::TasksProved {
            tasks: tasks.iter().map(|id| (*id).to_owned()).collect(),
            by,
        };
        let event = RunEvent {
            seq: run.state.seq + 1,
            ts: run.state.updated_at,
            actor: run.caller.actor.clone(),
            kind,
        };
        let before = run.state.clone();
        assert!(run.state.apply(&event).is_err(), "{event:?}");
        assert_eq!(run.state, before);
    }
}

/// Each review of an arranged plan with its subjects, in the order of the plan.
fn reviews(plan: &Plan, mode: ExecutionMode, review: ReviewTime) -> Vec<String> {
    let mut plan = plan.clone();
    plan.policy.review = review;
    let plan = arranged(
        plan,
        mode,
        &ModeOptions {
            batch_size: 2,
            ..ModeOptions::default()
        },
    );
    assert_eq!(
        arranged(plan.clone(), mode, &ModeOptions::from(&plan.policy)),
        plan,
        "arranged once more"
    );
    let all: Vec<&str> = plan
        .groups
        .iter()
        .flat_map(|group| &group.tasks)
        .map(String::as_str)
        .collect();
    assert!(
        all.is_empty() || all.len() == plan.tasks.len(),
        "each task is in one group: {all:?}"
    );
    let is_review = |task: &&Task| task.is_verification();
    plan.tasks
        .iter()
        .filter(is_review)
        .map(|task| format!("{}: {}", task.id, task.deps.join(" ")))
        .collect()
}

#[test]
fn work_that_nothing_proves_is_reviewed_when_its_user_says() {
    use ExecutionMode::{Batches, Parallel, StepByStep, Waves};
    use ReviewTime::{End, Never, Tasks};
    let unproved = |id: &str, needed: &[&str]| Task {
        checks: Vec::new(),
        ..needs(id, needed)
    };
    let raw = lenient(vec![
        unproved("1", &[]),
        judge(&["1"]),
        unproved("3", &["9"]),
        unproved("4", &["3"]),
    ]);
    let raw = Plan {
        groups: Vec::new(),
        ..raw
    };
    for (mode, time, expected) in [
        (Batches, End, vec!["verify: 1 9 3 4"]),
        (
            Batches,
            ReviewTime::Waves,
            vec!["verify: 1 9", "verify-1: 3 4"],
        ),
        (
            Batches,
            Tasks,
            vec!["verify: 1", "verify-1: 3", "verify-2: 4"],
        ),
        (Batches, Never, vec![]),
        (Waves, End, vec!["verify: 1 9 3 4"]),
        (
            Waves,
            Tasks,
            vec![
                "verify: 1",
                "verify-1: 3",
                "verify-2: 4",
                "verify-3: 1 verify 9 3 verify-1 4 verify-2",
            ],
        ),
        (Waves, Never, vec![]),
        (Parallel, End, vec!["verify: 1 9 3 4"]),
        (Parallel, Never, vec![]),
        (StepByStep, Never, vec![]),
    ] {
        assert_eq!(reviews(&raw, mode, time), expected, "{mode:?} {time:?}");
    }
    let proved = Plan {
        groups: Vec::new(),
        ..lenient(vec![judge(&[])])
    };
    assert!(
        reviews(&proved, Batches, End).is_empty(),
        "nothing to review"
    );
}

#[test]
fn a_review_may_have_unproved_work_done_again() {
    let raw = Plan {
        groups: Vec::new(),
        ..lenient(vec![
            unproved("1"),
            Task {
                checks: Vec::new(),
                ..needs("2", &["1"])
            },
        ])
    };
    let mut run = Run::open(arranged(raw, ExecutionMode::Waves, &ModeOptions::default()));
    run.work("1", &Green);
    run.work("2", &Green);
    assert_eq!(run.ready(), ["verify"]);
    let ticket = run.start("verify").unwrap();
    let reopen = vec![("1".to_owned(), "it is empty".to_owned())];
    let verdict = PlanVerdict {
        passed: false,
        reopen,
        ..PlanVerdict::default()
    };
    run.take(verbs::give_verdict(&run.state, &ticket, verdict))
        .unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.ready()),
        ("pending", "unproved", vec!["1"])
    );
}

#[test]
fn a_failed_review_that_is_retried_judges_again_and_no_task_is_done_again() {
    for mode in [ExecutionMode::Batches, ExecutionMode::Waves] {
        let raw = Plan {
            groups: Vec::new(),
            ..lenient(vec![unproved("1"), task("2"), task("3")])
        };
        let options = ModeOptions {
            max_iterations: 1,
            ..ModeOptions::default()
        };
        let mut run = Run::open(arranged(raw, mode, &options));
        run.work("1", &Green);
        run.pass("2");
        run.pass("3");
        let ticket = run.start("verify").unwrap();
        let reopen = vec![
            ("1".to_owned(), "it is empty".to_owned()),
            ("2".to_owned(), "it is wrong".to_owned()),
        ];
        run.take(verbs::give_verdict(
            &run.state,
            &ticket,
            PlanVerdict {
                reopen,
                ..PlanVerdict::default()
            },
        ))
        .unwrap();
        let standings = |run: &Run| ["1", "2", "3", "verify"].map(|id| run.standing(id));
        assert_eq!(
            standings(&run),
            ["failed", "failed", "passed", "failed"],
            "{mode:?}"
        );
        assert!(run.result().is_some(), "{mode:?}");

        let refused = run.clone();
        let attempts = |run: &Run| ["1", "2", "3"].map(|id| run.state.tasks[id].attempts);
        run.retry("verify").unwrap();
        assert_eq!(
            standings(&run),
            ["unproved", "passed", "passed", "pending"],
            "{mode:?}"
        );
        assert_eq!(
            (run.ready(), attempts(&run)),
            (vec!["verify"], attempts(&refused)),
            "{mode:?}"
        );

        let mut run = refused;
        run.retry("1").unwrap();
        assert_eq!(run.standing("1"), "pending", "{mode:?}");
        run.skip("1").unwrap();
        let refusal = run.retry("verify").unwrap_err();
        assert!(
            refusal.hint.contains("omo run retry 1") || mode == ExecutionMode::Waves,
            "{mode:?} {refusal:?}"
        );
    }
}

#[test]
fn a_good_review_by_reading_ends_a_run_that_stays_unproved() {
    let raw = Plan {
        groups: Vec::new(),
        ..lenient(vec![unproved("1")])
    };
    let mut run = Run::open(arranged(
        raw,
        ExecutionMode::Batches,
        &ModeOptions::default(),
    ));
    run.work("1", &Green);
    let ticket = run.start("verify").unwrap();
    let verdict = PlanVerdict {
        passed: true,
        ..PlanVerdict::default()
    };
    run.take(verbs::give_verdict(&run.state, &ticket, verdict))
        .unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("verify")),
        ("unproved", "passed")
    );
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_judge_that_passed_before_proves_nothing_that_is_done_afterwards() {
    let first = lenient(vec![judged_by("1", "9"), judge(&["1"]), unproved("5")]);
    let mut run = Run::open(first);
    run.work("1", &Green);
    run.pass("9");
    // A task joins the group: its judge is run once more.
    let more = lenient(vec![
        judged_by("1", "9"),
        judged_by("2", "9"),
        judge(&["1", "2"]),
        unproved("5"),
    ]);
    run.replan(Plan {
        source: omo_plan::model::PlanSource::new("plan.md", "edited", 1),
        ..more
    })
    .unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.standing("9")),
        ("unproved", "pending", "pending")
    );
    run.work("2", &Green);
    assert_eq!(run.standing("2"), "unproved");
    run.fail("9");
    run.work("5", &Green);
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.standing("9")),
        ("unproved", "unproved", "failed")
    );
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_proof_is_taken_back_with_its_judge() {
    let mut run = Run::open(lenient(vec![judged_by("1", "9"), judge(&["1"])]));
    run.work("1", &Green);
    run.pass("9");
    run.types();
    run.take(verbs::reopen_passed_task(&run.state, &run.caller, "9"))
        .unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("9")),
        ("unproved", "pending")
    );
    run.fail("9");
    assert_eq!(
        (run.standing("1"), run.standing("9")),
        ("unproved", "failed")
    );
    run.retry("9").unwrap();
    run.pass("9");
    assert_eq!((run.standing("1"), run.standing("9")), ("passed", "passed"));
}

#[test]
fn what_a_session_has_ticked_itself_does_not_count() {
    use omo_plan::model::PlannedState::{Done, Open};
    let run = Run::open(lenient(vec![unproved("1"), unproved("2")]));
    let mut edited = lenient(vec![
        Task {
            state: Done,
            ..unproved("1")
        },
        unproved("2"),
        Task {
            state: Done,
            ..unproved("3")
        },
    ]);
    assert_eq!(verbs::distrust_ticks(&run.state, &mut edited), ["1", "3"]);
    assert!(edited.tasks.iter().all(|task| task.state == Open));
}

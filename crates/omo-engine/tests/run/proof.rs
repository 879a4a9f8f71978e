//! Proof of a task: only measurements count.

use omo_core::check::task_check::TaskCheckVerdict::{self, Green, NothingRan, Red, TimedOut};
use omo_core::check::task_check::{ExpectedExit, ExpectedResult, TaskCheck};
use omo_engine::event::{EventKind, HookChanges, QuestionKind, RunResult};
use omo_engine::report::judged_with::judged_with_lines;
use omo_engine::verbs::{self, AttemptMeasurement, CommitOutcome};
use omo_plan::model::{OnFailure, OnTaskFail, PlannedState, Task, TaskKind};
use omo_plan::refusal::VerbRefusalKind;

use crate::run::kit::{Run, all, needs, no_tool, outcome, plan, task};

fn checked(commands: &[&str]) -> Task {
    Task {
        checks: commands
            .iter()
            .map(|command| TaskCheck::new(command))
            .collect(),
        ..task("1")
    }
}

fn measured(results: &[(&str, TaskCheckVerdict)]) -> AttemptMeasurement {
    let outcomes = results
        .iter()
        .map(|(command, verdict)| (TaskCheck::new(command), outcome(verdict.clone())));
    AttemptMeasurement {
        outcomes: outcomes.collect(),
        ..AttemptMeasurement::default()
    }
}

/// Standing and evidence of the only task after one attempt.
fn judge(task: Task, measured: AttemptMeasurement) -> (&'static str, String) {
    let mut run = Run::open(plan(vec![task]));
    let ticket = run.start("1").unwrap();
    run.done(&ticket, measured).unwrap();
    let evidence = run.state.tasks["1"]
        .last_end
        .as_ref()
        .map(|end| end.evidence.clone())
        .unwrap_or_default();
    (run.standing("1"), evidence)
}

#[test]
fn a_task_passes_by_a_green_result_of_each_of_its_checks() {
    for (results, standing, evidence) in [
        (
            vec![("a", Green), ("b", Green)],
            "passed",
            "`a` exit 0; `b` exit 0",
        ),
        (
            vec![("b", Green), ("a", Green)],
            "passed",
            "`b` exit 0; `a` exit 0",
        ),
        (vec![("a", Green)], "failed", "`a` exit 0"),
        (vec![], "failed", "its checks were not run"),
        (
            vec![("a", Green), ("a", Green)],
            "failed",
            "`a` exit 0; `a` exit 0",
        ),
        (vec![("a", Green), ("c", Green)], "failed", "`a` exit 0"),
        (vec![("a", Red)], "failed", "`a` exit 1"),
        (vec![("a", Green), ("b", Red)], "failed", "`b` exit 1"),
        (
            vec![("a", Green), ("b", Red), ("b", Green)],
            "failed",
            "`b` exit 1",
        ),
        (vec![("a", Green), ("b", TimedOut)], "failed", "`b` exit 1"),
        (
            vec![("a", Green), ("b", NothingRan)],
            "failed",
            "`b` exit 1",
        ),
        (vec![("a", no_tool()), ("b", Green)], "held", ""),
    ] {
        let judgement = judge(checked(&["a", "b"]), measured(&results));
        assert_eq!(judgement, (standing, evidence.to_owned()), "{results:?}");
    }
}

#[test]
fn a_task_is_judged_by_its_commit_as_hooks_left_it() {
    let commit = |files: &[&str], unjudged: Option<&str>| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let hooks = HookChanges {
            files,
            unjudged: unjudged.map(str::to_owned),
        };
        Some(CommitOutcome::Made {
            id: "abcdef0".repeat(5),
            branch: None,
            hooks: Some(hooks),
        })
    };
    let seen = |verdict, commit| AttemptMeasurement {
        commit,
        ..measured(&[("a", verdict)])
    };
    let mut run = Run::open(plan(vec![Task {
        max_attempts: 3,
        ..checked(&["a"])
    }]));
    let ticket = run.start("1").unwrap();
    run.done(&ticket, seen(Red, commit(&["x", "y"], None)))
        .unwrap();
    let end = run.state.tasks["1"].last_end.clone().unwrap();
    let why = "hooks of the repository changed x, y in its commit abcdef0, which stays, and on that `a` exit 1";
    assert_eq!(
        (
            run.standing("1"),
            end.evidence.as_str(),
            end.commit.is_some()
        ),
        ("pending", why, true)
    );
    assert_eq!(judged_with_lines(&run.state), [""; 0]);
    // Changes in the first commit are in the branch all the same.
    let ticket = run.start("1").unwrap();
    let needed_ignored = vec!["secret".to_owned()];
    run.done(
        &ticket,
        AttemptMeasurement {
            needed_ignored,
            ..seen(Green, commit(&["z"], Some("no copy")))
        },
    )
    .unwrap();
    let lines = [
        "task 1: hooks changed x, y, z in its commit, and its checks could not be judged on that: no copy",
        "task 1: its checks are green only with the ignored secret",
    ];
    assert_eq!(
        (run.standing("1"), judged_with_lines(&run.state)),
        ("passed", lines.map(str::to_owned).to_vec())
    );
}

#[test]
fn checks_of_one_command_are_distinguished() {
    let elsewhere = TaskCheck {
        cwd: Some("sub".to_owned()),
        ..TaskCheck::new("a")
    };
    let two = Task {
        checks: vec![TaskCheck::new("a"), elsewhere.clone()],
        ..task("1")
    };
    assert_eq!(
        judge(two.clone(), measured(&[("a", Green), ("a", Green)])).0,
        "failed"
    );
    let both = vec![
        (TaskCheck::new("a"), outcome(Green)),
        (elsewhere, outcome(Green)),
    ];
    assert_eq!(
        judge(
            two,
            AttemptMeasurement {
                outcomes: both,
                ..AttemptMeasurement::default()
            }
        )
        .0,
        "passed"
    );
}

#[test]
fn a_task_that_nothing_can_prove_is_unproved_and_blocks_what_needs_it() {
    let mut run = Run::open(plan(vec![checked(&[]), needs("2", &["1"])]));
    run.work("1", &Green);
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("unproved", "blocked")
    );
    assert_eq!(
        run.state.tasks["1"].last_end.as_ref().unwrap().evidence,
        "no Verify: nothing could prove it"
    );
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn another_round_does_nothing_again_that_nothing_can_prove() {
    let mut strict = plan(vec![checked(&[]), task("2")]);
    strict.policy.on_task_fail = OnTaskFail::NextRound;
    strict.policy.max_rounds = 5;
    let mut run = Run::open(strict);
    run.work("1", &Green);
    run.fail("2");
    run.advance();
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("unproved", "pending")
    );
    run.pass("2");
    assert_eq!(
        (run.standing("1"), run.state.tasks["1"].attempts),
        ("unproved", 1)
    );
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_plan_may_continue_behind_a_task_that_nothing_can_prove() {
    let mut lenient = plan(vec![checked(&[]), needs("2", &["1"])]);
    lenient.policy.unproved_continues = true;
    let mut run = Run::open(lenient);
    run.work("1", &Green);
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("unproved", "pending")
    );
    run.work("2", &Green);
    // It is never shown as passed.
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("unproved", "passed")
    );
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_task_that_its_plan_has_checked_off_is_not_done_again() {
    let done = Task {
        state: PlannedState::Done,
        ..task("1")
    };
    let mut run = Run::open(plan(vec![done, needs("2", &["1"])]));
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("claimed", "pending")
    );
    run.work("2", &Green);
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn a_task_that_its_plan_leaves_out_is_not_begun_and_what_needs_it_is() {
    let left_out = Task {
        state: PlannedState::LeftOut,
        ..task("1")
    };
    let mut run = Run::open(plan(vec![left_out, needs("2", &["1"])]));
    assert_eq!(
        (run.standing("1"), run.standing("2")),
        ("skipped", "pending")
    );
    assert_eq!(
        run.state.tasks["1"].reason.as_deref(),
        Some("the plan leaves it out")
    );
    run.work("2", &Green);
    assert_eq!(run.result(), Some(RunResult::Complete));
}

fn pair() -> Vec<Task> {
    let red = TaskCheck {
        expect: ExpectedResult {
            exit: ExpectedExit::NonZero,
            stdout_has: None,
        },
        ..TaskCheck::new("run the tests")
    };
    let tests = Task {
        kind: TaskKind::Tests,
        red_check: Some(red.clone()),
        checks: Vec::new(),
        ..task("1-tests")
    };
    let done = Task {
        red_check: Some(red),
        checks: vec![TaskCheck::new("run the tests")],
        ..needs("1-impl", &["1-tests"])
    };
    vec![tests, done]
}

#[test]
fn tests_are_proved_by_their_failure_and_an_implementation_is_not() {
    let mut run = Run::open(plan(pair()));
    // The verdict of the check itself says whether the failure was the expected one.
    run.pass("1-tests");
    assert_eq!(run.standing("1-tests"), "passed");
    run.pass("1-impl");
    assert_eq!(run.result(), Some(RunResult::Complete));
    let mut run = Run::open(plan(pair()));
    run.fail("1-tests");
    assert_eq!(
        (run.standing("1-tests"), run.standing("1-impl")),
        ("failed", "blocked")
    );
}

#[test]
fn tests_that_are_not_there_prove_nothing_by_failing() {
    let mut run = Run::open(plan(pair()));
    let ticket = run.start("1-tests").unwrap();
    let tests = run.state.plan.tasks[0].clone();
    run.done(
        &ticket,
        AttemptMeasurement {
            missing: vec!["tests/a.rs".to_owned()],
            ..all(&tests, &Green)
        },
    )
    .unwrap();
    assert_eq!(run.standing("1-tests"), "failed");
    let evidence = &run.state.tasks["1-tests"]
        .last_end
        .as_ref()
        .unwrap()
        .evidence;
    assert_eq!(evidence, "the tests are not there: tests/a.rs");
    // Anywhere else the checks say whether a file is needed.
    assert_eq!(
        judge(
            task("1"),
            AttemptMeasurement {
                missing: vec!["a".to_owned()],
                ..all(&task("1"), &Green)
            }
        )
        .0,
        "passed"
    );
}

#[test]
fn a_worker_that_changes_what_it_must_not_has_failed_whatever_is_green() {
    for task in [task("1"), checked(&[])] {
        let tampered = vec!["tests/a.rs".to_owned(), "tests/b.rs".to_owned()];
        let (standing, evidence) = judge(
            task.clone(),
            AttemptMeasurement {
                tampered,
                ..all(&task, &Green)
            },
        );
        assert_eq!(standing, "failed");
        assert_eq!(
            evidence,
            "changed what it must not change: tests/a.rs, tests/b.rs"
        );
    }
    let tampered = AttemptMeasurement {
        tampered: vec!["a".to_owned()],
        ..all(&task("1"), &no_tool())
    };
    assert_eq!(
        judge(task("1"), tampered).0,
        "failed",
        "a tool that is missing excuses nothing"
    );
}

#[test]
fn what_was_measured_is_kept() {
    let mut run = Run::open(plan(vec![task("1")]));
    let ticket = run.start("1").unwrap();
    let seen = AttemptMeasurement {
        files: vec!["src/1.rs".to_owned(), "other".to_owned()],
        out_of_scope: vec!["other".to_owned()],
        note: Some("mind the gap".to_owned()),
        test_digests: vec![("t".to_owned(), "digest".to_owned())],
        tree: Some("tree".to_owned()),
        ..all(&task("1"), &Green)
    };
    run.done(&ticket, seen).unwrap();
    let end = run.state.tasks["1"].last_end.clone().unwrap();
    assert_eq!(
        (end.attempt, end.files.len(), end.out_of_scope.len()),
        (1, 2, 1)
    );
    assert_eq!(
        (end.note.as_deref(), end.tree.as_deref()),
        (Some("mind the gap"), Some("tree"))
    );
    assert_eq!(end.test_digests, [("t".to_owned(), "digest".to_owned())]);
    assert_eq!(
        run.standing("1"),
        "passed",
        "what is out of scope is found, and no failure by itself"
    );
}

#[test]
fn a_ticket_is_good_for_one_end_of_one_attempt() {
    let mut run = Run::open(plan(vec![Task {
        max_attempts: 3,
        ..task("1")
    }]));
    let first = run.start("1").unwrap();
    run.done(&first, all(&task("1"), &Red)).unwrap();
    let second = run.start("1").unwrap();
    for stale in [first.as_str(), "", "made up"] {
        let refusal = run.done(stale, all(&task("1"), &Green)).unwrap_err();
        assert_eq!(refusal.kind, VerbRefusalKind::Precondition);
        assert_eq!(
            refusal.message,
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run"
        );
        assert_eq!(
            refusal.hint,
            "`omo agent next` says what comes next; `omo agent start` gives a new ticket"
        );
        assert!(verbs::give_up_attempt(&run.state, stale, "why", Vec::new()).is_err());
    }
    assert_eq!(verbs::task_of_ticket(&run.state, &second).unwrap().id, "1");
    run.done(&second, all(&task("1"), &Green)).unwrap();
    assert!(verbs::task_of_ticket(&run.state, &second).is_err());
}

#[test]
fn a_task_has_the_attempts_of_its_plan_and_as_many_again_when_asked_for() {
    let three = Task {
        max_attempts: 3,
        on_failure: OnFailure::Revert,
        ..task("1")
    };
    let mut run = Run::open(plan(vec![three]));
    for attempt in 1..=6 {
        run.fail("1");
        let is_last = attempt % 3 == 0;
        assert_eq!(
            run.standing("1"),
            if is_last { "failed" } else { "pending" },
            "{attempt}"
        );
        assert_eq!(run.state.tasks["1"].attempts, attempt);
        if is_last {
            assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
            run.retry("1").unwrap();
        }
    }
}

#[test]
fn what_a_failure_becomes_is_what_the_plan_says() {
    for (on_failure, first, last) in [
        (OnFailure::Hold, "pending", "failed"),
        (OnFailure::Revert, "pending", "failed"),
        (OnFailure::Retry, "pending", "failed"),
        (OnFailure::Skip, "skipped", "skipped"),
        (OnFailure::Escalate, "failed", "failed"),
    ] {
        let task = Task {
            max_attempts: 2,
            on_failure,
            ..task("1")
        };
        let mut run = Run::open(plan(vec![task, needs("2", &["1"])]));
        run.fail("1");
        assert_eq!(run.standing("1"), first, "{on_failure:?}");
        assert_eq!(
            run.state.tasks["1"].last_end.as_ref().unwrap().evidence,
            "`prove 1` exit 1"
        );
        if first == "pending" {
            run.fail("1");
        }
        assert_eq!(run.standing("1"), last, "{on_failure:?}");
        let second = if on_failure == OnFailure::Skip {
            "pending"
        } else {
            "blocked"
        };
        assert_eq!(run.standing("2"), second, "{on_failure:?}");
    }
}

#[test]
fn a_run_is_not_complete_without_what_its_plan_lets_be_left_out() {
    let mut run = Run::open(plan(vec![
        Task {
            on_failure: OnFailure::Skip,
            ..task("1")
        },
        needs("2", &["1"]),
    ]));
    run.fail("1");
    run.pass("2");
    assert_eq!(run.result(), Some(RunResult::CompletedWithFailures));
}

#[test]
fn a_worker_may_say_that_it_cannot_be_done() {
    let mut run = Run::open(plan(vec![task("1")]));
    let ticket = run.start("1").unwrap();
    let said = verbs::give_up_attempt(&run.state, &ticket, "no\nway", vec!["a".to_owned()]);
    run.take(said).unwrap();
    let end = run.state.tasks["1"].last_end.clone().unwrap();
    assert_eq!(
        (run.standing("1"), end.evidence.as_str(), end.files.len()),
        ("failed", "given up: no way", 1)
    );
}

#[test]
fn the_question_about_a_missing_tool_names_it() {
    let mut run = Run::open(plan(vec![task("1")]));
    let ticket = run.start("1").unwrap();
    let events = verbs::judge_attempt(&run.state, &ticket, all(&task("1"), &no_tool())).unwrap();
    let [
        EventKind::CheckRan { .. },
        EventKind::TaskHeld { reason: why, .. },
        EventKind::QuestionOpened { question },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!(why, "its check could not be run: tool");
    assert_eq!(
        question.kind,
        QuestionKind::CheckNotRunnable {
            task: "1".to_owned(),
            missing: "tool".to_owned()
        }
    );
    assert_eq!(
        question.text,
        "A check of task 1 could not be run here: tool. Run it again?"
    );
}

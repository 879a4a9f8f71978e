//! Green work whose commit git refuses: kept, asked about once, and committed again without a worker.

use std::path::Path;

use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::client_policy::ClientCost;
use omo_engine::commit_guard::{CommitGuard, JudgeStates};
use omo_engine::event::{EventKind, QuestionKind, RunResult};
use omo_engine::parallel_schedule::{ParallelAction, next_task_of};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{ANSWER_CONTINUE, ANSWER_REDO, ANSWER_SKIP, ANSWER_STOP, TaskStatus};
use omo_engine::verbs::{self, AttemptMeasurement, CommitOutcome};
use omo_git::commit::CommitRefusal;
use omo_plan::model::{OnFailure, Plan, Task};

use crate::run::kit::{Run, all, plan, task};
use crate::run::parallel::{begin, parallel_run, step};

fn lint(words: &str) -> CommitRefusal {
    CommitRefusal::Hook {
        hook: "pre-commit".to_owned(),
        output: words.to_owned(),
        is_missing_program: false,
    }
}

fn locked_key() -> CommitRefusal {
    CommitRefusal::Signing {
        words: "Load key: incorrect passphrase".to_owned(),
    }
}

/// The outcome of a green attempt whose commit was refused.
fn refused(of: &Task, refusal: CommitRefusal) -> AttemptMeasurement {
    let commit = Some(CommitOutcome::Refused {
        refusal,
        kept: Some("refs/omo/keep/r/step-1".to_owned()),
    });
    AttemptMeasurement {
        commit,
        files: vec!["a".to_owned()],
        ..all(of, &Green)
    }
}

fn two_steps(on_failure: OnFailure, max_attempts: u32) -> Plan {
    plan(
        ["1", "2"]
            .map(|id| Task {
                on_failure,
                max_attempts,
                ..task(id)
            })
            .to_vec(),
    )
}

/// A run whose first step was refused for this.
fn run_refused(plan: Plan, refusal: CommitRefusal) -> Run {
    let mut run = Run::open(plan);
    let ticket = run.start("1").unwrap();
    run.done(&ticket, refused(&task("1"), refusal)).unwrap();
    run
}

/// The commit is tried again as the engine does, with this outcome.
fn commit_again(run: &mut Run, id: &str, commit: CommitOutcome) {
    let ticket = run.state.tasks[id]
        .uncommitted
        .as_ref()
        .unwrap()
        .attempt
        .ticket
        .clone();
    run.write([EventKind::TaskCommitRetried {
        task: id.to_owned(),
    }]);
    run.done(
        &ticket,
        AttemptMeasurement {
            commit: Some(commit),
            ..all(&task(id), &Green)
        },
    )
    .unwrap();
}

#[test]
fn a_refusal_outside_of_the_work_uses_up_no_attempt_and_takes_nothing_back() {
    for on_failure in [
        OnFailure::Hold,
        OnFailure::Revert,
        OnFailure::Retry,
        OnFailure::Skip,
        OnFailure::Escalate,
    ] {
        let mut run = run_refused(two_steps(on_failure, 1), locked_key());
        let known = &run.state.tasks["1"];
        assert_eq!(
            (known.status, known.is_to_restore, known.attempts),
            (TaskStatus::Held, false, 1)
        );
        let NextAction::Ask(asked) = next_action(&run.state) else {
            panic!("{:?}", next_action(&run.state))
        };
        assert!(
            matches!(&asked.question.kind, QuestionKind::CommitRefused { task, .. } if task == "1")
        );
        for words in ["incorrect passphrase", "refs/omo/keep/r/step-1", "ssh-add"] {
            assert!(
                asked.question.text.contains(words),
                "{}",
                asked.question.text
            );
        }
        assert_eq!(run.state.questions.len(), 1, "it is asked once");
        assert!(run.start("1").is_err() && run.start("2").is_err());
        run.answer("q1", ANSWER_CONTINUE).unwrap();
        assert!(matches!(next_action(&run.state), NextAction::CommitAgain(task) if task.id == "1"));
        assert!(run.start("1").is_err(), "no worker is asked again");
        commit_again(
            &mut run,
            "1",
            CommitOutcome::Made {
                id: "abc".to_owned(),
                branch: None,
                hooks: None,
            },
        );
        assert_eq!(
            (run.standing("1"), run.state.tasks["1"].attempts),
            ("passed", 1)
        );
        assert_eq!(run.ready(), ["2"]);
    }
}

#[test]
fn a_commit_that_is_refused_again_is_asked_about_again() {
    let mut run = run_refused(two_steps(OnFailure::Revert, 3), locked_key());
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    commit_again(
        &mut run,
        "1",
        CommitOutcome::Refused {
            refusal: locked_key(),
            kept: None,
        },
    );
    assert_eq!(
        (run.standing("1"), run.state.tasks["1"].attempts),
        ("held", 1)
    );
    assert_eq!(run.asked().unwrap().0, "q2");
}

/// A run that begins with a hook in state 1.
fn guarded_run() -> Run {
    let mut run = Run::open(two_steps(OnFailure::Revert, 3));
    run.state.guard = Some(
        CommitGuard {
            judges: hook("1"),
            ..CommitGuard::default()
        }
        .into(),
    );
    run
}

fn hook(state: &str) -> JudgeStates {
    JudgeStates::from([("hooks/pre-commit".to_owned(), state.to_owned())])
}

/// Judges in this state for which a commit would be refused.
fn changed(run: &Run, now: &JudgeStates) -> JudgeStates {
    run.state
        .guard
        .as_ref()
        .unwrap()
        .changes(now, |_| false)
        .others
}

#[test]
fn what_judges_commits_stands_in_exactly_the_state_that_its_user_has_let_stand() {
    let other = JudgeStates::from([("hooks/commit-msg".to_owned(), "1".to_owned())]);
    for (at_the_answer, stands) in [
        (hook("2"), vec![hook("2")]),
        (hook("1"), vec![]),
        (hook("3"), vec![]),
        (JudgeStates::new(), vec![]),
    ] {
        let mut run = guarded_run();
        let changes = run
            .state
            .guard
            .as_ref()
            .unwrap()
            .changes(&hook("2"), |_| false);
        let refusal = changes.refusal(Path::new("/p")).unwrap();
        assert!(
            refusal
                .to_string()
                .starts_with("hooks/pre-commit (now 2) in /p judges commits"),
            "{refusal}"
        );
        // Nothing was asked about the other one.
        let now = at_the_answer
            .clone()
            .into_iter()
            .chain(other.clone())
            .collect();
        let judges = run
            .state
            .guard
            .as_ref()
            .unwrap()
            .still_as_shown(&now, &refusal);
        run.write([EventKind::JudgesFound { judges }]);
        for state in [hook("1"), hook("2"), hook("3"), JudgeStates::new()] {
            let is_known = state == hook("1") || stands.contains(&state);
            assert_eq!(
                changed(&run, &state).is_empty(),
                is_known,
                "{state:?} after {at_the_answer:?}"
            );
        }
        assert!(!changed(&run, &other).is_empty());
    }
}

#[test]
fn what_a_step_lists_is_known_once_it_has_passed() {
    let guard = guarded_run().state.guard.unwrap();
    assert_eq!(
        guard
            .changes(&hook("2"), |name| name == "hooks/pre-commit")
            .listed,
        hook("2")
    );
    let measured = AttemptMeasurement {
        judges: hook("2"),
        ..all(&task("1"), &Green)
    };
    let refused = AttemptMeasurement {
        judges: hook("2"),
        ..refused(&task("1"), locked_key())
    };
    let crossed = AttemptMeasurement {
        missing: vec!["a".to_owned()],
        tampered: vec!["b".to_owned()],
        ..measured.clone()
    };
    // Passed without a commit of its own, refused by git, and failed.
    for (measured, is_known) in [(measured, true), (refused, false), (crossed, false)] {
        let mut run = guarded_run();
        let ticket = run.start("1").unwrap();
        run.done(&ticket, measured).unwrap();
        assert_eq!(
            changed(&run, &hook("2")).is_empty(),
            is_known,
            "{}",
            run.standing("1")
        );
    }
}

#[test]
fn its_user_leaves_it_out_has_it_done_again_or_ends_the_run() {
    let mut run = run_refused(two_steps(OnFailure::Revert, 1), locked_key());
    run.answer("q1", ANSWER_SKIP).unwrap();
    assert_eq!(
        (run.standing("1"), run.state.tasks["1"].is_to_restore),
        ("skipped", false)
    );

    let mut run = run_refused(two_steps(OnFailure::Revert, 1), locked_key());
    run.answer("q1", ANSWER_REDO).unwrap();
    assert!(
        run.state.tasks["1"]
            .reason
            .as_ref()
            .unwrap()
            .contains("incorrect passphrase")
    );
    assert_eq!(run.ready(), ["1"]);
    run.pass("1");

    let mut run = run_refused(two_steps(OnFailure::Revert, 1), locked_key());
    run.answer("q1", ANSWER_STOP).unwrap();
    assert_eq!(run.result(), Some(RunResult::Failed));
    assert!(!run.state.tasks["1"].is_to_restore);
    run.take(Ok(verbs::take_over_run(&run.state, &run.caller)))
        .unwrap();
    assert_eq!(
        run.asked().unwrap().0,
        "q2",
        "a run that goes on asks again"
    );
}

#[test]
fn what_a_worker_can_change_goes_back_to_it_once() {
    let mut run = run_refused(two_steps(OnFailure::Revert, 3), lint("a:1: unused"));
    assert_eq!((run.standing("1"), run.asked()), ("pending", None));
    let end = run.state.tasks["1"].last_end.clone().unwrap();
    assert_eq!(
        end.evidence,
        "its commit was refused: hook pre-commit: a:1: unused"
    );
    let ticket = run.start("1").unwrap();
    run.done(&ticket, refused(&task("1"), lint("a:7: unused")))
        .unwrap();
    assert_eq!(
        (run.standing("1"), run.asked().unwrap().0.as_str()),
        ("held", "q1"),
        "the same complaint"
    );

    let mut run = run_refused(two_steps(OnFailure::Revert, 3), lint("a:1: unused"));
    let ticket = run.start("1").unwrap();
    run.done(&ticket, refused(&task("1"), lint("a:7: too long")))
        .unwrap();
    assert_eq!(
        (run.standing("1"), run.asked()),
        ("pending", None),
        "another complaint"
    );
    let ticket = run.start("1").unwrap();
    run.done(&ticket, refused(&task("1"), lint("a:7: no newline")))
        .unwrap();
    assert_eq!(
        run.asked().unwrap().0,
        "q1",
        "the last attempt is not thrown away"
    );
    assert!(!run.state.tasks["1"].is_to_restore);
}

#[test]
fn a_parallel_worker_ends_and_the_others_go_on() {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    begin(&mut run, "b");
    let ticket = run.start("1").unwrap();
    run.done(&ticket, refused(&task("1"), locked_key()))
        .unwrap();
    let session = run.state.plan.groups[0].clone();
    assert_eq!(
        next_task_of(&run.state, &session),
        None,
        "nothing behind it is begun, and it is not begun again"
    );
    assert_eq!(
        step(&run),
        "wait a b",
        "what another worker does is not held up"
    );
    let ended = |group: &str| EventKind::WorkerEnded {
        group: group.to_owned(),
        how: "it ended by itself".to_owned(),
        cost: ClientCost::default(),
    };
    run.write([ended("a")]);
    assert_eq!(step(&run), "wait b");
    run.pass("3");
    run.write([
        ended("b"),
        EventKind::GroupEnded {
            group: "b".to_owned(),
            tip: "tip of b".to_owned(),
            failed: None,
        },
    ]);
    assert_eq!(step(&run), "merge b");
    run.write([EventKind::GroupMerged {
        group: "b".to_owned(),
        tip: "with b".to_owned(),
    }]);
    run.advance();
    assert_eq!(run.asked().unwrap().0, "q1");
    assert!(
        run.state.parallel.as_ref().unwrap().groups["a"]
            .worktree
            .is_some()
    );
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    let again = next_action(&run.state);
    assert!(
        matches!(again, NextAction::Parallel(ParallelAction::CommitAgain(group, task)) if group.id == "a" && task.id == "1")
    );
    commit_again(
        &mut run,
        "1",
        CommitOutcome::Made {
            id: "abc".to_owned(),
            branch: None,
            hooks: None,
        },
    );
    assert_eq!(step(&run), "start a", "its next step");
}

#[test]
fn one_cause_is_one_question_however_many_steps_it_holds_up() {
    let mut run = parallel_run(0);
    for (session, id) in [("a", "1"), ("b", "3")] {
        begin(&mut run, session);
        let ticket = run.start(id).unwrap();
        run.done(&ticket, refused(&task(id), locked_key())).unwrap();
        let (group, how) = (session.to_owned(), "it ended by itself".to_owned());
        run.write([EventKind::WorkerEnded {
            group,
            how,
            cost: ClientCost::default(),
        }]);
    }
    run.advance();
    let asked = run.state.open_question().unwrap().question.text.clone();
    assert!(asked.contains("The same holds up task 3"), "{asked}");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    for id in ["1", "3"] {
        let again = next_action(&run.state);
        assert!(
            matches!(again, NextAction::Parallel(ParallelAction::CommitAgain(_, task)) if task.id == id),
            "{again:?}"
        );
        commit_again(
            &mut run,
            id,
            CommitOutcome::Made {
                id: "abc".to_owned(),
                branch: None,
                hooks: None,
            },
        );
    }
    assert_eq!(run.state.questions.len(), 1);
}

//! The next step: tasks at the same time, the effect of a failure, and the end of a run.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_engine::event::RunResult;
use omo_engine::schedule::{NextAction, have_disjoint_files, next_action};
use omo_engine::verbs;
use omo_plan::model::{GroupIsolation, OnTaskFail, Parallelism, Plan, Task};

use crate::run::kit::{Run, all, file, in_batches, needs, outcome, plan, task};

fn at_once(parallel: Parallelism, max_workers: u32, tasks: Vec<Task>) -> Plan {
    let mut plan = plan(tasks);
    (plan.policy.parallel, plan.policy.max_workers) = (parallel, max_workers);
    plan
}

fn touching(id: &str, paths: &[&str]) -> Task {
    Task {
        files: paths.iter().map(|path| file(path)).collect(),
        ..task(id)
    }
}

#[test]
fn one_after_the_other_is_one() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    assert_eq!(run.ready(), ["1"]);
    run.start("1").unwrap();
    assert_eq!(next_action(&run.state), NextAction::Wait(vec!["1"]));
    assert_eq!(
        run.start("2").unwrap_err().message,
        "it is not the turn of 2"
    );
}

#[test]
fn what_may_touch_the_same_path_is_not_done_at_the_same_time() {
    for (one, other, ready) in [
        (vec!["a"], vec!["b"], vec!["1", "2"]),
        (vec!["a"], vec!["./a"], vec!["1"]),
        (vec!["src"], vec!["src/x.rs"], vec!["1"]),
        (vec!["**/*.rs"], vec!["src/x.rs"], vec!["1"]),
        (vec!["a", "b"], vec!["c", "b"], vec!["1"]),
        (vec![], vec!["b"], vec!["1"]),
        (vec!["a"], vec![], vec!["1"]),
    ] {
        let (one, other) = (touching("1", &one), touching("2", &other));
        assert_eq!(have_disjoint_files(&one, &other), ready.len() == 2);
        let mut run = Run::open(at_once(Parallelism::Tasks, 0, vec![one, other]));
        assert_eq!(run.ready(), ready);
        let first = run.start("1").unwrap();
        assert_eq!(run.ready().len(), ready.len() - 1);
        run.done(&first, all(&task("1"), &Green)).unwrap();
        assert_eq!(run.ready(), ["2"]);
    }
}

#[test]
fn there_are_only_so_many_workers() {
    let mut run = Run::open(at_once(
        Parallelism::Tasks,
        2,
        vec![task("1"), task("2"), task("3")],
    ));
    assert_eq!(run.ready(), ["1", "2"]);
    run.start("1").unwrap();
    assert_eq!(run.ready(), ["2"]);
    run.start("2").unwrap();
    assert_eq!(next_action(&run.state), NextAction::Wait(vec!["1", "2"]));
}

#[test]
fn without_a_bound_there_are_still_only_so_many() {
    for (bound, begun) in [(0, 64), (63, 63), (1_000, 64)] {
        let tasks = (0..100).map(|number| task(&number.to_string())).collect();
        assert_eq!(
            Run::open(at_once(Parallelism::Tasks, bound, tasks))
                .ready()
                .len(),
            begun
        );
    }
}

#[test]
fn sessions_in_work_trees_of_their_own_may_touch_the_same_and_do_one_thing_after_the_other() {
    let tasks = || {
        vec![
            touching("1", &["a"]),
            touching("2", &["b"]),
            touching("3", &["a"]),
        ]
    };
    for (isolation, ready) in [
        (GroupIsolation::Worktree, vec!["1", "3"]),
        (GroupIsolation::Shared, vec!["1"]),
    ] {
        let mut plan = in_batches(
            at_once(Parallelism::Groups, 0, tasks()),
            &[&["1", "2"], &["3"]],
            &[],
        );
        for group in &mut plan.groups {
            (group.wave, group.isolation) = (0, isolation);
        }
        assert_eq!(Run::open(plan).ready(), ready, "{isolation:?}");
    }
}

#[test]
fn a_wave_and_a_group_wait_for_what_is_before_them() {
    let mut plan = in_batches(
        at_once(Parallelism::Tasks, 0, vec![task("1"), task("2"), task("3")]),
        &[&["1"], &["2"], &["3"]],
        &[],
    );
    plan.groups[1].wave = 0;
    plan.groups[1].deps = vec!["batch-1".to_owned()];
    let mut run = Run::open(plan);
    assert_eq!(run.ready(), ["1"]);
    run.fail("1");
    assert_eq!(
        run.ready(),
        ["2"],
        "they wait until it has ended, however it does"
    );
    run.pass("2");
    assert_eq!(run.ready(), ["3"]);
}

#[test]
fn a_policy_that_stops_begins_nothing_more_and_lets_who_is_at_work_finish() {
    let mut plan = at_once(
        Parallelism::Tasks,
        0,
        vec![task("1"), task("2"), task("3"), task("4")],
    );
    plan.policy.on_task_fail = OnTaskFail::Stop;
    let mut plan = in_batches(plan, &[&["1", "2"], &["3", "4"]], &[0]);
    plan.policy.max_workers = 2;
    let mut run = Run::open(plan);
    let (first, second) = (run.start("1").unwrap(), run.start("2").unwrap());
    run.done(&first, all(&task("1"), &Red)).unwrap();
    assert_eq!(next_action(&run.state), NextAction::Wait(vec!["2"]));
    run.done(&second, all(&task("2"), &Green)).unwrap();
    assert_eq!(
        (run.asked(), run.result()),
        (None, Some(RunResult::Failed)),
        "no question whether to go on"
    );
    run.retry("1").unwrap();
    run.pass("1");
    assert_eq!(run.asked().unwrap().1, "hard_stop");
}

#[test]
fn what_can_never_be_begun_ends_the_run_and_is_no_success() {
    let mut groups = in_batches(plan(vec![task("1"), task("2")]), &[&["1"], &["2"]], &[]);
    groups.groups[0].deps = vec!["batch-2".to_owned()];
    let circle = plan(vec![needs("1", &["2"]), needs("2", &["1"])]);
    let unknown = plan(vec![needs("1", &["9"])]);
    for plan in [groups, circle, unknown] {
        assert_eq!(
            Run::open(plan).result(),
            Some(RunResult::CompletedWithFailures)
        );
    }
}

#[test]
fn a_plan_without_tasks_is_complete_at_once() {
    assert_eq!(
        Run::open(plan(Vec::new())).result(),
        Some(RunResult::Complete)
    );
}

fn at_its_finals() -> (Run, Vec<TaskCheck>) {
    let checks = vec![
        TaskCheck::new("make"),
        TaskCheck {
            cwd: Some("sub".to_owned()),
            ..TaskCheck::new("make")
        },
    ];
    let mut run = Run::open(Plan {
        final_checks: checks.clone(),
        ..plan(vec![task("1")])
    });
    run.pass("1");
    assert_eq!(
        (next_action(&run.state), run.result()),
        (NextAction::FinalChecks, None)
    );
    (run, checks)
}

#[test]
fn a_run_is_complete_when_every_final_check_is_green() {
    for (verdicts, result) in [
        (vec![Green, Green], Some(RunResult::Complete)),
        (vec![Red, Green], Some(RunResult::Failed)),
        (vec![Green, Red], Some(RunResult::Failed)),
        (vec![Red], Some(RunResult::Failed)),
        (vec![Green], None),
        (vec![], None),
    ] {
        let (mut run, checks) = at_its_finals();
        let ran = checks
            .into_iter()
            .zip(verdicts.iter().map(|verdict| outcome(verdict.clone())))
            .collect();
        run.take(Ok(verbs::final_check_events(ran))).unwrap();
        assert_eq!(run.result(), result, "{verdicts:?}");
    }
}

#[test]
fn final_checks_run_again_after_anything_was_done() {
    let (run, checks) = at_its_finals();
    let ran = |verdict: &omo_core::check::task_check::TaskCheckVerdict| -> Vec<_> {
        checks
            .iter()
            .map(|check| (check.clone(), outcome(verdict.clone())))
            .collect()
    };
    let ended = |verdict| {
        let mut run = run.clone();
        run.take(Ok(verbs::final_check_events(ran(verdict))))
            .unwrap();
        run
    };
    let mut resumed = ended(&Red);
    let events = verbs::take_over_run(&resumed.state, &resumed.caller);
    resumed.take(Ok(events)).unwrap();
    assert_eq!(next_action(&resumed.state), NextAction::FinalChecks);
    let mut edited = ended(&Green);
    let mut plan = edited.state.plan.clone();
    plan.tasks[0].body_sha256 = "another".to_owned();
    edited.replan(plan).unwrap();
    let events = verbs::take_over_run(&edited.state, &edited.caller);
    edited.take(Ok(events)).unwrap();
    edited.pass("1");
    assert_eq!(
        (next_action(&edited.state), edited.result()),
        (NextAction::FinalChecks, None)
    );
}

//! Questions without the work of a task, and the consequences of their answers.

use super::*;

fn answer(command: &str, without: WithoutChange) -> CheckCounterfactual {
    CheckCounterfactual {
        name: command.to_owned(),
        without,
        reason: "why".to_owned(),
        ..CheckCounterfactual::default()
    }
}

fn red(command: &str) -> TaskCheck {
    let expect = ExpectedResult {
        exit: ExpectedExit::NonZero,
        stdout_has: None,
    };
    TaskCheck {
        expect,
        ..TaskCheck::new(command)
    }
}

fn plan() -> Plan {
    let mut plan = omo_plan::dialects::read(
        "docs/plans/a.md",
        b"",
        omo_plan::dialects::BatchOptions::default(),
    );
    let tests = Task {
        kind: TaskKind::Tests,
        red_check: Some(red("test")),
        ..Task::new("1-tests", "Tests")
    };
    let done = Task {
        pair: Some("1-tests".to_owned()),
        checks: vec![TaskCheck::new("lint"), TaskCheck::new("run")],
        ..Task::new("1-impl", "It")
    };
    let first = Task {
        red_check: Some(red("test")),
        checks: vec![TaskCheck::new("test")],
        ..Task::new("2", "Other")
    };
    let unasked = Task {
        checks: vec![TaskCheck::new("test")],
        ..Task::new("3", "Plain")
    };
    plan.tasks = vec![tests, done, first, unasked];
    plan
}

#[test]
fn only_a_task_with_a_red_check_or_with_tests_of_its_own_is_run_without_its_work() {
    let plan = plan();
    let asked: Vec<bool> = plan
        .tasks
        .iter()
        .map(|task| is_asked(&plan, task))
        .collect();
    assert_eq!(asked, [false, true, true, false]);
    let commands = |id: &str| -> Vec<String> {
        let checks = checks_to_prove(&plan, plan.task(id).unwrap());
        assert!(
            checks
                .iter()
                .all(|check| check.expect.exit == ExpectedExit::Zero),
            "with the work all of them pass"
        );
        checks.into_iter().map(|check| check.command).collect()
    };
    assert_eq!(commands("1-impl"), ["lint", "run", "test"]);
    assert_eq!(
        commands("2"),
        ["test"],
        "a check that is the red check as well is run once"
    );
    let unchecked = Task {
        checks: Vec::new(),
        ..plan.task("2").unwrap().clone()
    };
    assert!(!is_asked(&plan, &unchecked));
}

#[test]
fn an_implementation_fails_whose_own_checks_are_all_green_without_it() {
    use WithoutChange::{Green, Red, Unknown};
    let plan = plan();
    for (lint, run, test, fails) in [
        (Green, Green, Green, true),
        (Green, Green, Unknown, true),
        (Green, Green, Red, false),
        (Green, Red, Green, false),
        (Green, Unknown, Green, false),
        (Unknown, Unknown, Unknown, false),
    ] {
        let answers = [
            answer("lint", lint),
            answer("run", run),
            answer("test", test),
        ];
        let why = unproved_implementation(&plan, plan.task("1-impl").unwrap(), &answers);
        assert_eq!(why.is_some(), fails, "{lint:?} {run:?} {test:?} {why:?}");
    }
    let green = [answer("test", Green)];
    for id in ["2", "3", "1-tests"] {
        assert_eq!(
            unproved_implementation(&plan, plan.task(id).unwrap(), &green),
            None,
            "{id} only warns"
        );
    }
    assert_eq!(
        unproved_implementation(&plan, plan.task("1-impl").unwrap(), &[]),
        None
    );
}

#[test]
fn what_is_not_red_without_the_work_weakens_what_has_passed() {
    use WithoutChange::{Green, Red, Unknown};
    let plan = plan();
    let weakness = |id: &str, answers: &[CheckCounterfactual]| {
        weakest_answer(&plan, plan.task(id).unwrap(), answers)
    };
    assert_eq!(weakness("2", &[answer("test", Red)]), None);
    assert_eq!(
        weakness("2", &[answer("test", Green), answer("other", Red)]).as_deref(),
        Some("`test` is green without the work, too: it shows nothing about it")
    );
    assert_eq!(
        weakness("1-impl", &[answer("lint", Green), answer("test", Unknown)]).as_deref(),
        Some("whether `test` fails without the work could not be told: why")
    );
    assert_eq!(
        weakness("1-impl", &[answer("lint", Green), answer("test", Red)]),
        None
    );
    assert_eq!(weakness("2", &[]), None);
}

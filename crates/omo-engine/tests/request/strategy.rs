//! The strategy of a plan, and the steps of its parts.

use omo_engine::request::arguments::{PlanSelection, RunRequest};
use omo_engine::request::part::{requested_strategy, selected_groups, selected_tasks};
use omo_plan::model::{Task, TaskGroup};

use crate::request::plan;

#[test]
fn only_a_run_of_the_whole_is_done_in_sessions() {
    let none: &[(&[u64], u64)] = &[];
    let one: &[(&[u64], u64)] = &[(&[1, 2, 3, 4], 1)];
    let sequential: &[(&[u64], u64)] = &[(&[1, 2], 1), (&[3, 4], 2)];
    let parallel: &[(&[u64], u64)] = &[(&[1], 1), (&[2], 1), (&[3, 4], 2)];
    let single = "Strategy: single session";
    let whole = RunRequest::default();
    let (dry, fg) = (
        RunRequest {
            is_dry_run: true,
            ..whole
        },
        RunRequest {
            is_foreground: true,
            ..whole
        },
    );
    let (step, session) = (
        RunRequest {
            selection: PlanSelection::Step(1),
            ..whole
        },
        RunRequest {
            selection: PlanSelection::Session(1),
            ..whole
        },
    );
    for (sessions, request, expected) in [
        (none, whole, single),
        (one, whole, single),
        (
            sequential,
            whole,
            "Strategy: 2 sessions (0 parallel, 2 sequential)",
        ),
        (
            parallel,
            whole,
            "Strategy: 3 sessions (2 parallel, 1 sequential)",
        ),
        (
            parallel,
            dry,
            "Strategy: 3 sessions (2 parallel, 1 sequential)",
        ),
        (
            parallel,
            RunRequest {
                is_dry_run: true,
                ..session
            },
            single,
        ),
        (
            parallel,
            RunRequest {
                is_foreground: true,
                ..dry
            },
            single,
        ),
        (parallel, fg, single),
        (
            parallel,
            RunRequest {
                is_resume: true,
                ..whole
            },
            single,
        ),
        (parallel, step, single),
        (parallel, session, single),
    ] {
        let strategy = requested_strategy(&plan(4, sessions), &request);
        assert_eq!(
            strategy.summary_line(),
            expected,
            "{request:?} {sessions:?}"
        );
        assert_eq!(
            strategy.starts_clients(),
            expected != single,
            "{request:?} {sessions:?}"
        );
        assert_eq!(
            strategy.is_parallel(),
            expected.contains("(2 parallel"),
            "{request:?} {sessions:?}"
        );
    }
}

#[test]
fn a_part_has_its_tasks_and_its_workers() {
    let plan = plan(5, &[(&[1, 3], 1), (&[2], 1)]);
    for (part, wanted_groups, wanted_tasks) in [
        (
            PlanSelection::Whole,
            vec!["session-1", "session-2", "rest"],
            vec!["1", "3", "2", "4", "5"],
        ),
        (PlanSelection::Session(1), vec!["session-1"], vec!["1", "3"]),
        (PlanSelection::Step(3), vec!["session-1"], vec!["3"]),
        (PlanSelection::Step(5), vec!["rest"], vec!["5"]),
        (PlanSelection::Session(9), vec![], vec![]),
    ] {
        let groups: Vec<&str> = selected_groups(&plan, part)
            .into_iter()
            .map(|TaskGroup { id, .. }| id.as_str())
            .collect();
        let tasks: Vec<&str> = selected_tasks(&plan, part)
            .into_iter()
            .map(|Task { id, .. }| id.as_str())
            .collect();
        assert_eq!((groups, tasks), (wanted_groups, wanted_tasks), "{part:?}");
    }
}

//! How a plan is worked on, and which of its steps.

use omo_plan::model::{Group, Unit};
use omo_plan::ultra_run::arguments::{Part, parse};
use omo_plan::ultra_run::strategy::{Strategy, groups, units};

use crate::plan;

#[test]
fn only_a_run_of_the_whole_is_done_in_sessions() {
    let none: &[(&[u64], u64)] = &[];
    let one: &[(&[u64], u64)] = &[(&[1, 2, 3, 4], 1)];
    let sequential: &[(&[u64], u64)] = &[(&[1, 2], 1), (&[3, 4], 2)];
    let parallel: &[(&[u64], u64)] = &[(&[1], 1), (&[2], 1), (&[3, 4], 2)];
    let single = "Strategy: single session";
    for (sessions, line, expected) in [
        (none, "plan.md", single),
        (one, "plan.md", single),
        (sequential, "plan.md", "Strategy: 2 sessions (0 parallel, 2 sequential)"),
        (parallel, "plan.md", "Strategy: 3 sessions (2 parallel, 1 sequential)"),
        (parallel, "--dry-run plan.md", "Strategy: 3 sessions (2 parallel, 1 sequential)"),
        (parallel, "--dry-run --session 1 plan.md", single),
        (parallel, "--dry-run --fg plan.md", single),
        (parallel, "--fg plan.md", single),
        (parallel, "--resume plan.md", single),
        (parallel, "--step 1 plan.md", single),
        (parallel, "--session 1 plan.md", single),
    ] {
        let strategy = Strategy::asked_for(&plan(4, sessions), &parse("/x", line).unwrap());
        assert_eq!(strategy.line(), expected, "{line} {sessions:?}");
        assert_eq!(strategy.starts_sessions(), expected != single, "{line} {sessions:?}");
        assert_eq!(strategy.is_parallel(), expected.contains("(2 parallel"), "{line} {sessions:?}");
    }
}

#[test]
fn a_part_has_its_steps_and_its_sessions() {
    let plan = plan(5, &[(&[1, 3], 1), (&[2], 1)]);
    for (part, wanted_groups, wanted_units) in [
        (Part::Whole, vec!["session-1", "session-2", "rest"], vec!["1", "3", "2", "4", "5"]),
        (Part::Session(1), vec!["session-1"], vec!["1", "3"]),
        (Part::Step(3), vec!["session-1"], vec!["3"]),
        (Part::Step(5), vec!["rest"], vec!["5"]),
        (Part::Session(9), vec![], vec![]),
    ] {
        let groups: Vec<&str> = groups(&plan, part).into_iter().map(|Group { id, .. }| id.as_str()).collect();
        let units: Vec<&str> = units(&plan, part).into_iter().map(|Unit { id, .. }| id.as_str()).collect();
        assert_eq!((groups, units), (wanted_groups, wanted_units), "{part:?}");
    }
}

//! Targets of a request: existing and missing ones.

use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::check_target::{PathTarget, check_file, check_selection};

use crate::request::plan;

#[test]
fn a_path_leads_to_a_file() {
    assert_eq!(check_file("plan.md", PathTarget::File), Ok(()));
    let missing = check_file("missing.md", PathTarget::Nothing).unwrap_err();
    assert_eq!(
        (missing.message.as_str(), missing.is_missing),
        ("file not found: missing.md", true)
    );
    let folder = check_file("./dir", PathTarget::Other).unwrap_err();
    assert_eq!(
        (folder.message.as_str(), folder.is_missing),
        ("not a file: ./dir", false)
    );
}

#[test]
fn the_numbers_that_there_are_are_named_however_they_stand() {
    let five = plan(5, &[(&[1, 2], 1), (&[3, 4, 5], 1)]);
    let mut gaps = plan(6, &[]);
    gaps.tasks.retain(|task| task.id != "4" && task.id != "6");
    for (plan, part, message) in [
        (&five, PlanSelection::Step(99), "no step 99 (plan has 1..5)"),
        (
            &five,
            PlanSelection::Session(9),
            "no session 9 (plan has 1..2)",
        ),
        (
            &gaps,
            PlanSelection::Session(1),
            "plan has no Execution Strategy",
        ),
        (
            &gaps,
            PlanSelection::Step(4),
            "no step 4 (plan has 1..3, 5)",
        ),
    ] {
        assert_eq!(check_selection(plan, part).unwrap_err().message, message);
    }
    assert_eq!(
        (
            check_selection(&gaps, PlanSelection::Step(5)),
            check_selection(&gaps, PlanSelection::Whole)
        ),
        (Ok(()), Ok(()))
    );
}

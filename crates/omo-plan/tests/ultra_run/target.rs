//! Whether what was asked for is there.

use omo_plan::ultra_run::arguments::Part;
use omo_plan::ultra_run::target::{Found, check_file, check_part};

use crate::plan;

#[test]
fn a_path_leads_to_a_file() {
    assert_eq!(check_file("plan.md", Found::File), Ok(()));
    let missing = check_file("missing.md", Found::Nothing).unwrap_err();
    assert_eq!((missing.message.as_str(), missing.is_missing), ("file not found: missing.md", true));
    let folder = check_file("./dir", Found::Other).unwrap_err();
    assert_eq!((folder.message.as_str(), folder.is_missing), ("not a file: ./dir", false));
}

#[test]
fn the_numbers_that_there_are_are_named_however_they_stand() {
    let five = plan(5, &[(&[1, 2], 1), (&[3, 4, 5], 1)]);
    let mut gaps = plan(6, &[]);
    gaps.units.retain(|unit| unit.id != "4" && unit.id != "6");
    for (plan, part, message) in [
        (&five, Part::Step(99), "no step 99 (plan has 1..5)"),
        (&five, Part::Session(9), "no session 9 (plan has 1..2)"),
        (&gaps, Part::Session(1), "plan has no Execution Strategy"),
        (&gaps, Part::Step(4), "no step 4 (plan has 1..3, 5)"),
    ] {
        assert_eq!(check_part(plan, part).unwrap_err().message, message);
    }
    assert_eq!((check_part(&gaps, Part::Step(5)), check_part(&gaps, Part::Whole)), (Ok(()), Ok(())));
}

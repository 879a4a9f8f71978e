//! What was always caught, and has to stay so.

use anyhow::ensure;

use crate::target::{Row, play};

const ROWS: &[Row] = &[
    Row {
        id: "c01a",
        what: "nothing is fixed, the check is red",
        play: |target| {
            target.begin()?;
            ensure!(!target.check_is_green()?);
            target.is_never_verified()
        },
    },
    Row {
        id: "c01b",
        what: "all tests are deleted",
        play: |target| {
            target.begin()?;
            target.remove("test_app.py")?;
            target.is_never_verified()
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_was_always_caught_is_caught() {
    play(ROWS).unwrap();
}

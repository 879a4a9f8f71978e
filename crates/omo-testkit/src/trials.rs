//! Tests of a binary that is more than its tests: one that is started again as a keeper or a minder.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs these tests, by their names, as the arguments of this process ask for.
pub fn run(tests: impl IntoIterator<Item = (&'static str, fn())>) -> ExitCode {
    let trial = |(name, test): (&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().map(trial).collect()).exit_code()
}

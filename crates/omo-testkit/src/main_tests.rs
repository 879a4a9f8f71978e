//! Tests of a binary that is more than its tests: one that is started again as a keeper or a minder.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs these tests, by their names, as the arguments of this process ask for.
pub fn run(tests: impl IntoIterator<Item = (&'static str, fn())>) -> ExitCode {
    run_with(tests, Vec::new())
}

/// As [`run`], with tests besides that are [`ignored`].
pub fn run_with(
    tests: impl IntoIterator<Item = (&'static str, fn())>,
    ignored: Vec<Trial>,
) -> ExitCode {
    let tests = tests
        .into_iter()
        .map(|(name, test)| trial(name, test))
        .chain(ignored);
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

/// A test that is left out unless all are asked for, as one with `#[ignore]` is. The reason says what it needs.
pub fn ignored(reason: &str, name: &str, test: fn()) -> Trial {
    trial(name, test).with_kind(reason).with_ignored_flag(true)
}

fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

//! Steps of ultraplans through the engine: their files, their commits and their run, by the `On failure` clause of each
//! step.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

mod checked_commits;
mod concurrent_workers;
mod displaced;
mod group_checks;
mod kills;
mod plan_ticks;
mod published_commands;
mod state_machine;
mod taken_back;
mod ultraplan_lab;
mod without_the_work;
mod written_files;

use std::process::ExitCode;

use omo_testkit::main_tests;

type Named = (&'static str, fn());

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: Vec<Named> = if cfg!(unix) {
        [
            state_machine::ALL,
            published_commands::ALL,
            kills::ALL,
            concurrent_workers::ALL,
            written_files::ALL,
            plan_ticks::ALL,
            group_checks::ALL,
            without_the_work::ALL,
            taken_back::ALL,
            displaced::ALL,
            checked_commits::ALL,
        ]
        .concat()
    } else {
        Vec::new()
    };
    main_tests::run(tests)
}

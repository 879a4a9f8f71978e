//! Steps of ultraplans through the engine: what becomes of the files, of the commits and of the run, by what each step
//! says about its failure.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers fail as a test does")]
#![expect(clippy::similar_names, reason = "a stage is not its state, and both words are the right ones")]

mod beside;
mod files;
mod kills;
mod kit;
mod lab;
mod rows;

use std::process::ExitCode;

use omo_testkit::trials;

/// A test by its name.
type Named = (&'static str, fn());

fn main() -> ExitCode {
    omo_exec::keeper::run_if_asked();
    let tests: Vec<Named> =
        if cfg!(unix) { [rows::ALL, lab::ALL, kills::ALL, beside::ALL, files::ALL].concat() } else { Vec::new() };
    trials::run(tests)
}

//! The hooks and `omo` as they are built for Windows, run under Wine: what they promise elsewhere
//! holds there too. `cargo xtask test` builds them where it can, and names their folder.
//!
//! Wine is not Windows. Links are not tried: to this Wine a link of the system around it is what it points at.
//! docs/adr/0013 says what else was not tried.
#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod checks;
mod concurrency;
mod runs;
mod streams;
mod wine;

use omo_tests::scene::print_skip;

use crate::wine::{Case, Wine};

/// Every case, on one Wine: to set one up takes as long as all of them together.
const CASES: [&[Case]; 4] = [
    &runs::CASES,
    &streams::CASES,
    &checks::CASES,
    &concurrency::CASES,
];

#[test]
#[ignore = "needs Wine: cargo xtask test"]
fn the_windows_build_keeps_its_promises() {
    #[expect(
        clippy::disallowed_methods,
        reason = "set by the runner of the tests, where Wine is there"
    )]
    let binaries =
        std::env::var_os("OMO_TEST_WINDOWS").expect("OMO_TEST_WINDOWS names no Windows build");
    let wine = Wine::new(binaries.into()).unwrap();
    let mut wrong = Vec::new();
    for (name, case) in CASES.into_iter().flatten() {
        match case(&wine) {
            Ok(()) => print_skip(&format!("{name}: ok")),
            Err(error) => wrong.push(format!("{name}: {error:#}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases failed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

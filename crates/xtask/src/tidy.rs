//! `cargo xtask tidy`: formatting, lints and the rules of the repository, as one command before a
//! push.

use std::process::Command;

use anyhow::Result;

use crate::cargo;

/// What is run, in this order: the quickest first.
const COMMANDS: [&str; 5] = [
    "cargo fmt --all --check",
    "cargo clippy --workspace --all-targets --all-features --locked -- -D warnings",
    // The layers, the heads of files, the versions, what core may not call, the links of the pages.
    "cargo test --quiet --locked -p xtask --all-features",
    // Every page of help, and every page that says what the code says.
    "cargo test --quiet --locked -p omo-cli -p omo-pages",
    "cargo test --quiet --locked -p omo-tests --test readme",
];

/// Runs all of them, up to the first that fails.
pub(crate) fn run() -> Result<()> {
    for line in COMMANDS {
        anstream::println!("{line}");
        cargo::run(Command::new(cargo::cargo()).args(line.split(' ').skip(1)).current_dir(cargo::top()?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_ci_holds_beside_the_tests_is_held_here() {
        let script = std::fs::read_to_string(cargo::top().unwrap().join(".ci/run")).unwrap();
        let held: Vec<&str> = script.lines().filter(|line| line.starts_with("cargo ")).collect();
        assert!(held.len() > 2, "{held:?}");
        for line in held.iter().filter(|line| !line.starts_with("cargo xtask")) {
            assert!(COMMANDS.contains(line), "`{line}` is in .ci/run and not here");
        }
    }
}

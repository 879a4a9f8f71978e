//! `cargo xtask tidy`: formatting, lints and the rules of the repository, as one command before a push.

use std::process::Command;

use anyhow::Result;

use crate::cargo;

const COMMANDS: [&str; 5] = [
    "cargo fmt --all --check",
    "cargo clippy --workspace --all-targets --all-features --locked -- -D warnings",
    // Layers, heads of files, versions, forbidden calls of core, links of pages.
    "cargo test --quiet --locked -p xtask --all-features",
    // Every page of help, and every generated page.
    "cargo test --quiet --locked -p omo-cli -p omo-pages",
    "cargo test --quiet --locked -p omo-tests --test readme",
];

pub(crate) fn run() -> Result<()> {
    for line in COMMANDS {
        anstream::println!("{line}");
        cargo::run(
            Command::new(cargo::cargo())
                .args(line.split(' ').skip(1))
                .current_dir(cargo::top()?),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_ci_holds_beside_the_tests_is_held_here() {
        let script = std::fs::read_to_string(cargo::top().unwrap().join(".ci/run")).unwrap();
        let held: Vec<&str> = script
            .lines()
            .filter(|line| line.starts_with("cargo "))
            .collect();
        assert!(held.len() > 2, "{held:?}");
        for line in held.iter().filter(|line| !line.starts_with("cargo xtask")) {
            assert!(
                COMMANDS.contains(line),
                "`{line}` is in .ci/run and not here"
            );
        }
    }
}

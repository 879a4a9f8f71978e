//! `cargo xtask check-targets`: the workspace with its tests, compiled for every supported system.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{cargo, rust_target};

/// One target for each system and processor of a release.
const TARGETS: [&str; 4] = [
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Compiles,
    Fails,
    LeftOut(String),
}

impl Outcome {
    fn words(&self) -> String {
        match self {
            Self::Compiles => "compiles".to_owned(),
            Self::Fails => "does not compile".to_owned(),
            Self::LeftOut(why) => format!("left out: {why}"),
        }
    }
}

/// Compiles for each available target, and prints a table. Fails where one does not compile.
pub(crate) fn run() -> Result<()> {
    let (verb, rest) = compiler();
    let mut outcomes = Vec::new();
    for target in TARGETS {
        outcomes.push((target, outcome(target, verb, rest)?));
    }
    anstream::println!("\n{}", table(&outcomes));
    let broken: Vec<&str> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::Fails)
        .map(|(target, _)| *target)
        .collect();
    if !broken.is_empty() {
        bail!("the workspace does not compile for {}", broken.join(", "));
    }
    Ok(())
}

/// Verb of cargo, and its trailing words: clippy with warnings as errors, where installed.
fn compiler() -> (&'static str, &'static [&'static str]) {
    let clippy = cargo::output(Command::new(cargo::cargo()).args(["clippy", "--version"]));
    if clippy.is_ok() {
        ("clippy", &["--", "-D", "warnings"])
    } else {
        ("check", &[])
    }
}

fn outcome(target: &str, verb: &str, rest: &[&str]) -> Result<Outcome> {
    if let Err(why) = rust_target::obtain(target, "to compile for it") {
        return Ok(Outcome::LeftOut(format!("{why:#}")));
    }
    anstream::println!("cargo {verb} for {target}");
    let mut command = Command::new(cargo::cargo());
    command
        .args([
            verb,
            "--quiet",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--target",
            target,
        ])
        .args(rest);
    let status = command.current_dir(cargo::top()?).status()?;
    Ok(if status.success() {
        Outcome::Compiles
    } else {
        Outcome::Fails
    })
}

fn table(outcomes: &[(&str, Outcome)]) -> String {
    let width = outcomes
        .iter()
        .map(|(target, _)| target.len())
        .max()
        .unwrap_or(0);
    let line =
        |(target, outcome): &(&str, Outcome)| format!("{target:<width$}  {}", outcome.words());
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_of_each_target_what_came_of_it() {
        let outcomes = [
            ("x86_64-apple-darwin", Outcome::Compiles),
            ("short", Outcome::Fails),
            ("other", Outcome::LeftOut("no network".to_owned())),
        ];
        let expected = "x86_64-apple-darwin  compiles\n\
                        short                does not compile\n\
                        other                left out: no network";
        assert_eq!(table(&outcomes), expected);
    }
}

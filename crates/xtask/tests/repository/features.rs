//! One set of features: builds for `cargo xtask` and for the tests are shared.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::top;

/// Resolved crates of these packages, with every set of features that each is built with.
fn crates(packages: &[&str], edges: &str) -> BTreeMap<String, BTreeSet<String>> {
    let tree = [
        "tree",
        "--locked",
        "--offline",
        "--prefix",
        "none",
        "--no-dedupe",
        "--format",
        "{p}|{f}",
        "-e",
        edges,
    ];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(packages)
        .current_dir(top())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut crates: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        // An empty line parts the packages.
        let Some((name, features)) = line.split_once('|') else {
            continue;
        };
        crates
            .entry(name.to_owned())
            .or_default()
            .insert(features.to_owned());
    }
    crates
}

#[test]
fn no_crate_is_built_twice_for_the_demo_and_the_tests() {
    let tests = crates(&["--workspace"], "normal,build,dev");
    for packages in [
        &["-p", "xtask"][..],
        &["-p", "xtask", "-p", "omo-hooks", "-p", "omo-cli"],
    ] {
        for (name, features) in crates(packages, "normal,build") {
            let with_tests = &tests[&name];
            assert!(
                features.is_subset(with_tests),
                "{packages:?} build {name} with {features:?}, the tests with {with_tests:?}: \
                 name the missing features in crates/xtask/Cargo.toml"
            );
        }
    }
}

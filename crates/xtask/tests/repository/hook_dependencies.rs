//! Dependencies of the hook binaries, compared with `crates/omo-hooks/dependencies.txt` on each kind of system.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use crate::{read, top};

const LIST: &str = "crates/omo-hooks/dependencies.txt";

/// Kinds of systems. A plugin for Linux is built for the first two.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-musl",
    "x86_64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Part of a program, or code that only runs on the building machine: macros and build scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Linked,
    Build,
}

/// Crates behind edges of these kinds, each with one chain of crates that brings it in.
///
/// Most targets are not built here: cargo fetches their missing crates now.
fn chains(edges: &str, target: &str) -> BTreeMap<String, String> {
    // Together with the CLI, as the plugin is built: a feature that the CLI turns on is on in the hooks.
    let tree = [
        "tree",
        "--locked",
        "-p",
        "omo-hooks",
        "-p",
        "omo-cli",
        "--prefix",
        "depth",
        "--no-dedupe",
    ];
    let options = ["--edges", edges, "--target", target];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(options)
        .current_dir(top())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo tree for {target}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let mut chains = BTreeMap::new();
    let mut chain = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (depth, package) = line.split_at(
            line.find(|character: char| !character.is_ascii_digit())
                .unwrap(),
        );
        let name = package.split(' ').next().unwrap();
        chain.truncate(depth.parse().unwrap());
        chain.push(name);
        if chain.first() == Some(&"omo-hooks") {
            chains
                .entry(name.to_owned())
                .or_insert_with(|| chain.join(" > "));
        }
    }
    chains
}

fn listed(target: &str) -> BTreeSet<(String, Use)> {
    let mut crates = BTreeSet::new();
    for line in read(LIST)
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap().to_owned();
        let (build, systems): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == "build");
        if systems.is_empty() || systems.iter().any(|system| target.contains(system)) {
            crates.insert((
                name,
                if build.is_empty() {
                    Use::Linked
                } else {
                    Use::Build
                },
            ));
        }
    }
    crates
}

/// Crates of the hook binaries on a target, each with its use and one chain that brings it in.
fn found(target: &str) -> BTreeMap<(String, Use), String> {
    let linked = chains("normal,no-proc-macro", target);
    let with_use = |(name, chain): (String, String)| {
        let kind = if linked.contains_key(&name) {
            Use::Linked
        } else {
            Use::Build
        };
        ((name, kind), chain)
    };
    chains("normal,build", target)
        .into_iter()
        .map(with_use)
        .collect()
}

fn differences(target: &str, found: &BTreeMap<(String, Use), String>) -> String {
    let listed = listed(target);
    let mut text = String::new();
    for ((name, kind), chain) in found.iter().filter(|(entry, _)| !listed.contains(entry)) {
        writeln!(text, "+ {name} ({kind:?}) on {target}, by {chain}").unwrap();
    }
    for (name, kind) in listed.iter().filter(|entry| !found.contains_key(entry)) {
        writeln!(text, "- {name} ({kind:?}) on {target}").unwrap();
    }
    text
}

#[test]
fn the_hooks_are_made_of_what_the_list_names() {
    let mut changes = String::new();
    for target in TARGETS {
        let found = found(target);
        for kind in [Use::Linked, Use::Build] {
            let names: Vec<&str> = found
                .keys()
                .filter(|(_, of)| *of == kind)
                .map(|(name, _)| name.as_str())
                .collect();
            println!("{target}, {kind:?}: {}", names.join(" "));
        }
        changes += &differences(target, &found);
    }
    assert!(
        changes.is_empty(),
        "the crates of the hook binaries changed:\n{changes}\
         Every hook of every user runs these. If the change is meant, edit {LIST} by hand and say in \
         docs/adr/0002-what-the-hooks-link.md why; if not, take the crate or the feature out again.",
    );
}

//! Dependencies of the repository: origin, licences, and no unsafe code of ours.
//!
//! `deny.toml` alone has the rules. `cargo deny` holds them for every target; these tests need no other tool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{read, toml, top};

/// Output of this cargo, without the network.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(top())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn metadata(options: &[&str]) -> Vec<Value> {
    let arguments = [
        &["metadata", "--locked", "--offline", "--format-version=1"],
        options,
    ]
    .concat();
    let metadata: Value = serde_json::from_str(&cargo(&arguments)).unwrap();
    metadata
        .get("packages")
        .and_then(Value::as_array)
        .unwrap()
        .clone()
}

fn members() -> Vec<Value> {
    metadata(&["--no-deps"])
}

/// Packages built on this machine. Those of other systems may be missing.
fn packages() -> Vec<Value> {
    let version = cargo(&["--version", "--verbose"]);
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    metadata(&["--filter-platform", host])
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field]
        .as_str()
        .unwrap_or_else(|| panic!("no {field} in {value}"))
}

fn texts(value: &Value) -> BTreeSet<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry.as_str().unwrap())
        .collect()
}

/// `true` for a licence expression that the list meets: `OR` leaves a choice, `AND` leaves none.
///
/// A `/` is how old packages write `OR`. An exception (`WITH`) only adds permissions, but it is its own name here.
fn is_met(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let met = is_any_met(&mut words, allowed);
    assert_eq!(
        words.next(),
        None,
        "`{expression}` is no licence expression that this test reads"
    );
    met
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn is_any_met(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut met = are_all_met(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= are_all_met(words, allowed);
    }
    met
}

fn are_all_met(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut met = is_one_met(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= is_one_met(words, allowed);
    }
    met
}

fn is_one_met(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = is_any_met(words, allowed);
        assert_eq!(words.next(), Some(")"), "a parenthesis stays open");
        return met;
    }
    let name = words.next().unwrap();
    match words.next_if_eq(&"WITH") {
        Some(_) => allowed.contains(format!("{name} WITH {}", words.next().unwrap()).as_str()),
        None => allowed.contains(name),
    }
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    for (expression, expected) in [
        ("MIT", true),
        ("ISC", false),
        ("ISC OR MIT", true),
        ("ISC/MIT", true),
        ("MIT AND ISC", false),
        ("(ISC OR MIT) AND Unicode-3.0", true),
        ("MIT OR ISC AND GPL-3.0-only", true),
        ("(MIT OR ISC) AND GPL-3.0-only", false),
        ("MIT WITH LLVM-exception", false),
        ("MIT WITH LLVM-exception OR MIT", true),
    ] {
        assert_eq!(
            is_met(expression, &BTreeSet::from(["MIT", "Unicode-3.0"])),
            expected,
            "{expression}"
        );
    }
}

#[test]
fn every_licence_is_one_that_is_allowed() {
    let deny = toml("deny.toml");
    let packages = packages();
    assert!(
        packages.len() > 60,
        "cargo names only {} packages",
        packages.len()
    );
    for package in packages {
        let name = text(&package, "name");
        let mut allowed = texts(&deny["licenses"]["allow"]);
        for exception in deny["licenses"]["exceptions"].as_array().unwrap() {
            if exception["crate"] == name {
                allowed.extend(texts(&exception["allow"]));
            }
        }
        let licence = text(&package, "license");
        assert!(
            is_met(licence, &allowed),
            "{name} is under `{licence}`, which deny.toml does not allow"
        );
    }
}

#[test]
fn every_package_is_of_this_workspace_or_from_the_registry_with_its_checksum() {
    let (deny, lock) = (toml("deny.toml"), toml("Cargo.lock"));
    let registries = texts(&deny["sources"]["allow-registry"]);
    let members = members();
    let ours: BTreeSet<&str> = members
        .iter()
        .map(|package| text(package, "name"))
        .collect();
    let packages = lock["package"].as_array().unwrap();
    assert!(
        packages.len() > ours.len(),
        "Cargo.lock names only {} packages",
        packages.len()
    );
    for package in packages {
        let name = text(package, "name");
        if package.get("source").is_none() {
            assert!(
                ours.contains(name),
                "{name} comes from a folder outside of the workspace"
            );
            continue;
        }
        let source = text(package, "source");
        let registry = source
            .strip_prefix("registry+")
            .unwrap_or_else(|| panic!("{name} comes from {source}"));
        assert!(
            registries.contains(registry),
            "{name} comes from {registry}, which deny.toml does not allow"
        );
        assert_eq!(
            text(package, "checksum").len(),
            64,
            "{name} has no SHA-256 in Cargo.lock"
        );
    }
}

#[test]
fn only_what_deny_toml_names_is_there_in_two_versions() {
    let (deny, lock) = (toml("deny.toml"), toml("Cargo.lock"));
    let mut versions = BTreeMap::<&str, usize>::new();
    for package in lock["package"].as_array().unwrap() {
        *versions.entry(text(package, "name")).or_default() += 1;
    }
    let twice: BTreeSet<&str> = versions
        .into_iter()
        .filter_map(|(name, count)| (count > 1).then_some(name))
        .collect();
    let skipped = deny["bans"]["skip"].as_array().unwrap();
    let named: BTreeSet<&str> = skipped
        .iter()
        .map(|entry| text(entry, "crate").split('@').next().unwrap())
        .collect();
    assert_eq!(twice, named, "left: in Cargo.lock, right: in deny.toml");
    assert!(skipped.iter().all(|entry| text(entry, "reason").len() > 20));
}

#[test]
fn no_crate_of_ours_can_hold_unsafe_code() {
    assert_eq!(
        toml("Cargo.toml")["workspace"]["lints"]["rust"]["unsafe_code"],
        "forbid"
    );
    for package in members() {
        let path = Path::new(text(&package, "manifest_path"))
            .strip_prefix(top())
            .unwrap()
            .to_owned();
        let manifest = toml(path.to_str().unwrap());
        assert_eq!(
            manifest["lints"]["workspace"],
            true,
            "{} has not the lints of the workspace",
            path.display()
        );
    }
}

#[test]
fn the_pages_name_the_least_rust_version_of_the_workspace() {
    let manifest = toml("Cargo.toml");
    let least = format!(
        "Rust {} or later",
        text(&manifest["workspace"]["package"], "rust-version")
    );
    for page in ["README.md", "docs/guide.md"] {
        let text = read(page);
        let named: Vec<&str> = text
            .match_indices("Rust 1.")
            .map(|(at, _)| &text[at..])
            .collect();
        assert!(
            !named.is_empty() && named.iter().all(|named| named.starts_with(&least)),
            "{page} names not {least}"
        );
    }
}

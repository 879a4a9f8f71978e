//! The kept inputs of every fuzz target without the fuzzer, among them each that broke something once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers fail as a test does"
)]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use omo_fuzz::TARGETS;

const MOST_FILES: usize = 64;
const MOST_BYTES: usize = 160 * 1024;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_kept_input_holds() {
    let mut broken = Vec::new();
    for (name, check) in TARGETS {
        let folder = fuzz().join("corpus").join(name);
        for file in names(&folder) {
            let bytes = fs::read(folder.join(&file)).unwrap();
            if catch_unwind(|| check(&bytes)).is_err() {
                broken.push(format!("{name}/{file}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_target_has_a_corpus_that_is_small_and_worth_something() {
    let expected: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names(&fuzz().join("corpus")), expected);
    for (name, _) in TARGETS {
        let folder = fuzz().join("corpus").join(name);
        let files = names(&folder);
        let bytes: usize = files
            .iter()
            .map(|file| fs::read(folder.join(file)).unwrap().len())
            .sum();
        assert!(
            (10..=MOST_FILES).contains(&files.len()),
            "{name} has {} files",
            files.len()
        );
        assert!(bytes <= MOST_BYTES, "{name} has {bytes} bytes");
    }
}

/// The fuzzer runs all of `TARGETS`, and nothing else.
#[test]
fn every_target_is_handed_to_the_fuzzer() {
    let expected: Vec<String> = TARGETS
        .iter()
        .map(|(name, _)| format!("{name}.rs"))
        .collect();
    assert_eq!(names(&fuzz().join("fuzz_targets")), expected);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let target =
            fs::read_to_string(fuzz().join("fuzz_targets").join(format!("{name}.rs"))).unwrap();
        assert!(
            target.contains(&format!("omo_fuzz::{name}::check(data)")),
            "{name}"
        );
        assert!(
            manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
    }
}

fn locked(file: &str) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(fuzz().join(file)).unwrap();
    let field = |block: &str, name: &str| {
        let value = block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        value.unwrap_or_default().trim_matches('"').to_owned()
    };
    text.split("[[package]]")
        .skip(1)
        .map(|block| (field(block, "name"), field(block, "version")))
        .collect()
}

#[test]
fn the_fuzzer_locks_the_versions_that_the_workspace_locks() {
    let (shipped, fuzzed) = (locked("../Cargo.lock"), locked("Cargo.lock"));
    assert!(fuzzed.iter().any(|(name, _)| name == "serde_json") && shipped.len() > 40);
    let is_shipped = |name: &str| shipped.iter().any(|(known, _)| known == name);
    let other: Vec<_> = fuzzed
        .iter()
        .filter(|package| is_shipped(&package.0) && !shipped.contains(package))
        .collect();
    assert!(
        other.is_empty(),
        "copy Cargo.lock over fuzz/Cargo.lock and build the targets again: {other:?}"
    );
}

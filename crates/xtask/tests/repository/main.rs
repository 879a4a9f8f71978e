//! The rules of the repository, as tests: this file reads it for them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers fail as a test does"
)]

mod circles;
mod features;
mod hook_dependencies;
mod left_out;
mod links;
mod near_sentences;
mod security;
mod size;
#[cfg(unix)]
mod suite;
mod supply_chain;
mod tidy;
mod workflows;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn toml(path: &str) -> Value {
    toml::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file of ours, by its path from the root.
fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = ["crates", "benches", "tests", "fuzz/fuzz_targets"]
        .map(|folder| top().join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path.strip_prefix(top()).unwrap().to_owned());
            }
        }
    }
    assert!(files.len() > 40, "only {} files found", files.len());
    files
}

//! The repository, as its tests read it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The text of a file, by its path from the top.
pub fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

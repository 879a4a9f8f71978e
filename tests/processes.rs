//! The processes of this machine, for tests that look whether one is left.

use std::fs::{self, DirEntry};

/// The folder of each process.
///
/// # Panics
///
/// Where the system has no `/proc`: none would be found, whatever is left.
#[expect(clippy::expect_used, reason = "a test's helper fails as a test does")]
pub fn processes() -> impl Iterator<Item = DirEntry> {
    fs::read_dir("/proc").expect("processes are looked for in /proc").flatten()
}

//! Log of errors in hooks, which are not shown to the user: `hooks.log`, a line for each.

use std::fmt::Display;
use std::path::Path;

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;

use crate::files::folder::GuardedFolder;

pub const FILE: &str = "hooks.log";
/// Size in bytes at which the log is rotated; one old log is kept.
pub const ROTATE_AT: u64 = 128 * 1024;

/// Appends a line to the log in the state folder. Without such a folder, or after a failure,
/// nothing is logged.
pub fn append(root: &Path, now: Timestamp, event: &str, error: &dyn Display) {
    if let Ok(Some(folder)) = GuardedFolder::open_state(root) {
        // `omo doctor` looks for the version in the hook binaries, in one piece.
        let line = format!(
            concat!("{} {} (omo ", env!("CARGO_PKG_VERSION"), "): {}\n"),
            now,
            event,
            sanitize(&error.to_string(), 500)
        );
        let _ = folder.append(FILE, line.as_bytes(), ROTATE_AT);
    }
}

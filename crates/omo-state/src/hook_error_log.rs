//! `hooks.log`: one line for every error that a hook kept from its user.

use std::fmt::Display;
use std::path::Path;

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;

use crate::files::folder::GuardedFolder;

/// The log's name.
pub const FILE: &str = "hooks.log";
/// At this size the log is rotated; one old one is kept.
pub const ROTATE_AT: u64 = 128 * 1024;

/// Appends a line to the log beside the state. Where no state folder is, nothing is made for it:
/// a session that never used omo must find nothing of it in its project. An error of the log itself is
/// dropped: there is no other place to report it.
pub fn append(root: &Path, now: Timestamp, event: &str, error: &dyn Display) {
    if let Ok(Some(folder)) = GuardedFolder::open_state(root) {
        // The version stands in one piece in every hook binary, where `omo doctor` looks for it.
        let line = format!(
            concat!("{} {} (omo ", env!("CARGO_PKG_VERSION"), "): {}\n"),
            now,
            event,
            sanitize(&error.to_string(), 500)
        );
        let _ = folder.append(FILE, line.as_bytes(), ROTATE_AT);
    }
}

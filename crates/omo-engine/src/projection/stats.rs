//! Statistics of ended runs, one line each, in a file of the plugin's data folder.

use std::path::Path;

use omo_state::files::folder::GuardedFolder;

use crate::program_files::ultraexecute_summary::STATS_FILE;

/// Bytes at which the file is moved aside, and another one begun.
const ROTATE_AT: u64 = 16 * 1024 * 1024;

/// Appends to `STATS_FILE` in `folder`. A failure is ignored: statistics hold up no run.
pub(crate) fn append_stats(folder: &Path, line: &str) {
    // A single write: several runs may end at the same time.
    if let Ok(Some(folder)) = GuardedFolder::open_below(folder, &[]) {
        let _ = folder.append(STATS_FILE, line.as_bytes(), ROTATE_AT);
    }
}

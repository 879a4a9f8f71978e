//! The decision log beside the state: one JSON line for every decision, rotated at 1 MiB.

use omo_core::log::LogEntry;

use crate::folder::{Folder, FolderError};

/// The log's name; the rotated one has `.1` after it.
pub const FILE: &str = "decisions.jsonl";
/// At this size the log is rotated.
pub const ROTATE_AT: u64 = 1024 * 1024;

/// Appends a line. Callers hold the lock, so that lines and rotation do not cross.
pub fn append(folder: &Folder, entry: &LogEntry) -> Result<(), FolderError> {
    let mut line = serde_json::to_string(entry).unwrap_or_default();
    line.push('\n');
    folder.append(FILE, line.as_bytes(), ROTATE_AT)
}

/// All lines that can be read, the rotated ones first. A half-written or foreign line is passed
/// over.
pub fn read(folder: &Folder) -> Result<Vec<LogEntry>, FolderError> {
    let mut entries = Vec::new();
    for name in [format!("{FILE}.1"), FILE.to_owned()] {
        // A line may be appended to a log that is about to be rotated.
        if let Some(bytes) = folder.read(&name, ROTATE_AT * 2)? {
            entries.extend(parse(&bytes));
        }
    }
    Ok(entries)
}

/// The lines of a piece of the log.
pub fn parse(bytes: &[u8]) -> impl Iterator<Item = LogEntry> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The last decision about one session.
pub fn last(folder: &Folder, id: &str) -> Result<Option<LogEntry>, FolderError> {
    Ok(read(folder)?.into_iter().rfind(|entry| entry.session == id))
}

//! The decision log beside the state: a JSON line for each decision, rotated at 1 MiB.

use std::collections::BTreeMap;

use memchr::memmem;
use omo_core::log_entry::LogEntry;
use omo_core::timestamp::Timestamp;

use crate::files::folder::{FolderError, GuardedFolder};

/// Name of the log; the rotated one is `decisions.jsonl.1`.
pub const FILE: &str = "decisions.jsonl";
pub const ROTATE_AT: u64 = 1024 * 1024;
const MAX_BYTES: u64 = ROTATE_AT * 2;

/// Appends a line. Callers hold the lock of the state, so that no other process rotates the log.
pub fn append(folder: &GuardedFolder, entry: &LogEntry) -> Result<(), FolderError> {
    let mut line = serde_json::to_string(entry).unwrap_or_default();
    line.push('\n');
    folder.append(FILE, line.as_bytes(), ROTATE_AT)
}

/// All entries, the rotated ones first; half-written and foreign lines are skipped.
pub fn read_all(folder: &GuardedFolder) -> Result<Vec<LogEntry>, FolderError> {
    Ok(DecisionLogReader::default()
        .read_on(folder)?
        .entries()
        .collect())
}

#[derive(Debug, Default)]
pub struct LogLines([Vec<u8>; 2]);

impl LogLines {
    /// Entries of the lines, parsed one at a time to save memory.
    pub fn entries(&self) -> impl Iterator<Item = LogEntry> {
        self.0.iter().flat_map(|bytes| parse(bytes))
    }
}

#[derive(Debug, Default)]
pub struct DecisionLogReader {
    offset: Option<u64>,
}

impl DecisionLogReader {
    /// The lines since the last call; all lines on the first call and after a rotation.
    pub fn read_on(&mut self, folder: &GuardedFolder) -> Result<LogLines, FolderError> {
        let rotated = match self.offset {
            None => folder
                .read(&format!("{FILE}.1"), MAX_BYTES)?
                .unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        let (start, mut bytes) = folder
            .read_from(FILE, self.offset.unwrap_or(0), MAX_BYTES)?
            .unwrap_or_default();
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
        self.offset = Some(start + bytes.len() as u64);
        Ok(LogLines([rotated, bytes]))
    }
}

fn parse(bytes: &[u8]) -> impl Iterator<Item = LogEntry> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
}

/// Decisions about one session from `since` on, oldest first: the last ones whose lines fit into
/// `max_bytes`.
///
/// # Errors
///
/// The log cannot be read.
pub fn read_since(
    folder: &GuardedFolder,
    id: &str,
    since: Timestamp,
    max_bytes: usize,
) -> Result<Vec<LogEntry>, FolderError> {
    let (mut entries, mut remaining) = (Vec::new(), Some(max_bytes));
    for name in [FILE.to_owned(), format!("{FILE}.1")] {
        let bytes = folder.read(&name, MAX_BYTES)?.unwrap_or_default();
        // Lines of other sessions, which may be most, are not parsed.
        for line in bytes
            .rsplit(|byte| *byte == b'\n')
            .filter(|line| memmem::find(line, id.as_bytes()).is_some())
        {
            let entry = serde_json::from_slice(line).ok();
            let Some(entry) =
                entry.filter(|entry: &LogEntry| entry.session == id && entry.at >= since)
            else {
                continue;
            };
            remaining = remaining.and_then(|remaining| remaining.checked_sub(line.len()));
            if remaining.is_some() {
                entries.push(entry);
            }
        }
    }
    entries.reverse();
    Ok(entries)
}

/// The last decision about each session, by its id; one file of the log is in memory at a time.
///
/// # Errors
///
/// The log cannot be read.
pub fn last_decisions(folder: &GuardedFolder) -> Result<BTreeMap<String, LogEntry>, FolderError> {
    let mut last = BTreeMap::new();
    for name in [format!("{FILE}.1"), FILE.to_owned()] {
        let bytes = folder.read(&name, MAX_BYTES)?.unwrap_or_default();
        last.extend(parse(&bytes).map(|entry| (entry.session.clone(), entry)));
    }
    Ok(last)
}

pub fn last_decision(folder: &GuardedFolder, id: &str) -> Result<Option<LogEntry>, FolderError> {
    Ok(last_decisions(folder)?.remove(id))
}

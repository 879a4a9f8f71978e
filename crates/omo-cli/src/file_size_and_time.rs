//! `FileSizeAndTime`: a sign of change of a file, without reading the content.

use std::path::Path;
use std::time::SystemTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSizeAndTime {
    bytes: u64,
    written_at: Option<SystemTime>,
}

impl FileSizeAndTime {
    /// `None` for a missing file.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let found = file.symlink_metadata().ok()?;
        Some(Self {
            bytes: found.len(),
            written_at: found.modified().ok(),
        })
    }
}

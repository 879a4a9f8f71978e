//! What tells whether a file has changed, without reading it.

use std::path::Path;
use std::time::SystemTime;

/// How long a file is, and when it was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    bytes: u64,
    written_at: Option<SystemTime>,
}

impl FileStamp {
    /// That of a file; `None` where there is none.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let found = file.symlink_metadata().ok()?;
        Some(Self { bytes: found.len(), written_at: found.modified().ok() })
    }
}

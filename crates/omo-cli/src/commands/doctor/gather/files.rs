//! The tail of a file that any program may have written.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use omo_state::files::regular_file;

/// At most the last `limit` bytes; `None` without a regular file.
pub(super) fn read_tail(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut file = regular_file::open(path).ok()??;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(limit)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

//! Opening a file that is not omo's own: the user's configuration, the client's transcript.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

/// Opens a regular file for reading; `None` where something else has that name. Links are the
/// owner's affair and are followed; a FIFO makes nobody wait, and a terminal does not become ours.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?);
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Reads a file of at most `limit` bytes; `None` where there is none, and in words what is wrong
/// with one that cannot be read.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let file = match open(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Err("is no regular file".to_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than {limit} bytes"));
    }
    Ok(Some(bytes))
}

//! Opens and reads files that others write: the user's configuration, transcripts, git's files.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

pub use crate::platform::Links;
use crate::platform::{Opened, open_for_reading};

/// Opens a file, also through a link; `None` for a folder or FIFO, on which it does not block.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    Ok(match open_for_reading(path, Links::Followed)? {
        Opened::File(file) => Some(file),
        Opened::Link | Opened::Other => None,
    })
}

/// [`open`], but `None` for a link.
pub fn open_unlinked(path: &Path) -> io::Result<Option<File>> {
    Ok(match open_for_reading(path, Links::Refused)? {
        Opened::File(file) => Some(file),
        Opened::Link | Opened::Other => None,
    })
}

/// Up to `limit` bytes from the start of a file; empty for an unreadable one.
pub fn read_beginning(path: &Path, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(Some(file)) = open(path) {
        let _ = file.take(limit).read_to_end(&mut bytes);
    }
    bytes
}

/// Content of a file of at most `limit` bytes; the error tells why it cannot be read.
pub fn read(path: &Path, limit: u64, links: Links) -> Result<Option<Vec<u8>>, String> {
    let file = match open_for_reading(path, links) {
        Ok(Opened::File(file)) => file,
        Ok(Opened::Other) => return Err("is not a regular file".to_owned()),
        Ok(Opened::Link) => return Err("is a symbolic link, which omo does not follow".to_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than {limit} bytes"));
    }
    Ok(Some(bytes))
}

//! Opening a file that is not omo's own: the user's configuration, the client's transcript, what
//! git keeps.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

/// What becomes of a symbolic link in the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// It is its owner's affair, and is followed.
    Followed,
    /// It is in a repository, whose author must not have omo read the files of its user.
    Refused,
}

/// Opens a regular file for reading; `None` where something else has that name. Links are
/// followed; a FIFO makes nobody wait, and a terminal does not become ours.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    open_with(path, OFlags::empty())
}

fn open_with(path: &Path, more: OFlags) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(retry_on_intr(|| rustix::fs::open(path, flags | more, Mode::empty()))?);
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Reads a file of at most `limit` bytes; `None` where there is none, and in words what is wrong
/// with one that cannot be read.
pub(crate) fn read(path: &Path, limit: u64, links: Links) -> Result<Option<Vec<u8>>, String> {
    let more = if links == Links::Followed { OFlags::empty() } else { OFlags::NOFOLLOW };
    let file = match open_with(path, more) {
        Ok(Some(file)) => file,
        Ok(None) => return Err("is no regular file".to_owned()),
        Err(error) if links == Links::Refused && is_link(&error) => {
            return Err("is a symbolic link, which omo does not follow".to_owned());
        }
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

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

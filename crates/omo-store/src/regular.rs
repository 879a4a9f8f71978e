//! Opening a file that is not omo's own: the user's configuration, the client's transcript.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file for reading; `None` where something else has that name. Links are the
/// owner's affair and are followed; a FIFO makes nobody wait, and a terminal does not become ours.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    Ok(file.metadata()?.is_file().then_some(file))
}

//! Windows: `stdin` read by a thread, since a read from a pipe cannot have a timeout.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsHandle;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

pub(crate) const MANAGED_SETTINGS: &str = r"C:\Program Files\ClaudeCode";

const CHUNK: usize = 4 * 1024;

pub(crate) struct WindowsStdin {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// Bytes that came and were not asked for yet.
    rest: Vec<u8>,
}

impl WindowsStdin {
    /// Starts the reading thread, which ends with the process.
    pub(crate) fn open() -> Self {
        // At most one piece ahead: a sender that never ends must not fill the memory.
        let (sender, pieces) = sync_channel(1);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut chunk = vec![0; CHUNK];
                let piece = stdin.read(&mut chunk).map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                let is_last = piece.as_ref().map_or(true, Vec::is_empty);
                if sender.send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        Self {
            pieces,
            rest: Vec::new(),
        }
    }

    /// Reads into `chunk` what comes within `left`; `None` for nothing, 0 at the end.
    pub(crate) fn read(&mut self, chunk: &mut [u8], left: Duration) -> io::Result<Option<usize>> {
        if self.rest.is_empty() {
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.rest = piece?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Ok(Some(0)),
            }
        }
        let length = (&*self.rest).read(chunk)?;
        self.rest.drain(..length);
        Ok(Some(length))
    }
}

pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    File::from(io::stdout().as_handle().try_clone_to_owned()?).write_all(bytes)
}

//! Reading one JSON value from stdin, whether or not the client ever closes it.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::json_end::JsonEnd;

/// After this long without a whole value the hook gives up.
const DEADLINE: Duration = Duration::from_millis(1_000);
/// A larger input is none of the client's.
const MAX_BYTES: usize = 8 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;

/// Why there is no value.
#[derive(Debug, thiserror::Error)]
pub enum StdinError {
    /// The stream ended, or nothing more came, before the value did.
    #[error("stdin held no whole JSON value")]
    Incomplete,
    /// It is too large.
    #[error("stdin held more than {MAX_BYTES} bytes")]
    TooLarge,
    /// The system refused.
    #[error("read stdin: {0}")]
    Io(#[from] io::Error),
}

/// Reads up to the end of the first JSON value.
pub fn read_json() -> Result<Vec<u8>, StdinError> {
    let start = Instant::now();
    let mut stdin = io::stdin().lock();
    let mut end = JsonEnd::default();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        wait(&stdin, DEADLINE.saturating_sub(start.elapsed()))?;
        let read = match stdin.read(&mut chunk) {
            Ok(0) => return Err(StdinError::Incomplete),
            Ok(read) => chunk.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        match end.follow(read) {
            Some(length) => {
                bytes.extend_from_slice(read.get(..length).unwrap_or_default());
                return Ok(bytes);
            }
            None => bytes.extend_from_slice(read),
        }
        if bytes.len() > MAX_BYTES {
            return Err(StdinError::TooLarge);
        }
    }
}

/// Waits until something can be read, or the end has come.
fn wait(stdin: &impl AsFd, left: Duration) -> Result<(), StdinError> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
    let timeout = if left >= Duration::from_secs(1) { Timespec { tv_sec: 1, tv_nsec: 0 } } else { timeout };
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(0) => Err(StdinError::Incomplete),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(io::Error::from(errno).into()),
    }
}

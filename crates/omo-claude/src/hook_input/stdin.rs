//! Reads one JSON value from `stdin`, even if the client never closes it.

use std::io;
use std::time::{Duration, Instant};

use crate::hook_input::json_end::JsonEndFinder;
use crate::platform::Stdin;

const DEADLINE: Duration = Duration::from_secs(1);
/// A thousand times what a client sends; a larger input would be in memory several times over.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Most inputs are shorter than a page of memory; a larger buffer would touch more of them.
const CHUNK: usize = 4 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum StdinError {
    /// The stream ended, or the deadline passed, before the value did.
    #[error("stdin held no whole JSON value")]
    Incomplete,
    #[error("stdin held more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("read stdin: {0}")]
    Io(#[from] io::Error),
}

/// Bytes of one JSON object or list from `stdin`, unparsed; it must arrive within a second.
pub fn read_json() -> Result<Vec<u8>, StdinError> {
    let start = Instant::now();
    let mut stdin = Stdin::open();
    let mut end = JsonEndFinder::default();
    let mut bytes = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        let left = DEADLINE.saturating_sub(start.elapsed());
        // Cuts off a sender that never ends, too.
        if left.is_zero() {
            return Err(StdinError::Incomplete);
        }
        let read = match stdin.read(&mut chunk, left) {
            Ok(None | Some(0)) => return Err(StdinError::Incomplete),
            Ok(Some(read)) => chunk.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let length = end.feed(read);
        let kept = read.get(..length.unwrap_or(read.len())).unwrap_or_default();
        // Before the bytes are kept: they may double what is held.
        if bytes.len() + kept.len() > MAX_BYTES {
            return Err(StdinError::TooLarge);
        }
        // Under a memory limit this is an error, and not the end of the process.
        bytes
            .try_reserve(kept.len())
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        bytes.extend_from_slice(kept);
        if length.is_some() {
            return Ok(bytes);
        }
    }
}

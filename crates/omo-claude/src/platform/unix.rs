//! Linux and macOS: unbuffered `stdin` with a timeout, and unbuffered `stdout`.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

pub(crate) const MANAGED_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

pub(crate) struct UnixStdin(io::Stdin);

impl UnixStdin {
    pub(crate) fn open() -> Self {
        // Unbuffered: the buffer of the standard library would be one more page to touch.
        Self(io::stdin())
    }

    /// Reads into `chunk` what comes within `left`, at most a second; `None` for nothing, 0 at the
    /// end.
    pub(crate) fn read(&mut self, chunk: &mut [u8], left: Duration) -> io::Result<Option<usize>> {
        // Less than a second, in nanoseconds.
        let nanos = left
            .subsec_nanos()
            .max(u32::from(left.as_secs() > 0) * 999_999_999);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: nanos.into(),
        };
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return Ok(None),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(Some(rustix::io::read(&self.0, chunk)?))
    }
}

pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(io::stdout(), rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // A non-blocking `stdout`: the hook waits for room, since half an answer would be none.
            Err(Errno::AGAIN) if can_take_more() => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// `false` where `stdout` takes nothing more within a second.
fn can_take_more() -> bool {
    let timeout = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let stdout = io::stdout();
    matches!(
        poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], Some(&timeout)),
        Ok(1) | Err(Errno::INTR)
    )
}

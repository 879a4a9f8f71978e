//! The one lock around the state: taken within a deadline, or not at all.
//!
//! Behind this file stands fs2 (docs/adr/0003): `flock` on Unix, `LockFileEx` on Windows. The
//! system gives the lock back when its holder dies, so no lock is ever stale.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use crate::files::folder::{FolderError, GuardedFolder};

/// Maximum wait of a hook for the lock. A hook that does not get it lets the session be.
pub const DEADLINE: Duration = Duration::from_millis(250);

/// Longest pause between two tries of a hook; [`COMMAND_PAUSE`] is a command's.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest pause between two tries of a command. The system gives a free lock to the process that
/// asks next, so that beside twenty hooks a command that asks as seldom as they do may fail to get it for
/// seconds; and a person who ends a run goes before the hooks that hold it.
const COMMAND_PAUSE: Duration = Duration::from_micros(100);

/// File of the lock of the state.
pub const NAME: &str = "runtime.lock";

/// Failure to take a lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Held by another process all the time.
    #[error("the lock of the state was held by another process for {0:?}")]
    Busy(Duration),
    /// The file system cannot lock, or refuses to.
    #[error("lock the state: {0}")]
    Io(#[from] io::Error),
    /// The lock's own file is not to be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// The lock; dropping it gives it back.
#[derive(Debug)]
pub struct StateLock {
    file: File,
}

impl Drop for StateLock {
    /// Closing the file is not enough: a process that another thread is starting at this moment has it open as well,
    /// until it runs its own program, and would hold the lock for so long.
    fn drop(&mut self) {
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

impl StateLock {
    /// Takes the lock, waiting for at most `deadline`. One longer than [`DEADLINE`] is a command's.
    pub fn take(folder: &GuardedFolder, deadline: Duration) -> Result<Self, LockError> {
        Self::take_named(folder, NAME, deadline)
    }

    /// As [`StateLock::take`], of a lock that has a file of its own: it is for something else than the state.
    pub fn take_named(
        folder: &GuardedFolder,
        name: &str,
        deadline: Duration,
    ) -> Result<Self, LockError> {
        let file = folder.open_lock(name)?;
        let start = Instant::now();
        let longest = if deadline > DEADLINE {
            COMMAND_PAUSE
        } else {
            PAUSE
        };
        let mut pause = longest.min(Duration::from_micros(200));
        loop {
            match fs2::FileExt::try_lock_exclusive(&file) {
                Ok(()) => return Ok(Self { file }),
                Err(error) if is_held(&error) && start.elapsed() < deadline => {
                    std::thread::sleep(pause.min(deadline.saturating_sub(start.elapsed())));
                    pause = (pause * 2).min(longest);
                }
                Err(error) if is_held(&error) => return Err(LockError::Busy(deadline)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_held(error: &io::Error) -> bool {
    error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_not_had_and_a_free_one_is() {
        let temp = tempfile::tempdir().unwrap();
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        let held = StateLock::take(&folder, DEADLINE).unwrap();
        let again = StateLock::take(&folder, Duration::from_millis(5));
        assert!(matches!(again, Err(LockError::Busy(_))), "{again:?}");
        drop(held);
        StateLock::take(&folder, DEADLINE).unwrap();
    }
}

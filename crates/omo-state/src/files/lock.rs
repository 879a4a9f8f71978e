//! Lock file of the state, taken within a deadline or not at all: fs2 (docs/adr/0003), with `flock`
//! on Unix and `LockFileEx` on Windows. The system frees the lock of a dead process.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use crate::files::folder::{FolderError, GuardedFolder};

/// Maximum wait of a hook, which does nothing without the lock.
pub const DEADLINE: Duration = Duration::from_millis(250);

const PAUSE: Duration = Duration::from_millis(1);
/// Pause of a command, shorter than that of hooks: a free lock goes to the process that asks next.
const COMMAND_PAUSE: Duration = Duration::from_micros(100);

pub const NAME: &str = "runtime.lock";

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("the lock of the state was held by another process for {0:?}")]
    Busy(Duration),
    #[error("lock the state: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Held lock, released on drop.
#[derive(Debug)]
pub struct StateLock {
    file: File,
}

impl Drop for StateLock {
    /// Unlocks explicitly: a process that another thread starts at this moment has the file open
    /// until it runs its own program.
    fn drop(&mut self) {
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

impl StateLock {
    /// Takes the lock of the state. A `deadline` above [`DEADLINE`] marks a command, which asks
    /// more often.
    pub fn take(folder: &GuardedFolder, deadline: Duration) -> Result<Self, LockError> {
        Self::take_named(folder, NAME, deadline)
    }

    /// Takes a lock with a file of its own, as [`StateLock::take`] does.
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

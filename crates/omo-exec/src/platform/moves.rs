//! Linux: whether a folder was moved meanwhile, which leaves no trace on the files in it.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

/// Watches folders.
pub(crate) struct FolderWatch(OwnedFd);

impl FolderWatch {
    /// Begins; `None` where the system allows no watching. More folders than it allows are left out.
    pub(crate) fn begin(folders: impl Iterator<Item = PathBuf>) -> Option<Self> {
        let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        for folder in folders {
            let _ = add_watch(&watch, folder, WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR);
        }
        Some(Self(watch))
    }

    /// Whether one of them was moved since.
    pub(crate) fn saw_a_move(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 512];
        let mut events = Reader::new(&self.0, &mut buffer);
        loop {
            match events.next() {
                Ok(event) if event.events().intersects(ReadFlags::MOVE_SELF | ReadFlags::QUEUE_OVERFLOW) => {
                    return true;
                }
                // A folder that was removed is watched no more, which is an event as well.
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

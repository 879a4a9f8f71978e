//! Linux: what happens in folders meanwhile, and leaves no trace on the files in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::{PathEvent, path_of};

/// No more paths are noted.
const MAX_TOUCHED: usize = 10_000;

/// Watches folders.
pub(crate) struct FolderWatch {
    watch: OwnedFd,
    /// What is watched, by its number.
    folders: HashMap<i32, PathBuf>,
    seen: RefCell<WatchedChanges>,
}

struct WatchedChanges {
    moved: Option<PathBuf>,
    touched: BTreeMap<PathBuf, PathEvent>,
    is_whole: bool,
}

impl FolderWatch {
    /// Begins; `None` where the system allows no watching. Of the folders `above` it is only told whether they were
    /// moved.
    pub(crate) fn begin(above: impl Iterator<Item = PathBuf>, folders: impl Iterator<Item = PathBuf>) -> Option<Self> {
        let moves = WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        let files = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE;
        let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let mut seen = WatchedChanges { moved: None, touched: BTreeMap::new(), is_whole: true };
        let mut watched = HashMap::new();
        for folder in above {
            watched.extend(add_watch(&watch, &folder, moves).ok().map(|number| (number, folder)));
        }
        for folder in folders {
            match add_watch(&watch, &folder, moves | files | WatchFlags::MOVED_FROM | WatchFlags::ATTRIB) {
                Ok(number) => _ = watched.insert(number, folder),
                Err(Errno::NOENT) => {}
                Err(_) => seen.is_whole = false,
            }
        }
        Some(Self { watch, folders: watched, seen: RefCell::new(seen) })
    }

    /// Takes note of what has happened: the system keeps only so much of it.
    pub(crate) fn look(&self) {
        let seen = &mut *self.seen.borrow_mut();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.watch, &mut buffer);
        while let Ok(event) = events.next() {
            let (what, folder) = (event.events(), self.folders.get(&event.wd()));
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                // Any of them may have been moved.
                seen.is_whole = false;
                seen.moved.get_or_insert_default();
            } else if what.contains(ReadFlags::MOVE_SELF) {
                seen.moved = folder.cloned();
            } else if let (Some(folder), Some(name)) = (folder, event.file_name()) {
                let path = folder.join(path_of(name.to_bytes()));
                if seen.touched.len() == MAX_TOUCHED && !seen.touched.contains_key(&path) {
                    seen.is_whole = false;
                    continue;
                }
                let touched = seen.touched.entry(path).or_default();
                touched.is_new |= what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
                touched.is_folder |= what.contains(ReadFlags::ISDIR);
            }
        }
    }

    /// Which folder was moved since; an empty path where that is not known.
    pub(crate) fn moved(&self) -> Option<PathBuf> {
        self.look();
        self.seen.borrow().moved.clone()
    }

    /// What was written, made or removed since.
    pub(crate) fn touched(&self) -> BTreeMap<PathBuf, PathEvent> {
        self.look();
        self.seen.borrow().touched.clone()
    }

    /// Whether all of them were watched, and nothing was missed.
    pub(crate) fn is_whole(&self) -> bool {
        self.seen.borrow().is_whole
    }
}

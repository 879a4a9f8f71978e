//! Copying files of a tree by their paths into one or two others, with as many threads as it pays: what takes the time is
//! the system, once for each file.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::{BaseError, file_error};
use crate::folder_path::FolderPath;
use crate::platform::OpenedEntry;

/// A thread copies so many files before it takes the next ones.
const FILES_AT_ONCE: usize = 500;
const MAX_THREADS: usize = 8;
/// A file up to this size is read and written: asking the system to copy it takes more calls than that. A larger one shares
/// its blocks with the copy, where the file system can.
const SMALL_FILE: usize = 16 * 1024;
/// How often the caller is asked whether it goes on.
pub(super) const ASK_EVERY: Duration = Duration::from_millis(50);

/// Copies all of these by the same paths, each into the first so many of the other trees, until its caller ends it.
pub(super) fn copy_files(
    (from, to): (&Path, &[&Path]),
    paths: &[(&Path, usize)],
    time: SystemTime,
    mut should_continue: impl FnMut() -> bool,
) -> Result<(), BaseError> {
    let most = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let threads = paths.len().div_ceil(FILES_AT_ONCE).clamp(1, most);
    let (is_ended, taken, caller) = (&AtomicBool::new(false), &AtomicUsize::new(0), &thread::current());
    let copy_some = || {
        let mut copier = FileCopier::open(from, to, time)?;
        while let Some(paths) = paths.chunks(FILES_AT_ONCE).nth(taken.fetch_add(1, Ordering::Relaxed)) {
            for (path, count) in paths {
                if is_ended.load(Ordering::Relaxed) {
                    return Err(BaseError::Cancelled);
                }
                copier.copy(path, *count)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let copiers = (0..threads).map(|_| {
            scope.spawn(|| {
                let copied = copy_some();
                caller.unpark();
                copied
            })
        });
        let copiers: Vec<_> = copiers.collect();
        while !copiers.iter().all(thread::ScopedJoinHandle::is_finished) {
            if !should_continue() {
                is_ended.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(ASK_EVERY);
        }
        let panicked = |_| Err(file_error(from, io::Error::other("a part of the copying panicked")));
        copiers.into_iter().try_for_each(|copier| copier.join().unwrap_or_else(panicked))
    })
}

/// Copies files of one tree into others.
pub(super) struct FileCopier {
    from: FolderPath,
    to: Vec<FolderPath>,
    time: SystemTime,
    buffer: Vec<u8>,
}

impl FileCopier {
    /// One that gives all files the same time.
    pub(super) fn open(from: &Path, to: &[&Path], time: SystemTime) -> Result<Self, BaseError> {
        let to = to.iter().map(|to| FolderPath::open_to_write(to).map_err(|error| file_error(to, error)));
        let to = to.collect::<Result<_, _>>()?;
        let from = FolderPath::open(from).map_err(|error| file_error(from, error))?;
        Ok(Self { from, to, time, buffer: vec![0; SMALL_FILE] })
    }

    /// Copies a file or a link by the same path into the first so many trees. What is not there, or lies behind a link, is
    /// not copied.
    pub(super) fn copy(&mut self, path: &Path, count: usize) -> Result<(), BaseError> {
        self.try_copy(path, count).map_err(|error| file_error(path, error))
    }

    fn try_copy(&mut self, path: &Path, count: usize) -> io::Result<()> {
        let (Some(name), Some(source)) = (path.file_name(), self.from.parent_of(path)?) else { return Ok(()) };
        let (mut file, is_executable, size) = match source.open_entry(name)? {
            OpenedEntry::File { file, is_executable, size } => (file, is_executable, size),
            OpenedEntry::Link(target) => {
                for to in self.to.iter_mut().take(count) {
                    if let Some(folder) = to.parent_of(path)? {
                        folder.link(name, &target)?;
                    }
                }
                return Ok(());
            }
            OpenedEntry::Other => return Ok(()),
        };
        let small = read_small(&mut file, size, &mut self.buffer)?;
        for to in self.to.iter_mut().take(count) {
            let Some(folder) = to.parent_of(path)? else { continue };
            let mut copy = folder.check_out(name, is_executable)?;
            if let Some(content) = small {
                copy.write_all(content)?;
            } else {
                // From its beginning: blocks are shared as a whole.
                file.rewind()?;
                io::copy(&mut file, &mut copy)?;
                // The next one is a copy of this one: they are the same, whatever is written to the file meanwhile.
                file = folder.read(name)?;
            }
            copy.set_modified(self.time)?;
        }
        Ok(())
    }
}

/// What is in a file of this size; `None` where the buffer is too small for it.
fn read_small<'a>(file: &mut File, size: u64, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let wanted = rest.len();
        match file.read(rest) {
            Ok(0) => return Ok(buffer.get(..filled)),
            Ok(count) => {
                filled += count;
                // Less than was asked for, and all that there was: nothing comes after it.
                if count < wanted && filled as u64 == size {
                    return Ok(buffer.get(..filled));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_files_around_the_size_of_a_small_one() {
        let folder = tempfile::tempdir().unwrap();
        let [from, one, other] = ["from", "one", "other"].map(|name| folder.path().join(name));
        for tree in [&from, &one, &other] {
            std::fs::create_dir(tree).unwrap();
        }
        let mut copier = FileCopier::open(&from, &[&one, &other], SystemTime::UNIX_EPOCH).unwrap();
        for size in [0, 1, SMALL_FILE - 1, SMALL_FILE, SMALL_FILE + 1, 3 * SMALL_FILE] {
            let bytes: Vec<u8> = (0..=250).cycle().take(size).collect();
            let name = size.to_string();
            std::fs::write(from.join(&name), &bytes).unwrap();
            copier.copy(Path::new(&name), 2).unwrap();
            for tree in [&one, &other] {
                assert!(std::fs::read(tree.join(&name)).unwrap() == bytes, "{size} bytes");
            }
        }
    }

    #[test]
    fn reads_all_of_a_file_that_grew_since_its_size_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "more than three").unwrap();
        for size in [0, 3, 15, 100] {
            let mut buffer = [0; 100];
            let read = read_small(&mut File::open(&path).unwrap(), size, &mut buffer).unwrap();
            assert_eq!(read, Some(b"more than three".as_slice()), "{size}");
        }
    }
}

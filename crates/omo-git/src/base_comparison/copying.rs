//! Copying files of a tree by their paths, with as many threads as it pays: what takes the time is the system, once for
//! each file.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::folder_path::FolderPath;
use super::{BaseError, file_error, finish, open};
use crate::platform::FolderEntry;

/// A thread has so many files to copy at least.
const FILES_FOR_A_THREAD: usize = 500;
const MAX_THREADS: usize = 8;
/// A file up to this size is read and written: asking the system to copy it takes more calls than that. A larger one shares
/// its blocks with the copy, where the file system can.
const SMALL_FILE: usize = 16 * 1024;
/// How often the caller is asked whether it goes on.
pub(super) const ASK_EVERY: Duration = Duration::from_millis(50);

/// Copies all of these by the same paths, until its caller ends it.
pub(super) fn copy_files(
    from: &Path,
    to: &Path,
    paths: &[&Path],
    time: SystemTime,
    mut should_continue: impl FnMut() -> bool,
) -> Result<(), BaseError> {
    let most = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let threads = paths.len().div_ceil(FILES_FOR_A_THREAD).clamp(1, most);
    let (is_ended, caller) = (&AtomicBool::new(false), &thread::current());
    thread::scope(|scope| {
        let chunks = paths.chunks(paths.len().div_ceil(threads).max(1));
        let copiers = chunks.map(|paths| {
            scope.spawn(move || {
                let copied = copy_some(from, to, paths, time, is_ended);
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
        let panicked = |_| Err(file_error(to, io::Error::other("a part of the copying panicked")));
        copiers.into_iter().try_for_each(|copier| copier.join().unwrap_or_else(panicked))
    })
}

fn copy_some(
    from: &Path,
    to: &Path,
    paths: &[&Path],
    time: SystemTime,
    is_ended: &AtomicBool,
) -> Result<(), BaseError> {
    let (mut from, mut to) = (open(from, false)?, open(to, true)?);
    for path in paths {
        if is_ended.load(Ordering::Relaxed) {
            return Err(BaseError::Cancelled);
        }
        copy(&mut from, &mut to, path, time)?;
    }
    Ok(())
}

/// Copies a file or a link by the same path. What is not there, or lies behind a link, is not copied.
pub(super) fn copy(from: &mut FolderPath, to: &mut FolderPath, path: &Path, time: SystemTime) -> Result<(), BaseError> {
    try_copy(from, to, path, time).map_err(|error| file_error(path, error))
}

fn try_copy(from: &mut FolderPath, to: &mut FolderPath, path: &Path, time: SystemTime) -> io::Result<()> {
    let (Some(name), Some(source)) = (path.file_name(), from.parent_of(path)?) else { return Ok(()) };
    match source.look(name)? {
        FolderEntry::Link(target) => match to.parent_of(path)? {
            Some(folder) => folder.link(name, &target),
            None => Ok(()),
        },
        FolderEntry::File { mode } => {
            let mut file = source.read(name)?;
            let Some(folder) = to.parent_of(path)? else { return Ok(()) };
            let mut written = folder.create(name)?;
            copy_content(&mut file, &mut written)?;
            finish(&written, if mode & 0o111 == 0 { 0o644 } else { 0o755 }, time)
        }
        FolderEntry::Nothing | FolderEntry::Folder | FolderEntry::Other => Ok(()),
    }
}

fn copy_content(from: &mut File, to: &mut File) -> io::Result<()> {
    let mut buffer = [0; SMALL_FILE];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => return to.write_all(buffer.get(..filled).unwrap_or_default()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // From its beginning: blocks are shared as a whole.
    from.rewind()?;
    io::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_files_around_the_size_of_a_small_one() {
        let folder = tempfile::tempdir().unwrap();
        for size in [0, 1, SMALL_FILE - 1, SMALL_FILE, SMALL_FILE + 1, 3 * SMALL_FILE] {
            let bytes: Vec<u8> = (0..=250).cycle().take(size).collect();
            let (from, to) = (folder.path().join("from"), folder.path().join("to"));
            std::fs::write(&from, &bytes).unwrap();
            copy_content(&mut File::open(&from).unwrap(), &mut File::create(&to).unwrap()).unwrap();
            assert!(std::fs::read(&to).unwrap() == bytes, "{size} bytes");
        }
    }
}

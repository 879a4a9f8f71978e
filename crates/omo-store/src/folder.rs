//! The folders that omo keeps files in, and the only ways to touch what is in them: the state
//! folder, `.sisyphus/cc-omo` below a project's root, and the user's own, `omo` below their state.
//!
//! Every step is taken from the folder's own handle (`openat`), never by path, so that nobody can
//! swap a part of the path for a link in between. A link at any level, a file that is no regular
//! one, one that belongs to somebody else, or one that is too large is refused, not followed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use omo_core::timestamp::Timestamp;
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

const PARTS: [&str; 2] = [".sisyphus", "cc-omo"];
const OWN_PARTS: [&str; 1] = ["omo"];
const DIR: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);
/// A FIFO must not make an open wait, and a terminal must not become ours.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// After so many milliseconds a hook that reads has ended, whatever held it up.
const LONGEST_READ_MILLIS: i64 = 2_000;
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Why a file of the folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refused.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is there, and it is not what belongs there.
    #[error("{path} is {what}, which omo does not touch")]
    Refused {
        /// Which path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

/// An open state folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder below `root`; `None` where there is none.
    pub fn open(root: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_parts(root, &PARTS)
    }

    /// Opens the user's own folder below `state_home`; `None` where there is none.
    pub fn open_own(state_home: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_parts(state_home, &OWN_PARTS)
    }

    /// Opens the user's own folder below `state_home`, making it where there is none.
    pub fn create_own(state_home: &Path) -> Result<Self, FolderError> {
        Self::create_own_part(state_home, &OWN_PARTS)
    }

    /// As [`Folder::create_own`], of a folder further down.
    pub fn create_own_part(state_home: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        std::fs::create_dir_all(state_home).map_err(|source| FolderError::Io {
            action: "create",
            path: state_home.to_owned(),
            source,
        })?;
        Self::create_parts(state_home, parts)
    }

    fn open_parts(root: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        match Self::walk(root, parts, |_, _| Ok(())) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            result => result.map(Some),
        }
    }

    /// Opens the folder below `root`, making it where there is none: readable by its owner alone,
    /// and with a `.gitignore` of its own, so that nothing of it shows in `git status`.
    pub fn create(root: &Path) -> Result<Self, FolderError> {
        let folder = Self::create_parts(root, &PARTS)?;
        if matches!(statat(&folder.fd, ".gitignore", AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT)) {
            folder.replace(".gitignore", b"*\n")?;
        }
        Ok(folder)
    }

    fn create_parts(root: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        let folder = Self::walk(root, parts, |parent, part| match mkdirat(parent, part, Mode::RWXU) {
            Err(Errno::EXIST) => Ok(()),
            result => result,
        })?;
        let mode = fstat(&folder.fd).map(|stat| Mode::from_raw_mode(stat.st_mode));
        if mode.is_ok_and(|mode| mode != Mode::RWXU) {
            // Somebody else made it, or loosened it. Where it cannot be tightened it serves as it is.
            let _ = rustix::fs::fchmod(&folder.fd, Mode::RWXU);
        }
        Ok(folder)
    }

    fn walk(
        root: &Path,
        parts: &[&str],
        prepare: impl Fn(&OwnedFd, &str) -> rustix::io::Result<()>,
    ) -> Result<Self, FolderError> {
        let top = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let mut fd = retry_on_intr(|| rustix::fs::open(root, top, Mode::empty()))
            .map_err(|errno| io_error("open", root, errno))?;
        let mut path = root.to_owned();
        for part in parts {
            path.push(part);
            prepare(&fd, part).map_err(|errno| io_error("create", &path, errno))?;
            fd = retry_on_intr(|| openat(&fd, *part, DIR, Mode::empty())).map_err(|errno| match errno {
                Errno::LOOP | Errno::NOTDIR => refused(&path, "a link or no folder"),
                errno => io_error("open", &path, errno),
            })?;
        }
        let folder = Self { fd, path };
        let stat = fstat(&folder.fd).map_err(|errno| io_error("look at", &folder.path, errno))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused(&folder.path, "somebody else's"));
        }
        Ok(folder)
    }

    /// Where it is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file of at most `limit` bytes; `None` where there is none.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FolderError> {
        Ok(self.read_from(name, 0, limit)?.map(|(_, bytes)| bytes))
    }

    /// As [`Folder::read`], from `offset` on, and tells where what was read begins: a file that is
    /// shorter than that was replaced, and is read from its start.
    pub fn read_from(&self, name: &str, offset: u64, limit: u64) -> Result<Option<(u64, Vec<u8>)>, FolderError> {
        let mut file = match self.open_file(name, OFlags::RDONLY, Mode::empty()) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result?,
        };
        let size = self.check(name, &file)?;
        if size > limit {
            return Err(refused(&self.path.join(name), "too large"));
        }
        let start = if offset <= size { offset } else { 0 };
        let failed = |source| FolderError::Io { action: "read", path: self.path.join(name), source };
        let mut bytes = Vec::new();
        // Where the memory is limited, this is an error and not the end of the process.
        let reserved = bytes.try_reserve_exact(usize::try_from(size - start).unwrap_or(0) + 1);
        reserved.map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        if start > 0 {
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
        }
        // One more than allowed shows that the file grew past the limit while it was read.
        file.take(limit - start + 1).read_to_end(&mut bytes).map_err(failed)?;
        if start + bytes.len() as u64 > limit {
            return Err(refused(&self.path.join(name), "too large"));
        }
        Ok(Some((start, bytes)))
    }

    /// Puts a file in the place of the old one, whole or not at all. The temporary file has one
    /// fixed name: writers hold the lock, and what a killed one left is cleared by the next.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let temporary = format!("{name}.tmp");
        let file = self.create_file(&temporary)?;
        reserve(&file, bytes.len());
        self.put(&temporary, file, &[bytes], || renameat(&self.fd, &temporary, &self.fd, name))
    }

    /// As [`Folder::replace`], with the pieces of a file that is replaced often. The two change their
    /// names: the old one stays as `NAME.old`, and is written over the next time, since making a file
    /// and freeing one cost more than everything else that a hook does (docs/adr/0012).
    ///
    /// Whoever reads without the lock may have opened the old one while it had the name. It is only
    /// written over when it lost that so long before `now` that no hook can still be reading it.
    pub fn exchange(&self, name: &str, pieces: &[&[u8]], now: Timestamp) -> Result<(), FolderError> {
        let old = format!("{name}.old");
        let length = pieces.iter().map(|piece| piece.len()).sum();
        let file = match self.open_unread(&old, name, now) {
            Some((file, size)) if size > length as u64 => {
                self.done("shorten", &old, file.set_len(length as u64))?;
                file
            }
            Some((file, _)) => file,
            None => {
                let file = self.create_file(&old)?;
                reserve(&file, length);
                file
            }
        };
        self.put(&old, file, pieces, || {
            let exchanged = renameat_with(&self.fd, &old, &self.fd, name, RenameFlags::EXCHANGE);
            // There is nothing yet to change names with, or the file system cannot.
            exchanged.or_else(|_| renameat(&self.fd, &old, &self.fd, name))
        })
    }

    /// Opens the file that had a name before the one that has it now, and tells its size; `None` where
    /// there is none of ours, or where somebody may still be reading it.
    fn open_unread(&self, old: &str, name: &str, now: Timestamp) -> Option<(File, u64)> {
        let present = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let since = Timestamp::from_millis(present.st_mtime.checked_mul(1_000)?.checked_add(999)?);
        now.millis_since(since).filter(|millis| *millis > LONGEST_READ_MILLIS)?;
        let file = self.open_file(old, OFlags::WRONLY, Mode::empty()).ok()?;
        let size = self.check(old, &file).ok()?;
        Some((file, size))
    }

    /// Writes a file, and has it take its place. Where either fails it goes.
    fn put(
        &self,
        temporary: &str,
        mut file: File,
        pieces: &[&[u8]],
        place: impl FnOnce() -> rustix::io::Result<()>,
    ) -> Result<(), FolderError> {
        let written = pieces.iter().try_for_each(|piece| file.write_all(piece));
        drop(file);
        let placed = self
            .done("write", temporary, written)
            .and_then(|()| place().map_err(|errno| io_error("put in its place", &self.path.join(temporary), errno)));
        if placed.is_err() {
            // Nothing more can be done when even this fails; the next writer tries again.
            let _ = unlinkat(&self.fd, temporary, AtFlags::empty());
        }
        placed
    }

    fn done<T>(&self, action: &'static str, name: &str, result: io::Result<T>) -> Result<T, FolderError> {
        result.map_err(|source| FolderError::Io { action, path: self.path.join(name), source })
    }

    /// Appends to a file; once it holds `rotate_at` bytes it is moved to `NAME.1` first.
    pub fn append(&self, name: &str, bytes: &[u8], rotate_at: u64) -> Result<(), FolderError> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let mut file = self.open_file(name, flags, PRIVATE)?;
        if self.check(name, &file)? >= rotate_at {
            self.rename(name, &format!("{name}.1"))?;
            file = self.open_file(name, flags, PRIVATE)?;
            self.check(name, &file)?;
        }
        file.write_all(bytes).map_err(|source| FolderError::Io {
            action: "append to",
            path: self.path.join(name),
            source,
        })
    }

    /// Makes a new file in the place of the old one, for somebody else to write to. The old one
    /// lives on for whoever still writes to that.
    pub fn create_file(&self, name: &str) -> Result<File, FolderError> {
        self.remove(name)?;
        self.open_file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, PRIVATE)
    }

    /// Makes an empty folder in the place of whatever has that name. A link goes, and what it points
    /// at stays as it is.
    pub fn renew_folder(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        match unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTDIR) => self.remove(name)?,
            Err(_) => std::fs::remove_dir_all(&path).map_err(|source| FolderError::Io {
                action: "remove",
                path: path.clone(),
                source,
            })?,
        }
        mkdirat(&self.fd, name, Mode::RWXU).map_err(|errno| io_error("create", &path, errno))
    }

    /// Opens a file for locking, making it where there is none. It is never written or removed.
    pub fn open_lock(&self, name: &str) -> Result<File, FolderError> {
        let file = self.open_file(name, OFlags::RDWR | OFlags::CREATE, PRIVATE)?;
        self.check(name, &file)?;
        Ok(file)
    }

    /// Gives a file another name, over whatever has that name.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FolderError> {
        renameat(&self.fd, from, &self.fd, to).map_err(|errno| io_error("rename", &self.path.join(from), errno))
    }

    /// Removes a file; one that is not there is no error.
    pub fn remove(&self, name: &str) -> Result<(), FolderError> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(io_error("remove", &self.path.join(name), errno)),
        }
    }

    /// The names of the files whose name begins so, sorted.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>, FolderError> {
        let fail = |errno| io_error("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in retry_on_intr(|| rustix::fs::Dir::read_from(&self.fd)).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            match entry.file_name().to_str() {
                Ok(name) if name.starts_with(prefix) => names.push(name.to_owned()),
                _ => {}
            }
        }
        names.sort();
        Ok(names)
    }

    fn open_file(&self, name: &str, flags: OFlags, mode: Mode) -> Result<File, FolderError> {
        let path = || self.path.join(name);
        match retry_on_intr(|| openat(&self.fd, name, FILE | flags, mode)) {
            Ok(fd) => Ok(File::from(fd)),
            Err(Errno::LOOP) => Err(refused(&path(), "a symbolic link")),
            Err(Errno::ISDIR) => Err(refused(&path(), "a folder")),
            Err(Errno::NXIO) => Err(refused(&path(), "no regular file")),
            Err(errno) => Err(io_error("open", &path(), errno)),
        }
    }

    /// Checks that an open file is one that omo made, and tells its size.
    fn check(&self, name: &str, file: &File) -> Result<u64, FolderError> {
        let path = || self.path.join(name);
        let stat = fstat(file).map_err(|errno| io_error("look at", &path(), errno))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(refused(&path(), "no regular file"));
        }
        // A second name may lie outside the folder, where an append would write as well.
        if stat.st_nlink > 1 {
            return Err(refused(&path(), "a hard link"));
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused(&path(), "somebody else's"));
        }
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }
}

/// Has the blocks of a new file allocated before they are written. ext4 otherwise writes them out
/// within the rename, which costs as much as everything else that a hook does (docs/adr/0006). A
/// file system that cannot do it does without.
fn reserve(file: &File, length: usize) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length as u64);
    #[cfg(not(target_os = "linux"))]
    let _ = (file, length);
}

fn io_error(action: &'static str, path: &Path, errno: Errno) -> FolderError {
    FolderError::Io { action, path: path.to_owned(), source: errno.into() }
}

fn refused(path: &Path, what: &'static str) -> FolderError {
    FolderError::Refused { path: path.to_owned(), what }
}

//! The folders that omo keeps files in, and the only ways to touch what is in them: the state
//! folder, `.sisyphus/cc-omo` below a project's root, and the user's own, `omo` below their state.
//!
//! Every step is taken from the folder's own handle (`platform`), so that no other process can swap a
//! part of the path for a link in between. A link at any level, a file that is no regular one, one that
//! belongs to another user, or one that is too large is refused, not followed.

mod durable;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use omo_core::timestamp::Timestamp;

use crate::platform::{self, Directory, Purpose, Trouble};

const STATE_PARTS: [&str; 2] = [".sisyphus", "cc-omo"];
const USER_PARTS: [&str; 1] = ["omo"];
/// Maximum duration of a hook that reads, in milliseconds.
const LONGEST_READ_MILLIS: i64 = 2_000;

/// Failure of an access to a folder or a file in it.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refused.
    #[error("{action} {path}: {source}")]
    Io {
        /// Action, such as `read`.
        action: &'static str,
        /// Path of the action.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Something else in the place of a file or folder.
    #[error("{path} is {what}, which omo does not touch")]
    Refused {
        /// Path.
        path: PathBuf,
        /// Kind of what was found, such as a link.
        what: &'static str,
    },
}

/// An open folder whose files are reached through its handle.
#[derive(Debug)]
pub struct GuardedFolder {
    directory: Directory,
    path: PathBuf,
}

/// The folder that keeps the state of a project from being written: the state folder, or the nearest one above it where
/// there is none. `None` where it can be written, and where there is no such project.
pub fn unwritable_folder(root: &Path) -> Option<PathBuf> {
    let folder = STATE_PARTS
        .iter()
        .fold(root.to_owned(), |folder, part| folder.join(part));
    let nearest = folder.ancestors().find(|folder| folder.is_dir())?;
    (nearest.starts_with(root) && !platform::may_write(nearest)).then(|| nearest.to_owned())
}

impl GuardedFolder {
    /// Opens the folder below `root`; `None` where there is none.
    pub fn open_state(root: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_parts(root, &STATE_PARTS)
    }

    /// Opens the user's own folder below `state_home`; `None` where there is none.
    pub fn open_user(state_home: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_user_part(state_home, &USER_PARTS)
    }

    /// As [`GuardedFolder::open_user`], of a folder further down.
    pub fn open_user_part(state_home: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        Self::open_parts(state_home, parts)
    }

    /// Opens the user's own folder below `state_home`, making it where there is none.
    pub fn create_user(state_home: &Path) -> Result<Self, FolderError> {
        Self::create_user_part(state_home, &USER_PARTS)
    }

    /// As [`GuardedFolder::create_user`], of a folder further down.
    pub fn create_user_part(state_home: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        std::fs::create_dir_all(state_home).map_err(|source| FolderError::Io {
            action: "create",
            path: state_home.to_owned(),
            source,
        })?;
        Self::create_parts(state_home, parts)
    }

    /// Opens a folder that lies below `top` in folders of these names; `None` where there is none. Links on
    /// the way to `top` are its user's affair, and below it they are refused.
    pub fn open_below(top: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        Self::open_parts(top, parts)
    }

    /// As [`GuardedFolder::open_below`], making each of them where there is none, the last one for its owner
    /// alone. `top` itself has to be there.
    pub fn create_below(top: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        Self::create_parts(top, parts)
    }

    fn open_parts(root: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        match Self::walk(root, parts, |_, _| Ok(())) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// Opens the folder below `root`, making it where there is none: readable by its owner alone,
    /// and with a `.gitignore` of its own, so that nothing of it shows in `git status`.
    pub fn create_state(root: &Path) -> Result<Self, FolderError> {
        let folder = Self::create_parts(root, &STATE_PARTS)?;
        if folder.directory.lacks(".gitignore") {
            folder.replace(".gitignore", b"*\n")?;
        }
        Ok(folder)
    }

    fn create_parts(root: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        let folder = Self::walk(root, parts, |parent, part| match parent.make(part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        })?;
        folder.directory.make_private();
        Ok(folder)
    }

    fn walk(
        root: &Path,
        parts: &[&str],
        prepare: impl Fn(&Directory, &str) -> io::Result<()>,
    ) -> Result<Self, FolderError> {
        let mut directory = Directory::top(root).map_err(|error| io_error("open", root, error))?;
        let mut path = root.to_owned();
        for part in parts {
            path.push(part);
            prepare(&directory, part).map_err(|error| io_error("create", &path, error))?;
            directory = directory
                .inner(part)
                .map_err(|trouble| troubled("open", &path, trouble))?;
        }
        Self { directory, path }.require_ours()
    }

    fn require_ours(self) -> Result<Self, FolderError> {
        match self.directory.is_ours() {
            Ok(true) => Ok(self),
            Ok(false) => Err(refused(&self.path, "not yours")),
            Err(error) => Err(io_error("look at", &self.path, error)),
        }
    }

    pub(crate) fn project(&self) -> &Path {
        self.path
            .ancestors()
            .nth(STATE_PARTS.len())
            .unwrap_or(&self.path)
    }

    /// Path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Content of a file of at most `limit` bytes; `None` without one.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FolderError> {
        Ok(self.read_from(name, 0, limit)?.map(|(_, bytes)| bytes))
    }

    /// As [`GuardedFolder::read`], from `offset` on, and tells where what was read begins: a file that is
    /// shorter than that was replaced, and is read from its start.
    pub fn read_from(
        &self,
        name: &str,
        offset: u64,
        limit: u64,
    ) -> Result<Option<(u64, Vec<u8>)>, FolderError> {
        let Some((file, size)) = self.open_to_read(name)? else {
            return Ok(None);
        };
        if size > limit {
            return Err(refused(&self.path.join(name), "too large"));
        }
        let start = if offset <= size { offset } else { 0 };
        // One more than allowed shows that the file grew past the limit while it was read.
        let bytes = self.read_span(name, file, start..size, limit - start + 1)?;
        if start + bytes.len() as u64 > limit {
            return Err(refused(&self.path.join(name), "too large"));
        }
        Ok(Some((start, bytes)))
    }

    /// The last `most` bytes of a file, however large it is; `None` where there is none.
    pub fn read_end(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, FolderError> {
        let Some((file, size)) = self.open_to_read(name)? else {
            return Ok(None);
        };
        let start = size.saturating_sub(most);
        self.read_span(name, file, start..size, size - start)
            .map(Some)
    }

    fn open_to_read(&self, name: &str) -> Result<Option<(File, u64)>, FolderError> {
        let file = match self.open_file(name, Purpose::Read) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            result => result?,
        };
        let size = self.check(name, &file)?;
        Ok(Some((file, size)))
    }

    /// Up to `most` bytes from the start of `span`, the expected extent of the file.
    fn read_span(
        &self,
        name: &str,
        mut file: File,
        span: Range<u64>,
        most: u64,
    ) -> Result<Vec<u8>, FolderError> {
        let failed = |source| FolderError::Io {
            action: "read",
            path: self.path.join(name),
            source,
        };
        let mut bytes = Vec::new();
        // Under a memory limit, this is an error and not the end of the process.
        let reserved =
            bytes.try_reserve_exact(usize::try_from(span.end - span.start).unwrap_or(0) + 1);
        reserved.map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        if span.start > 0 {
            file.seek(SeekFrom::Start(span.start)).map_err(failed)?;
        }
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Puts a file in the place of the old one, whole or not at all. The temporary file has one
    /// fixed name: writers hold the lock, and what a killed one left is cleared by the next.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let temporary = format!("{name}.tmp");
        let file = self.create_file(&temporary)?;
        platform::reserve(&file, bytes.len());
        self.write_and_place(&temporary, file, &[bytes], || {
            self.directory.rename(&temporary, name)
        })
    }

    /// As [`GuardedFolder::replace`], with the pieces of a file that is replaced often. The two change their
    /// names: the old one stays as `NAME.old`, and is written over the next time, since making a file
    /// and freeing one cost more than everything else that a hook does (docs/adr/0012).
    ///
    /// A process that reads without the lock may have opened the old one while it had the name. The old
    /// one is only written over when it lost the name so long before `now` that no hook can still be
    /// reading it.
    pub(crate) fn exchange(
        &self,
        name: &str,
        pieces: &[&[u8]],
        now: Timestamp,
    ) -> Result<(), FolderError> {
        let old = format!("{name}.old");
        let length = pieces.iter().map(|piece| piece.len()).sum();
        let file = match self.open_unread(&old, name, now) {
            Some((file, size)) if size > length as u64 => {
                self.with_path("shorten", &old, file.set_len(length as u64))?;
                file
            }
            Some((file, _)) => file,
            None => {
                let file = self.create_file(&old)?;
                platform::reserve(&file, length);
                file
            }
        };
        self.write_and_place(&old, file, pieces, || self.directory.exchange(&old, name))
    }

    /// Opens the file that had a name before the one that has it now, and tells its size; `None` where
    /// there is none of ours, or where another process may still be reading it.
    fn open_unread(&self, old: &str, name: &str, now: Timestamp) -> Option<(File, u64)> {
        let written = self.directory.written_at(name)?;
        let since = Timestamp::from_millis(written.checked_mul(1_000)?.checked_add(999)?);
        now.millis_since(since)
            .filter(|millis| *millis > LONGEST_READ_MILLIS)?;
        let file = self.open_file(old, Purpose::Overwrite).ok()?;
        let size = self.check(old, &file).ok()?;
        Some((file, size))
    }

    fn write_and_place(
        &self,
        temporary: &str,
        mut file: File,
        pieces: &[&[u8]],
        place: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let written = pieces.iter().try_for_each(|piece| file.write_all(piece));
        drop(file);
        let placed = self
            .with_path("write", temporary, written)
            .and_then(|()| self.with_path("put in its place", temporary, place()));
        if placed.is_err() {
            // Nothing more can be done when even this fails; the next writer tries again.
            let _ = self.directory.remove(temporary);
        }
        placed
    }

    fn with_path<T>(
        &self,
        action: &'static str,
        name: &str,
        result: io::Result<T>,
    ) -> Result<T, FolderError> {
        result.map_err(|source| FolderError::Io {
            action,
            path: self.path.join(name),
            source,
        })
    }

    /// Appends to a file; once it holds `rotate_at` bytes it is moved to `NAME.1` first.
    pub fn append(&self, name: &str, bytes: &[u8], rotate_at: u64) -> Result<(), FolderError> {
        let mut file = self.open_file(name, Purpose::Append)?;
        if self.check(name, &file)? >= rotate_at {
            self.rename(name, &format!("{name}.1"))?;
            file = self.open_file(name, Purpose::Append)?;
            self.check(name, &file)?;
        }
        file.write_all(bytes).map_err(|source| FolderError::Io {
            action: "append to",
            path: self.path.join(name),
            source,
        })
    }

    /// Makes a new file in the place of the old one, for the caller to write to. A process that still
    /// writes to the old one keeps that.
    pub fn create_file(&self, name: &str) -> Result<File, FolderError> {
        self.remove(name)?;
        self.open_file(name, Purpose::New)
    }

    /// Makes an empty folder in the place of whatever has that name. A link goes, and what it points
    /// at stays as it is.
    pub fn empty_folder(&self, name: &str) -> Result<(), FolderError> {
        self.remove_folder(name)?;
        self.with_path("create", name, self.directory.make(name))
    }

    /// As [`GuardedFolder::empty_folder`], and opens it.
    pub fn empty_and_open(&self, name: &str) -> Result<Self, FolderError> {
        self.empty_folder(name)?;
        self.opened(name)
    }

    /// Opens a folder in this one; `None` where there is none.
    pub fn open_folder(&self, name: &str) -> Result<Option<Self>, FolderError> {
        match self.opened(name) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// As [`GuardedFolder::open_folder`], with the rights that the folder has.
    pub fn open_inner(&self, name: &str) -> Result<Option<Self>, FolderError> {
        match self.inner(name) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            inner => inner?.require_ours().map(Some),
        }
    }

    /// The folder of this name in this one, made where there is none, for its owner alone.
    pub fn create_folder(&self, name: &str) -> Result<Self, FolderError> {
        match self.directory.make(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => self.with_path("create", name, made)?,
        }
        self.opened(name)?.require_ours()
    }

    fn opened(&self, name: &str) -> Result<Self, FolderError> {
        let folder = self.inner(name)?;
        folder.directory.make_private();
        Ok(folder)
    }

    fn inner(&self, name: &str) -> Result<Self, FolderError> {
        let path = self.path.join(name);
        let directory = self
            .directory
            .inner(name)
            .map_err(|trouble| troubled("open", &path, trouble))?;
        Ok(Self { directory, path })
    }

    /// Removes a folder with all that is in it; one that is not there is no error. A link goes, and
    /// what it points at stays as it is.
    pub fn remove_folder(&self, name: &str) -> Result<(), FolderError> {
        match self
            .directory
            .remove_folder(name)
            .map_err(|error| error.kind())
        {
            Ok(()) | Err(io::ErrorKind::NotFound) => Ok(()),
            Err(io::ErrorKind::NotADirectory) => self.remove(name),
            Err(_) => self.with_path(
                "remove",
                name,
                std::fs::remove_dir_all(self.path.join(name)),
            ),
        }
    }

    /// Opens a file for locking, making it where there is none. It is never written or removed.
    pub(crate) fn open_lock(&self, name: &str) -> Result<File, FolderError> {
        let file = self.open_file(name, Purpose::Lock)?;
        self.check(name, &file)?;
        Ok(file)
    }

    /// Gives a file another name, over whatever has that name.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FolderError> {
        self.with_path("rename", from, self.directory.rename(from, to))
    }

    /// Removes a file; one that is not there is no error.
    pub fn remove(&self, name: &str) -> Result<(), FolderError> {
        match self.directory.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => self.with_path("remove", name, removed),
        }
    }

    /// The names of the files whose name begins so, sorted.
    pub fn file_names(&self, prefix: &str) -> Result<Vec<String>, FolderError> {
        let mut names = self
            .directory
            .names()
            .map_err(|error| io_error("list", &self.path, error))?;
        names.retain(|name| name.starts_with(prefix));
        names.sort();
        Ok(names)
    }

    /// Moment of the last write, in seconds since 1970; `None` where unknown.
    pub fn written_at(&self, name: &str) -> Option<i64> {
        self.directory.written_at(name)
    }

    fn open_file(&self, name: &str, purpose: Purpose) -> Result<File, FolderError> {
        self.directory
            .open(name, purpose)
            .map_err(|trouble| troubled("open", &self.path.join(name), trouble))
    }

    fn check(&self, name: &str, file: &File) -> Result<u64, FolderError> {
        platform::check(file).map_err(|trouble| troubled("look at", &self.path.join(name), trouble))
    }
}

fn troubled(action: &'static str, path: &Path, trouble: Trouble) -> FolderError {
    match trouble {
        Trouble::System(source) => io_error(action, path, source),
        Trouble::Refused(what) => refused(path, what),
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> FolderError {
    FolderError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

fn refused(path: &Path, what: &'static str) -> FolderError {
    FolderError::Refused {
        path: path.to_owned(),
        what,
    }
}

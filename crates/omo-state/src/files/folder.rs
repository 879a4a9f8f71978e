//! `GuardedFolder`: a folder of omo's files, and the only ways to touch them. The state folder is
//! `.sisyphus/cc-omo` below a project's root, and the user's own is `omo` below their state home.
//!
//! Each part of a path is opened from its parent's handle (`platform`): no other process can swap
//! it. A link at any level, an irregular, foreign or too large file is refused.

mod durable;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use omo_core::timestamp::Timestamp;

use crate::platform::{self, Directory, Purpose, Trouble};

const STATE_PARTS: [&str; 2] = [".sisyphus", "cc-omo"];
const USER_PARTS: [&str; 1] = ["omo"];
const LONGEST_READ_MILLIS: i64 = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{action} {path}: {source}")]
    Io {
        /// Verb, such as `read`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{path} is {what}, which omo does not touch")]
    Refused { path: PathBuf, what: &'static str },
}

#[derive(Debug)]
pub struct GuardedFolder {
    directory: Directory,
    path: PathBuf,
}

/// The state folder, or the nearest one above it, if it cannot be written.
pub fn unwritable_folder(root: &Path) -> Option<PathBuf> {
    let folder = STATE_PARTS
        .iter()
        .fold(root.to_owned(), |folder, part| folder.join(part));
    let nearest = folder.ancestors().find(|folder| folder.is_dir())?;
    (nearest.starts_with(root) && !platform::may_write(nearest)).then(|| nearest.to_owned())
}

impl GuardedFolder {
    /// The state folder below `root`, if it exists.
    pub fn open_state(root: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_below(root, &STATE_PARTS)
    }

    /// The user's own folder below `state_home`, if it exists.
    pub fn open_user(state_home: &Path) -> Result<Option<Self>, FolderError> {
        Self::open_user_part(state_home, &USER_PARTS)
    }

    /// [`GuardedFolder::open_user`] of a folder further down.
    pub fn open_user_part(state_home: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        Self::open_below(state_home, parts)
    }

    /// [`GuardedFolder::open_user`], made where missing.
    pub fn create_user(state_home: &Path) -> Result<Self, FolderError> {
        Self::create_user_part(state_home, &USER_PARTS)
    }

    /// [`GuardedFolder::create_user`] of a folder further down.
    pub fn create_user_part(state_home: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        std::fs::create_dir_all(state_home).map_err(|source| FolderError::Io {
            action: "create",
            path: state_home.to_owned(),
            source,
        })?;
        Self::create_below(state_home, parts)
    }

    /// A folder below `top`, if it exists. Links are refused below `top`, not on the way to it.
    pub fn open_below(top: &Path, parts: &[&str]) -> Result<Option<Self>, FolderError> {
        match Self::walk(top, parts, |_, _| Ok(())) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// The state folder, made where missing: readable by its owner alone, with a `.gitignore`.
    pub fn create_state(root: &Path) -> Result<Self, FolderError> {
        let folder = Self::create_below(root, &STATE_PARTS)?;
        if folder.directory.lacks(".gitignore") {
            folder.replace(".gitignore", b"*\n")?;
        }
        Ok(folder)
    }

    /// [`GuardedFolder::open_below`], made where missing; `top` must exist.
    pub fn create_below(top: &Path, parts: &[&str]) -> Result<Self, FolderError> {
        let folder = Self::walk(top, parts, |parent, part| match parent.make(part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        })?;
        folder.directory.make_private();
        Ok(folder)
    }

    fn walk(
        top: &Path,
        parts: &[&str],
        prepare: impl Fn(&Directory, &str) -> io::Result<()>,
    ) -> Result<Self, FolderError> {
        let mut directory = Directory::top(top).map_err(|error| io_error("open", top, error))?;
        let mut path = top.to_owned();
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// At most `limit` bytes; `None` without a file.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FolderError> {
        Ok(self.read_from(name, 0, limit)?.map(|(_, bytes)| bytes))
    }

    /// [`GuardedFolder::read`] from `offset` on, or from the start of a file that was replaced.
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
        // One byte more shows that the file grew past the limit.
        let bytes = self.read_span(name, file, start..size, limit - start + 1)?;
        if start + bytes.len() as u64 > limit {
            return Err(refused(&self.path.join(name), "too large"));
        }
        Ok(Some((start, bytes)))
    }

    pub fn read_end(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FolderError> {
        let Some((file, size)) = self.open_to_read(name)? else {
            return Ok(None);
        };
        let start = size.saturating_sub(limit);
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

    /// Up to `limit` bytes from the start of `span`, the expected extent of the file.
    fn read_span(
        &self,
        name: &str,
        mut file: File,
        span: Range<u64>,
        limit: u64,
    ) -> Result<Vec<u8>, FolderError> {
        read_bytes(&mut file, span, limit).map_err(|source| FolderError::Io {
            action: "read",
            path: self.path.join(name),
            source,
        })
    }

    /// Writes a file whole or not at all. The temporary file has a fixed name: the next writer clears it.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let temporary = format!("{name}.tmp");
        let file = self.create_file(&temporary)?;
        platform::reserve(&file, bytes.len());
        self.write_and_place(&temporary, file, &[bytes], || {
            self.directory.rename(&temporary, name)
        })
    }

    /// [`GuardedFolder::replace`] with the pieces of a file that is replaced often: `NAME.old` is
    /// written over and exchanges names with `NAME`, since making and freeing a file cost more than
    /// the rest of a hook (docs/adr/0012).
    ///
    /// A reader without the lock may still have `NAME.old` open: it is only written over when it
    /// lost the name so long before `now` that no hook can be reading it.
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

    /// `NAME.old`, to be written over; `None` for a foreign file, or one that may still be read.
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
            // The next writer tries again.
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

    /// Appends to a file, which is moved to `NAME.1` first once it holds `rotate_at` bytes.
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

    /// Makes a new file in the place of an old one; a process that has the old one open keeps that.
    pub fn create_file(&self, name: &str) -> Result<File, FolderError> {
        self.remove(name)?;
        self.open_file(name, Purpose::New)
    }

    /// Makes an empty folder in the place of anything of that name; of a link only the link goes.
    pub fn empty_folder(&self, name: &str) -> Result<(), FolderError> {
        self.remove_folder(name)?;
        self.with_path("create", name, self.directory.make(name))
    }

    /// [`GuardedFolder::empty_folder`], opened.
    pub fn empty_and_open(&self, name: &str) -> Result<Self, FolderError> {
        self.empty_folder(name)?;
        self.open_private(name)
    }

    /// `None` without a folder of this name.
    pub fn open_folder(&self, name: &str) -> Result<Option<Self>, FolderError> {
        match self.open_private(name) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// [`GuardedFolder::open_folder`] that leaves the folder's rights alone; a foreign one is refused.
    pub fn open_inner(&self, name: &str) -> Result<Option<Self>, FolderError> {
        match self.inner(name) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            inner => inner?.require_ours().map(Some),
        }
    }

    /// A folder in this one, made where missing, for its owner alone.
    pub fn create_folder(&self, name: &str) -> Result<Self, FolderError> {
        match self.directory.make(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => self.with_path("create", name, made)?,
        }
        self.open_private(name)?.require_ours()
    }

    fn open_private(&self, name: &str) -> Result<Self, FolderError> {
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

    /// Removes a folder with its content, if it exists; of a link only the link goes.
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

    /// A lock file, made where missing, never written or removed.
    pub(crate) fn open_lock(&self, name: &str) -> Result<File, FolderError> {
        let file = self.open_file(name, Purpose::Lock)?;
        self.check(name, &file)?;
        Ok(file)
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<(), FolderError> {
        self.with_path("rename", from, self.directory.rename(from, to))
    }

    pub fn remove(&self, name: &str) -> Result<(), FolderError> {
        match self.directory.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => self.with_path("remove", name, removed),
        }
    }

    /// Sorted names of files that begin with `prefix`.
    pub fn file_names(&self, prefix: &str) -> Result<Vec<String>, FolderError> {
        let mut names = self
            .directory
            .names()
            .map_err(|error| io_error("list", &self.path, error))?;
        names.retain(|name| name.starts_with(prefix));
        names.sort();
        Ok(names)
    }

    /// Time of the last write in seconds since 1970.
    pub fn written_at(&self, name: &str) -> Option<i64> {
        self.directory.written_at(name)
    }

    fn open_file(&self, name: &str, purpose: Purpose) -> Result<File, FolderError> {
        self.directory
            .open(name, purpose)
            .map_err(|trouble| troubled("open", &self.path.join(name), trouble))
    }

    fn check(&self, name: &str, file: &File) -> Result<u64, FolderError> {
        platform::check_regular_file(file)
            .map_err(|trouble| troubled("look at", &self.path.join(name), trouble))
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

fn read_bytes(file: &mut File, span: Range<u64>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Under a memory limit, this is an error and not the end of the process.
    bytes
        .try_reserve_exact(usize::try_from(span.end - span.start).unwrap_or(0) + 1)
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    if span.start > 0 {
        file.seek(SeekFrom::Start(span.start))?;
    }
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! Open folder on Linux and macOS: each step starts from its handle, so no link leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fstat, linkat, mkdirat, openat, readlinkat, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use super::{FolderEntry, OpenedEntry};

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);
const FILE: OFlags = OFlags::CLOEXEC
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW);
const RIGHTS: u32 = 0o7777;

/// Handle of an open folder.
pub(crate) struct UnixOpenFolder(OwnedFd);

impl UnixOpenFolder {
    /// Opens the top of a work tree; links on the way there are the user's affair.
    pub(crate) fn top(path: &Path) -> io::Result<Self> {
        Ok(Self(retry_on_intr(|| {
            rustix::fs::open(path, FOLDER, Mode::empty())
        })?))
    }

    /// Opens a folder within; `None` for anything else, such as a link to a folder.
    pub(crate) fn inner(&self, name: &OsStr) -> io::Result<Option<Self>> {
        match retry_on_intr(|| openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())) {
            Ok(folder) => Ok(Some(Self(folder))),
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(crate) fn look(&self, name: &OsStr) -> io::Result<FolderEntry> {
        let stat = match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(FolderEntry::Nothing),
            Err(errno) => return Err(errno.into()),
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                // Not every system has a mode of the same size.
                let mode = u32::try_from(u64::from(stat.st_mode)).unwrap_or(0) & RIGHTS;
                FolderEntry::File { mode }
            }
            FileType::Directory => FolderEntry::Folder,
            FileType::Symlink => {
                let target = readlinkat(&self.0, name, Vec::new())?;
                FolderEntry::Link(OsString::from_vec(target.into_bytes()))
            }
            _ => FolderEntry::Other,
        })
    }

    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        Ok(File::from(retry_on_intr(|| {
            openat(&self.0, name, FILE | OFlags::RDONLY, Mode::empty())
        })?))
    }

    pub(crate) fn open_entry(&self, name: &OsStr) -> io::Result<OpenedEntry> {
        let file = match retry_on_intr(|| {
            openat(&self.0, name, FILE | OFlags::RDONLY, Mode::empty())
        }) {
            Ok(file) => file,
            Err(Errno::LOOP) => {
                let target = readlinkat(&self.0, name, Vec::new())?;
                return Ok(OpenedEntry::Link(OsString::from_vec(target.into_bytes())));
            }
            // Nothing, or a socket.
            Err(Errno::NOENT | Errno::NXIO | Errno::OPNOTSUPP) => return Ok(OpenedEntry::Other),
            Err(errno) => return Err(errno.into()),
        };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(OpenedEntry::Other);
        }
        let is_executable = stat.st_mode & 0o111 != 0;
        Ok(OpenedEntry::File {
            file: file.into(),
            is_executable,
            size: u64::try_from(stat.st_size).unwrap_or(0),
        })
    }

    /// Creates a file with the permissions of a checkout.
    pub(crate) fn check_out(&self, name: &OsStr, is_executable: bool) -> io::Result<File> {
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(if is_executable { 0o777 } else { 0o666 });
        Ok(File::from(retry_on_intr(|| {
            openat(&self.0, name, flags, mode)
        })?))
    }

    /// Creates a file for its owner alone, until [`UnixOpenFolder::set_mode`].
    pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(retry_on_intr(|| {
            openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)
        })?))
    }

    pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(mode & RIGHTS))
    }

    pub(crate) fn link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }

    pub(crate) fn add_name(&self, name: &OsStr, folder: &Self, new_name: &OsStr) -> io::Result<()> {
        Ok(linkat(
            &self.0,
            name,
            &folder.0,
            new_name,
            AtFlags::empty(),
        )?)
    }

    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(
            &self.0,
            name,
            Mode::RWXU | Mode::RWXG | Mode::RWXO,
        )?)
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in retry_on_intr(|| Dir::read_from(&self.0))? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }
}

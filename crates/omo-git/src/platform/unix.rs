//! Stamps of files on Linux and macOS, with change times that no program can set back.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::FileStamp;

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

pub(crate) fn has_execute_bit(meta: &std::fs::Metadata) -> bool {
    meta.mode() & 0o111 != 0
}

pub(crate) use has_execute_bit as may_be_run;

pub(crate) fn is_of_other_user(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw())
}

pub(crate) fn lies_in(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
}

pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

pub(crate) fn identity(file: &File) -> io::Result<String> {
    let meta = file.metadata()?;
    let (device, inode) = (meta.dev(), meta.ino());
    let time = (
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    );
    Ok(format!("{device}:{inode}:{}:{time:?}", meta.len()))
}

pub(crate) struct UnixTreeTop(OwnedFd);

impl UnixTreeTop {
    /// Opens the top of a work tree; `None` for an unreadable folder.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        rustix::fs::open(path, FOLDER, Mode::empty()).ok().map(Self)
    }

    /// Stamp of a file; `Some(None)` for a missing path.
    #[expect(
        clippy::option_option,
        reason = "that nothing is there says something else than that it cannot be told"
    )]
    pub(crate) fn look(&self, path: &[u8]) -> Option<Option<FileStamp>> {
        let stat = match statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Some(None),
            Err(_) => return None,
        };
        let written = (stat.st_mtime, u32::try_from(stat.st_mtime_nsec).ok()?);
        let changed = (stat.st_ctime, u32::try_from(stat.st_ctime_nsec).ok()?);
        let numbers = [
            stat.st_ino,
            u64::try_from(stat.st_size).ok()?,
            stat.st_mode.into(),
        ];
        Some(Some(FileStamp {
            times: [written, changed],
            numbers,
        }))
    }

    pub(crate) fn folders(&self, folder: &[u8]) -> Option<Vec<Vec<u8>>> {
        let handle = openat(
            &self.0,
            OsStr::from_bytes(folder),
            FOLDER | OFlags::NOFOLLOW,
            Mode::empty(),
        )
        .ok()?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&handle).ok()? {
            let entry = entry.ok()?;
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => {
                    let stat =
                        statat(&handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
                    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
                }
                _ => false,
            };
            let name = entry.file_name().to_bytes();
            if is_folder && !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
        }
        Some(names)
    }
}

//! Folder on Windows, by its path. No link is followed, but one may appear between look and step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::{OpenOptionsExt, symlink_file};
use std::path::{Path, PathBuf};

use super::{FolderEntry, OpenedEntry};

const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Path of a folder that was checked to be no link.
pub(crate) struct WindowsOpenFolder(PathBuf);

impl WindowsOpenFolder {
    /// Opens the top of a work tree; links on the way there are the user's affair.
    pub(crate) fn top(path: &Path) -> io::Result<Self> {
        Ok(Self(path.canonicalize()?))
    }

    /// Opens a folder within; `None` for anything else, such as a link to a folder.
    pub(crate) fn inner(&self, name: &OsStr) -> io::Result<Option<Self>> {
        Ok(matches!(self.look(name)?, FolderEntry::Folder).then(|| Self(self.0.join(name))))
    }

    pub(crate) fn look(&self, name: &OsStr) -> io::Result<FolderEntry> {
        let path = self.0.join(name);
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(FolderEntry::Nothing);
            }
            Err(error) => return Err(error),
        };
        if meta.is_symlink() {
            return Ok(FolderEntry::Link(fs::read_link(path)?.into_os_string()));
        }
        Ok(if meta.is_dir() {
            FolderEntry::Folder
        } else if meta.is_file() {
            FolderEntry::File { mode: 0 }
        } else {
            FolderEntry::Other
        })
    }

    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
            .open(self.0.join(name))
    }

    pub(crate) fn open_entry(&self, name: &OsStr) -> io::Result<OpenedEntry> {
        Ok(match self.look(name)? {
            FolderEntry::Link(target) => OpenedEntry::Link(target),
            FolderEntry::File { .. } => {
                let file = self.read(name)?;
                let size = file.metadata()?.len();
                OpenedEntry::File {
                    file,
                    is_executable: false,
                    size,
                }
            }
            FolderEntry::Nothing | FolderEntry::Folder | FolderEntry::Other => OpenedEntry::Other,
        })
    }

    pub(crate) fn check_out(&self, name: &OsStr, _is_executable: bool) -> io::Result<File> {
        self.create(name)
    }

    pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.0.join(name))
    }

    /// Does nothing: files have no such permissions here.
    #[expect(clippy::unnecessary_wraps, reason = "other systems need it")]
    pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        symlink_file(target, self.0.join(name))
    }

    pub(crate) fn add_name(&self, name: &OsStr, folder: &Self, new_name: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(name), folder.0.join(new_name))
    }

    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?
            .map(|entry| Ok(entry?.file_name()))
            .collect()
    }
}

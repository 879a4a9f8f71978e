//! Opens files of a tree folder by folder, so that no symbolic link leads out of the tree.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use crate::platform::{OpenFolder, path_of};

pub(crate) const LINK: &str = "120000";
pub(crate) const EXECUTABLE: &str = "100755";
pub(crate) const REGULAR: &str = "100644";

/// Open folders from the top of a tree down to the last file, reused for the next one.
pub(crate) struct FolderPath {
    top: OpenFolder,
    open: Vec<(OsString, OpenFolder)>,
    makes: bool,
}

impl FolderPath {
    pub(crate) fn open(top: &Path) -> io::Result<Self> {
        Ok(Self {
            top: OpenFolder::top(top)?,
            open: Vec::new(),
            makes: false,
        })
    }

    pub(crate) fn open_to_write(top: &Path) -> io::Result<Self> {
        Ok(Self::open(top)?.making_folders())
    }

    pub(crate) fn making_folders(self) -> Self {
        Self {
            makes: true,
            ..self
        }
    }

    /// Forgets open folders: another process may have put other ones there.
    pub(crate) fn reopen(&mut self, makes_folders: bool) {
        self.open.clear();
        self.makes = makes_folders;
    }

    /// Folder of a path; `None` where it is missing, or a link.
    pub(crate) fn parent_of(&mut self, path: &Path) -> io::Result<Option<&OpenFolder>> {
        path.parent().map_or(Ok(None), |parent| self.folder(parent))
    }

    pub(crate) fn folder(&mut self, path: &Path) -> io::Result<Option<&OpenFolder>> {
        let names: Vec<OsString> = path
            .components()
            .map(|part| part.as_os_str().to_owned())
            .collect();
        let shared = self
            .open
            .iter()
            .zip(&names)
            .take_while(|((open, _), name)| open == *name)
            .count();
        self.open.truncate(shared);
        for name in names.into_iter().skip(shared) {
            let above = self.open.last().map_or(&self.top, |(_, folder)| folder);
            // Usually it exists.
            if self.makes
                && let Err(error) = above.make(&name)
                && error.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(error);
            }
            let Some(folder) = above.inner(&name)? else {
                return Ok(None);
            };
            self.open.push((name, folder));
        }
        Ok(Some(
            self.open.last().map_or(&self.top, |(_, folder)| folder),
        ))
    }

    pub(crate) fn write(
        &mut self,
        path: &Path,
        mode: &str,
        bytes: &[u8],
        time: Option<SystemTime>,
    ) -> io::Result<bool> {
        let (Some(name), Some(folder)) = (path.file_name(), self.parent_of(path)?) else {
            return Ok(false);
        };
        if mode == LINK {
            return folder.link(name, path_of(bytes).as_os_str()).map(|()| true);
        }
        let mut file = folder.check_out(name, mode == EXECUTABLE)?;
        file.write_all(bytes)?;
        if let Some(time) = time {
            file.set_modified(time)?;
        }
        Ok(true)
    }
}

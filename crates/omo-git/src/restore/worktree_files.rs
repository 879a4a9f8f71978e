//! The files of a work tree as they are looked at and written: from the top's own handle on, links never
//! followed, each file by a temporary one that takes its name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::platform::{FolderEntry, OpenFolder, path_of};
use crate::tree_path::TreePath;

/// What a file is called until it is whole. One that was left by a process that was ended is removed.
pub(super) const TEMPORARY: &str = ".omo-restore.tmp";

/// The files of a work tree.
pub(super) struct WorktreeFiles(OpenFolder);

impl WorktreeFiles {
    /// Those below this folder.
    pub(super) fn open(top: &Path) -> io::Result<Self> {
        Ok(Self(OpenFolder::top(top)?))
    }

    /// What has a path.
    pub(super) fn look(&self, name: &TreePath) -> io::Result<FolderEntry> {
        let Some(folder) = self.folder_of(name)? else { return Ok(FolderEntry::Nothing) };
        folder.as_ref().unwrap_or(&self.0).look(&file_name(name))
    }

    /// Whether a folder is the top of a repository of its own.
    pub(super) fn is_repository(&self, name: &TreePath) -> io::Result<bool> {
        let inner = TreePath([name.0.as_slice(), b"/.git"].concat());
        Ok(self.look(&inner)? != FolderEntry::Nothing)
    }

    /// What stands where a file is to be written: something else than a folder on the way there, or all that a folder with
    /// that name holds, folders left out.
    pub(super) fn obstacles(&self, name: &TreePath) -> io::Result<Vec<TreePath>> {
        let ends = name.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        for parent in ends.filter_map(|end| Some(TreePath(name.0.get(..end)?.to_vec()))) {
            match self.look(&parent)? {
                FolderEntry::Folder => {}
                FolderEntry::Nothing => return Ok(Vec::new()),
                FolderEntry::File { .. } | FolderEntry::Link(_) | FolderEntry::Other => return Ok(vec![parent]),
            }
        }
        let mut found = Vec::new();
        if self.look(name)? == FolderEntry::Folder {
            let within = TreePath([name.0.as_slice(), b"/"].concat());
            if let Some(Some(folder)) = self.folder_of(&within)? {
                list_files(&folder, &within.0, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Opens a file to read it.
    pub(super) fn read(&self, name: &TreePath) -> io::Result<File> {
        let folder = self.folder_of(name)?.ok_or(ErrorKind::NotFound)?;
        folder.as_ref().unwrap_or(&self.0).read(&file_name(name))
    }

    /// Removes a file or a link, and the folders that are empty without it.
    pub(super) fn remove(&self, name: &TreePath) -> io::Result<()> {
        let Some(folder) = self.folder_of(name)? else { return Ok(()) };
        match folder.as_ref().unwrap_or(&self.0).remove(&file_name(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut left = name.0.as_slice();
        while let Some(end) = left.iter().rposition(|byte| *byte == b'/') {
            left = left.get(..end).unwrap_or_default();
            let parent = TreePath(left.to_vec());
            let Some(around) = self.folder_of(&parent)? else { return Ok(()) };
            if around.as_ref().unwrap_or(&self.0).remove_folder(&file_name(&parent)).is_err() {
                // Something else is in it.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Puts a file in its place, whole or not at all; `write` fills it.
    pub(super) fn write_file(
        &self,
        name: &TreePath,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.replace_entry(name, |folder, temporary| {
            let mut file = folder.create(temporary)?;
            write(&mut file)?;
            OpenFolder::set_mode(&file, mode)
        })
    }

    /// Puts a link in its place.
    pub(super) fn write_link(&self, name: &TreePath, target: &OsStr) -> io::Result<()> {
        self.replace_entry(name, |folder, temporary| folder.link(temporary, target))
    }

    fn replace_entry(
        &self,
        name: &TreePath,
        make: impl FnOnce(&OpenFolder, &OsStr) -> io::Result<()>,
    ) -> io::Result<()> {
        let around = self.make_folder_of(name)?;
        let folder = around.as_ref().unwrap_or(&self.0);
        let (temporary, last) = (OsStr::new(TEMPORARY), file_name(name));
        let _ = folder.remove(temporary);
        if folder.look(&last)? == FolderEntry::Folder {
            remove_empty(folder, &last)?;
        }
        let placed = make(folder, temporary).and_then(|()| folder.rename(temporary, &last));
        if placed.is_err() {
            let _ = folder.remove(temporary);
        }
        placed
    }

    /// The folder that a path lies in: the inner `None` is the top itself. The outer one says that there is none.
    #[expect(clippy::option_option, reason = "the top is opened once, and no folder is another answer")]
    fn folder_of(&self, name: &TreePath) -> io::Result<Option<Option<OpenFolder>>> {
        let mut folder: Option<OpenFolder> = None;
        for part in parent_folders(name) {
            let Some(inner) = folder.as_ref().unwrap_or(&self.0).inner(&part)? else { return Ok(None) };
            folder = Some(inner);
        }
        Ok(Some(folder))
    }

    /// As [`Ground::folder_of`], making what is missing.
    fn make_folder_of(&self, name: &TreePath) -> io::Result<Option<OpenFolder>> {
        let mut folder: Option<OpenFolder> = None;
        for part in parent_folders(name) {
            let around = folder.as_ref().unwrap_or(&self.0);
            if around.look(&part)? == FolderEntry::Nothing {
                around.make(&part)?;
            }
            let inner = around.inner(&part)?;
            folder = Some(inner.ok_or_else(|| {
                io::Error::other(format!("{} is in the way, and no folder", Path::new(&part).display()))
            })?);
        }
        Ok(folder)
    }
}

/// The folders that a path lies in, from the top on.
fn parent_folders(name: &TreePath) -> impl Iterator<Item = OsString> {
    let end = name.0.iter().rposition(|byte| *byte == b'/');
    let around = name.0.get(..end.unwrap_or(0)).unwrap_or_default();
    around.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(|part| path_of(part).into_os_string())
}

fn file_name(name: &TreePath) -> OsString {
    path_of(name.0.rsplit(|byte| *byte == b'/').next().unwrap_or_default()).into_os_string()
}

/// Lists all that is in a folder, however deep, but for folders. `prefix` is the path of the folder with a `/` behind it.
fn list_files(folder: &OpenFolder, prefix: &[u8], found: &mut Vec<TreePath>) -> io::Result<()> {
    for name in folder.names()? {
        let path = [prefix, name.as_encoded_bytes()].concat();
        match folder.inner(&name)? {
            Some(inner) => list_files(&inner, &[path.as_slice(), b"/"].concat(), found)?,
            None => found.push(TreePath(path)),
        }
    }
    Ok(())
}

/// Removes a folder in which there is nothing but folders.
fn remove_empty(around: &OpenFolder, name: &OsStr) -> io::Result<()> {
    let Some(folder) = around.inner(name)? else { return Ok(()) };
    for inner in folder.names()? {
        if folder.look(&inner)? != FolderEntry::Folder {
            return Err(io::Error::other("a folder with other files is in the way"));
        }
        remove_empty(&folder, &inner)?;
    }
    around.remove_folder(name)
}

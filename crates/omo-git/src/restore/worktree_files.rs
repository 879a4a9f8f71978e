//! Access to the files of a work tree through folder handles: no link is followed, and files are replaced atomically.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::folder_path::FolderPath;
use crate::platform::{FolderEntry, OpenFolder, path_of};
use crate::tree_path::TreePath;

/// Name of a file before its rename; a killed process's leftover is removed.
pub(super) const TEMPORARY: &str = ".omo-restore.tmp";

pub(super) struct WorktreeFiles(RefCell<FolderPath>);

impl WorktreeFiles {
    pub(super) fn open(top: &Path) -> io::Result<Self> {
        Ok(Self(RefCell::new(FolderPath::open(top)?)))
    }

    /// Result of `act` on the parent folder of `path`, opened anew, and the file's name; `None` without that folder.
    fn at<T>(
        &self,
        path: &Path,
        makes_folders: bool,
        act: impl FnOnce(&OpenFolder, &OsStr) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let mut tree = self.0.borrow_mut();
        tree.reopen(makes_folders);
        let place = path.file_name().zip(tree.parent_of(path)?);
        place.map(|(name, folder)| act(folder, name)).transpose()
    }

    pub(super) fn look(&self, name: &TreePath) -> io::Result<FolderEntry> {
        Ok(self
            .at(&path_of(&name.0), false, OpenFolder::look)?
            .unwrap_or(FolderEntry::Nothing))
    }

    pub(super) fn is_repository(&self, name: &TreePath) -> io::Result<bool> {
        let inner = TreePath([name.0.as_slice(), b"/.git"].concat());
        Ok(self.look(&inner)? != FolderEntry::Nothing)
    }

    /// Obstacles to a file at `name`: a parent that is no folder, or else all files in a folder at `name` itself.
    pub(super) fn obstacles(&self, name: &TreePath) -> io::Result<Vec<TreePath>> {
        let ends = name
            .0
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(end, _)| end);
        for parent in ends.filter_map(|end| Some(TreePath(name.0.get(..end)?.to_vec()))) {
            match self.look(&parent)? {
                FolderEntry::Folder => {}
                FolderEntry::Nothing => return Ok(Vec::new()),
                FolderEntry::File { .. } | FolderEntry::Link(_) | FolderEntry::Other => {
                    return Ok(vec![parent]);
                }
            }
        }
        let mut files = Vec::new();
        if let Some(Some(folder)) = self.at(&path_of(&name.0), false, OpenFolder::inner)? {
            list_files(&folder, &[name.0.as_slice(), b"/"].concat(), &mut files)?;
        }
        Ok(files)
    }

    pub(super) fn read(&self, name: &TreePath) -> io::Result<File> {
        self.at(&path_of(&name.0), false, OpenFolder::read)?
            .ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(super) fn remove(&self, name: &TreePath) -> io::Result<()> {
        let path = path_of(&name.0);
        match self.at(&path, false, OpenFolder::remove) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Parent folders that are empty now go as well.
        for folder in path.ancestors().skip(1) {
            match self.at(folder, false, OpenFolder::remove_folder) {
                Ok(Some(())) => {}
                _ => break,
            }
        }
        Ok(())
    }

    /// Replaces a file atomically; `write` fills the new one.
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

    pub(super) fn write_link(&self, name: &TreePath, target: &OsStr) -> io::Result<()> {
        self.replace_entry(name, |folder, temporary| folder.link(temporary, target))
    }

    fn replace_entry(
        &self,
        name: &TreePath,
        make: impl FnOnce(&OpenFolder, &OsStr) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = OsStr::new(TEMPORARY);
        let placed = self.at(&path_of(&name.0), true, |folder, last| {
            let _ = folder.remove(temporary);
            if folder.look(last)? == FolderEntry::Folder {
                remove_empty(folder, last)?;
            }
            let placed = make(folder, temporary).and_then(|()| folder.rename(temporary, last));
            if placed.is_err() {
                let _ = folder.remove(temporary);
            }
            placed
        })?;
        if placed.is_some() {
            return Ok(());
        }
        let in_the_way = self
            .obstacles(name)?
            .first()
            .map(|path| path_of(&path.0))
            .unwrap_or_default();
        let shown = Path::new(in_the_way.file_name().unwrap_or_default()).display();
        Err(io::Error::other(format!(
            "{shown} is in the way, and no folder"
        )))
    }
}

/// Adds all files and links below a folder, at any depth; `prefix` is the folder's path with a `/` at the end.
fn list_files(folder: &OpenFolder, prefix: &[u8], files: &mut Vec<TreePath>) -> io::Result<()> {
    for name in folder.names()? {
        let path = [prefix, name.as_encoded_bytes()].concat();
        match folder.inner(&name)? {
            Some(inner) => list_files(&inner, &[path.as_slice(), b"/"].concat(), files)?,
            None => files.push(TreePath(path)),
        }
    }
    Ok(())
}

fn remove_empty(around: &OpenFolder, name: &OsStr) -> io::Result<()> {
    let Some(folder) = around.inner(name)? else {
        return Ok(());
    };
    for inner in folder.names()? {
        if folder.look(&inner)? != FolderEntry::Folder {
            return Err(io::Error::other("a folder with other files is in the way"));
        }
        remove_empty(&folder, &inner)?;
    }
    around.remove_folder(name)
}

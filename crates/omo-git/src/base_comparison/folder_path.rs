//! The folders on the way to a file, each opened from the one above it, so that no link leads out of a tree.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::platform::OpenFolder;

/// A tree of folders, with those open that the last path led through: the next path mostly leads through them as well.
pub(super) struct FolderPath {
    top: OpenFolder,
    open: Vec<(OsString, OpenFolder)>,
    /// Folders that are not there are made.
    makes: bool,
}

impl FolderPath {
    pub(super) fn new(top: OpenFolder, makes: bool) -> Self {
        Self { top, open: Vec::new(), makes }
    }

    /// The folder that a path lies in; `None` where it is not there, or a link stands in its place.
    pub(super) fn parent_of(&mut self, path: &Path) -> io::Result<Option<&OpenFolder>> {
        let Some(parent) = path.parent() else { return Ok(None) };
        let names: Vec<OsString> = parent.components().map(|part| part.as_os_str().to_owned()).collect();
        let shared = self.open.iter().zip(&names).take_while(|((open, _), name)| open == *name).count();
        self.open.truncate(shared);
        for name in names.into_iter().skip(shared) {
            let above = self.open.last().map_or(&self.top, |(_, folder)| folder);
            if self.makes {
                // There already, as a rule.
                let _ = above.make(&name);
            }
            let Some(folder) = above.inner(&name)? else { return Ok(None) };
            self.open.push((name, folder));
        }
        Ok(Some(self.open.last().map_or(&self.top, |(_, folder)| folder)))
    }
}

//! A folder as it is, to be put back as often as a test needs it.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Everything below one folder.
pub struct Snapshot {
    folder: PathBuf,
    /// By path; parents come before what is in them.
    entries: BTreeMap<PathBuf, (Option<Vec<u8>>, u32)>,
}

impl Snapshot {
    /// Reads a folder that holds files and folders and nothing else.
    pub fn take(folder: &Path) -> Result<Self> {
        let mut entries = BTreeMap::new();
        read(folder, &mut entries)?;
        Ok(Self {
            folder: folder.to_owned(),
            entries,
        })
    }

    /// Puts the folder back to what it was. A file that is as it was keeps its times.
    pub fn restore(&self) -> Result<()> {
        self.clear(&self.folder)?;
        for (path, (bytes, mode)) in &self.entries {
            let is_mode = fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() == *mode);
            if is_mode
                && bytes
                    .as_ref()
                    .is_none_or(|bytes| fs::read(path).is_ok_and(|now| now == *bytes))
            {
                continue;
            }
            match bytes {
                Some(bytes) => fs::write(path, bytes),
                None => fs::create_dir_all(path),
            }
            .with_context(|| format!("put {} back", path.display()))?;
            fs::set_permissions(path, Permissions::from_mode(*mode))?;
        }
        Ok(())
    }

    /// Removes what was not in a folder. Folders that were there stay: one that is made anew is another repository.
    fn clear(&self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let kind = path.symlink_metadata()?.file_type();
            match self.entries.get(&path) {
                Some((None, _)) if kind.is_dir() => self.clear(&path),
                Some((Some(_), _)) if kind.is_file() => Ok(()),
                _ if kind.is_dir() => {
                    fs::remove_dir_all(&path).with_context(|| format!("remove {}", path.display()))
                }
                _ => fs::remove_file(&path).with_context(|| format!("remove {}", path.display())),
            }?;
        }
        Ok(())
    }

    /// The paths of the files in it, from its own path on.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self
            .entries
            .iter()
            .filter(|(_, (bytes, _))| bytes.is_some());
        files.filter_map(|(path, _)| path.strip_prefix(&self.folder).ok())
    }
}

fn read(folder: &Path, entries: &mut BTreeMap<PathBuf, (Option<Vec<u8>>, u32)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let meta = path.symlink_metadata()?;
        let bytes = if meta.is_dir() {
            None
        } else {
            Some(fs::read(&path)?)
        };
        entries.insert(path.clone(), (bytes, meta.permissions().mode()));
        if meta.is_dir() {
            read(&path, entries)?;
        }
    }
    Ok(())
}

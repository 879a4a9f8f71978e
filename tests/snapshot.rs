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
        Ok(Self { folder: folder.to_owned(), entries })
    }

    /// Puts the folder back to what it was.
    pub fn restore(&self) -> Result<()> {
        self.clear(&self.folder)?;
        for (path, (bytes, mode)) in &self.entries {
            match bytes {
                Some(bytes) => fs::write(path, bytes),
                None => fs::create_dir_all(path),
            }
            .with_context(|| format!("put {} back", path.display()))?;
            fs::set_permissions(path, Permissions::from_mode(*mode))?;
        }
        Ok(())
    }

    /// Removes what is in a folder. Folders that were there stay: one that is made anew is another repository.
    fn clear(&self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let was_folder = matches!(self.entries.get(&path), Some((None, _)));
            match path.symlink_metadata()?.is_dir() {
                true if was_folder => {
                    self.clear(&path)?;
                    continue;
                }
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            }
            .with_context(|| format!("remove {}", path.display()))?;
        }
        Ok(())
    }

    /// The paths of the files in it, from its own path on.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.entries.iter().filter(|(_, (bytes, _))| bytes.is_some());
        files.filter_map(|(path, _)| path.strip_prefix(&self.folder).ok())
    }
}

fn read(folder: &Path, entries: &mut BTreeMap<PathBuf, (Option<Vec<u8>>, u32)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let meta = path.symlink_metadata()?;
        let bytes = if meta.is_dir() { None } else { Some(fs::read(&path)?) };
        entries.insert(path.clone(), (bytes, meta.permissions().mode()));
        if meta.is_dir() {
            read(&path, entries)?;
        }
    }
    Ok(())
}

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
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.with_context(|| format!("remove {}", path.display()))?;
        }
        for (path, (bytes, mode)) in &self.entries {
            match bytes {
                Some(bytes) => fs::write(path, bytes),
                None => fs::create_dir(path),
            }
            .with_context(|| format!("put {} back", path.display()))?;
            fs::set_permissions(path, Permissions::from_mode(*mode))?;
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

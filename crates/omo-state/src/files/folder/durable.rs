//! Folder operations that return once their change is safely on disk (`fsync`).

use std::io::{Seek, SeekFrom, Write};

use super::{FolderError, GuardedFolder, io_error, refused};
use crate::platform::Purpose;

impl GuardedFolder {
    /// Appends to a file of `size` bytes, or leaves it as it was. The caller holds the lock.
    pub fn append_durably(&self, name: &str, size: u64, bytes: &[u8]) -> Result<(), FolderError> {
        let mut file = self.open_file(name, Purpose::Overwrite)?;
        if self.check(name, &file)? != size {
            return Err(refused(
                &self.path.join(name),
                "longer or shorter than a moment ago",
            ));
        }
        let position = self.with_path("append to", name, file.seek(SeekFrom::Start(size)))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        if written.is_err() {
            // A leftover of even this is known by its missing end.
            let _ = file.set_len(position).and_then(|()| file.sync_data());
        }
        self.with_path("append to", name, written)
    }

    pub fn create_durably(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let mut file = self.create_file(name)?;
        self.with_path(
            "write",
            name,
            file.write_all(bytes).and_then(|()| file.sync_all()),
        )
    }

    pub fn truncate_durably(&self, name: &str, size: u64) -> Result<(), FolderError> {
        let file = self.open_file(name, Purpose::Overwrite)?;
        self.check(name, &file)?;
        self.with_path(
            "shorten",
            name,
            file.set_len(size).and_then(|()| file.sync_data()),
        )
    }

    /// Syncs the names in the folder to the disk.
    pub fn sync_names(&self) -> Result<(), FolderError> {
        self.directory
            .sync()
            .map_err(|error| io_error("write", &self.path, error))
    }

    /// `true` for an entry of this name, of whatever kind.
    pub fn contains(&self, name: &str) -> bool {
        !self.directory.lacks(name)
    }
}

//! Store of a run's snapshots in the user's state folder: contents by digest, and manifests.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use omo_state::files::regular_file;
use omo_state::seal::hex_digest;

use super::RestoreError;
use super::manifest::SnapshotManifest;
use crate::private_folder::{OMO, PATIENCE, PrivateFolder, RESTORE, run_name, tree_name};

const MAX_MANIFEST_BYTES: u64 = 512 * 1024 * 1024;
/// Size in bytes from which a second read is avoided.
const LARGE: u64 = 16 * 1024 * 1024;

/// Snapshots of one work tree; no other process takes or restores any of it meanwhile.
pub(crate) struct SnapshotStore {
    private: PrivateFolder,
    new: String,
    index: String,
}

impl SnapshotStore {
    pub(crate) fn open(top: &Path, state_home: &Path, run_id: &str) -> Result<Self, RestoreError> {
        let (run, of_tree) = (run_name(run_id), tree_name(top));
        let lock = format!("{of_tree}.lock");
        let private =
            PrivateFolder::open_shared(state_home, &[OMO, RESTORE, &run], &lock, PATIENCE)?;
        Ok(Self {
            private,
            new: format!("{of_tree}.new"),
            index: format!("{of_tree}.index"),
        })
    }

    /// Stores the bytes of a file; returns their digest.
    pub(super) fn save_file(&self, mut bytes: File) -> Result<String, RestoreError> {
        let failed = RestoreError::io("keep", &self.path(&self.new));
        let size = bytes.metadata().map_err(&failed)?.len();
        // A large file that is new by its size alone is read once.
        if size < LARGE || self.has_size(size) {
            let content = digest_of(&bytes).map_err(&failed)?;
            if self.contains(&content) {
                return Ok(content);
            }
            bytes.rewind().map_err(&failed)?;
        }
        // Another process may write to the file meanwhile: the copy counts.
        let content = copy(
            &mut bytes,
            Some(&mut self.private.folder.create_file(&self.new)?),
        )
        .map_err(&failed)?;
        self.private.folder.rename(&self.new, &content)?;
        Ok(content)
    }

    fn has_size(&self, size: u64) -> bool {
        let kept = fs::read_dir(self.private.folder.path())
            .into_iter()
            .flatten()
            .flatten();
        kept.filter_map(|entry| entry.metadata().ok())
            .any(|kept| kept.len() == size)
    }

    pub(super) fn contains(&self, content: &str) -> bool {
        matches!(regular_file::open(&self.path(content)), Ok(Some(_)))
    }

    /// Handles to write and read a file without a name, which vanishes once they are closed.
    pub(super) fn nameless_file(&self) -> Result<[File; 2], RestoreError> {
        let written = self.private.folder.create_file(&self.new)?;
        let path = self.path(&self.new);
        let opened = regular_file::open(&path)
            .and_then(|read| read.ok_or_else(|| io::ErrorKind::NotFound.into()));
        let read = opened.map_err(RestoreError::io("read", &path))?;
        self.private.folder.remove(&self.new)?;
        Ok([written, read])
    }

    pub(super) fn path(&self, content: &str) -> PathBuf {
        self.private.folder.path().join(content)
    }

    /// Free path for a private index.
    pub(crate) fn fresh_index(&self) -> Result<PathBuf, RestoreError> {
        self.private.folder.remove(&self.index)?;
        self.private
            .folder
            .remove(&format!("{}.lock", self.index))?;
        Ok(self.path(&self.index))
    }

    /// Writes stored bytes to `to`, or fails where they have changed.
    pub(super) fn write_file(&self, content: &str, to: &mut File) -> io::Result<()> {
        let mut kept = regular_file::open(&self.path(content))?.ok_or(io::ErrorKind::NotFound)?;
        if copy(&mut kept, Some(to))? == content {
            return Ok(());
        }
        Err(io::Error::other("what was kept of it has changed"))
    }

    pub(super) fn save_manifest(
        &self,
        manifest: &SnapshotManifest,
    ) -> Result<String, RestoreError> {
        let bytes = serde_json::to_vec(manifest).map_err(|_| lost_manifest())?;
        let id = hex_digest(&bytes);
        self.private.folder.replace(&name_of(&id), &bytes)?;
        Ok(id)
    }

    pub(super) fn load_manifest(&self, id: &str) -> Result<SnapshotManifest, RestoreError> {
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(lost_manifest());
        }
        let bytes = self
            .private
            .folder
            .read(&name_of(id), MAX_MANIFEST_BYTES)?
            .filter(|bytes| hex_digest(bytes) == id);
        serde_json::from_slice(&bytes.ok_or_else(lost_manifest)?).map_err(|_| lost_manifest())
    }
}

fn lost_manifest() -> RestoreError {
    RestoreError::SnapshotGone("the list of files".to_owned())
}

/// Digest of the bytes in hexadecimal digits, as names of stored contents.
pub(crate) fn digest_of(mut bytes: impl Read) -> io::Result<String> {
    copy(&mut bytes, None)
}

/// Copies bytes into an empty file; returns their digest. A run of zeros becomes a hole.
pub(super) fn copy(from: &mut impl Read, mut to: Option<&mut File>) -> io::Result<String> {
    let mut hash = blake3::Hasher::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer)?;
        let piece = buffer.get(..length).unwrap_or_default();
        if piece.is_empty() {
            if let Some(to) = to {
                let length = to.stream_position()?;
                to.set_len(length)?;
            }
            return Ok(hash.finalize().to_hex().to_string());
        }
        hash.update(piece);
        match &mut to {
            Some(to) if piece.iter().all(|byte| *byte == 0) => {
                to.seek_relative(i64::try_from(piece.len()).map_err(io::Error::other)?)?;
            }
            Some(to) => to.write_all(piece)?,
            None => {}
        }
    }
}

fn name_of(id: &str) -> String {
    format!("{id}.json")
}

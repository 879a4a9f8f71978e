//! Cache of the id, list and stamps of a project's files, kept between two looks.

use std::path::{Path, PathBuf};

use omo_state::git_worktree::GitWorktree;
use omo_state::seal::{SealKey, hex_digest};
use serde::{Deserialize, Serialize};

use crate::git_output::parts;
use crate::platform::path_of;
use crate::private_folder::{PATIENCE, PrivateFolder, tree_name};
use crate::scope::text_to_path;
use crate::tree::file_mark;
use crate::work_files::file_stamps;

const FOLDER: [&str; 2] = ["omo", "files"];
const REMEMBERED: &str = "remembered.json";
const PATHS: &str = "paths";
const ENTRIES: &str = "entries";
/// Larger caches are not used, and everything is read each time.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Cached facts about a project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedFiles {
    pub(super) scope: Option<String>,
    pub(super) top: String,
    pub(super) is_repository: bool,
    /// Marks of the repository's index and ignore list.
    pub(super) sources: String,
    pub(super) id: String,
    pub(super) stamps: String,
    /// Digest of the stamps of folders, where these tell every change during the look.
    pub(super) folders: Option<String>,
    /// Paths of files, then of folders, each with NUL behind it.
    #[serde(skip)]
    pub(super) paths: Vec<u8>,
    /// Length of the files in `paths`.
    pub(super) files_bytes: usize,
    pub(super) inner: Vec<String>,
    pub(super) entries: String,
    pub(super) seal: String,
}

pub(super) struct FilesCache {
    pub(super) private: PrivateFolder,
    /// Key for the cache, which lies where others can write.
    key: SealKey,
}

impl FilesCache {
    pub(super) fn open(root: &Path, state_home: &Path) -> Option<Self> {
        let private = PrivateFolder::open(state_home, &FOLDER, &tree_name(root), PATIENCE).ok()?;
        Some(Self {
            private,
            key: SealKey::load(Some(state_home)).ok()?,
        })
    }

    pub(super) fn read(&self) -> Option<CachedFiles> {
        let bytes = self.private.folder.read(REMEMBERED, MAX_BYTES).ok()??;
        let mut remembered: CachedFiles = serde_json::from_slice(&bytes).ok()?;
        remembered.paths = self.private.folder.read(PATHS, MAX_BYTES).ok()??;
        let seal = std::mem::take(&mut remembered.seal);
        self.key
            .is_mac(&remembered.sealed_bytes()?, &seal)
            .then_some(remembered)
    }

    pub(super) fn read_entries(&self, remembered: &CachedFiles) -> Option<Vec<u8>> {
        let bytes = self.private.folder.read(ENTRIES, MAX_BYTES).ok()??;
        (hex_digest(&bytes) == remembered.entries).then_some(bytes)
    }

    pub(super) fn keep(&self, mut remembered: CachedFiles, entries: &[u8]) -> Option<CachedFiles> {
        self.private.folder.replace(PATHS, &remembered.paths).ok()?;
        self.private.folder.replace(ENTRIES, entries).ok()?;
        remembered.entries = hex_digest(entries);
        remembered.seal = self.key.mac(&remembered.sealed_bytes()?);
        self.private
            .folder
            .replace(REMEMBERED, &serde_json::to_vec(&remembered).ok()?)
            .ok()?;
        Some(remembered)
    }
}

impl CachedFiles {
    pub(super) fn file_paths(&self) -> impl Iterator<Item = &[u8]> {
        parts(self.paths.get(..self.files_bytes).unwrap_or_default())
    }

    pub(super) fn folder_paths(&self) -> impl Iterator<Item = &[u8]> {
        parts(self.paths.get(self.files_bytes..).unwrap_or_default())
    }

    pub(super) fn top(&self) -> PathBuf {
        path_of(&text_to_path(&self.top))
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.is_list_unchanged() && has_stamps(&self.top(), self.file_paths(), &self.stamps)
    }

    /// `true` for an unchanged list of files, whatever their content.
    pub(super) fn is_list_unchanged(&self) -> bool {
        let top = self.top();
        let tree = GitWorktree::at(&top).filter(|_| self.is_repository);
        let seen = self.folders.as_ref();
        source_marks(tree.as_ref()) == self.sources
            && seen.is_some_and(|seen| has_stamps(&top, self.folder_paths(), seen))
    }

    fn sealed_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(&(self, hex_digest(&self.paths))).ok()
    }
}

fn has_stamps<'a>(top: &Path, paths: impl Iterator<Item = &'a [u8]>, digest: &str) -> bool {
    file_stamps::digest_stamps(top, paths).is_some_and(|seen| seen.digest == digest)
}

/// Marks of inputs other than the files.
pub(super) fn source_marks(tree: Option<&GitWorktree>) -> String {
    tree.map_or_else(String::new, |tree| {
        [tree.git.join("index"), tree.common.join("info/exclude")]
            .map(|path| file_mark(&path))
            .join(" ")
    })
}

//! What omo remembers of the files of a project between two looks, in the user's own state folder.

use std::path::Path;
use std::time::Duration;

use omo_store::folder::Folder;
use omo_store::lock::Lock;
use omo_store::seal::{Key, digest};
use omo_store::work_tree::WorkTree;
use serde::{Deserialize, Serialize};

use super::scope::bytes_of;
use crate::platform::path_of;
use crate::snapshot;
use crate::tree::mark;

/// The folder of all projects.
const FOLDER: [&str; 2] = ["omo", "files"];
const REMEMBERED: &str = "remembered.json";
const PATHS: &str = "paths";
const ENTRIES: &str = "entries";
/// What is remembered of a larger project is not used: then everything is read each time.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Two sessions of one project ask for the same id at the same time.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was found at the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// What had been settled, by its name.
    pub(super) scope: Option<String>,
    /// The top of the work tree.
    pub(super) top: String,
    /// It is the work tree of a repository.
    pub(super) is_repository: bool,
    /// The repository's index and list of what is ignored, as they were.
    pub(super) sources: String,
    /// What stood in the files, without the repositories in it.
    pub(super) id: String,
    /// What the files looked like.
    pub(super) stamps: String,
    /// What the folders looked like, where all of that can be told from a change during the look.
    pub(super) folders: Option<String>,
    /// How much of the list of paths is about files; the rest is about folders.
    pub(super) files_bytes: usize,
    /// The repositories in it.
    pub(super) inner: Vec<String>,
    /// The digest of what is remembered of each file.
    pub(super) entries: String,
    /// omo's own mark on all of that.
    pub(super) seal: String,
}

/// Where omo remembers one project, under a lock.
pub(super) struct Memory {
    pub(super) folder: Folder,
    /// What is remembered bears a seal: it lies where others can write.
    key: Key,
    _lock: Lock,
}

impl Memory {
    pub(super) fn open(root: &Path, state_home: &Path) -> Option<Self> {
        let name = digest(root.as_os_str().as_encoded_bytes());
        let folder = Folder::create_own_part(state_home, &[FOLDER.as_slice(), &[name.get(..32)?]].concat()).ok()?;
        let lock = Lock::take(&folder, PATIENCE).ok()?;
        Some(Self { folder, key: Key::load(Some(state_home)).ok()?, _lock: lock })
    }

    pub(super) fn read(&self) -> Option<Remembered> {
        let bytes = self.folder.read(REMEMBERED, MAX_BYTES).ok()??;
        let mut remembered: Remembered = serde_json::from_slice(&bytes).ok()?;
        let seal = std::mem::take(&mut remembered.seal);
        self.key.is_mac(&self.sealed_bytes(&remembered)?, &seal).then_some(remembered)
    }

    /// Whether nothing moved since.
    pub(super) fn is_unchanged(&self, remembered: &Remembered) -> bool {
        let Some(folders) = &remembered.folders else { return false };
        let top = path_of(&bytes_of(&remembered.top));
        let tree = WorkTree::at(&top).filter(|_| remembered.is_repository);
        let looks_so =
            |paths: &[u8], digest: &str| snapshot::look(&top, paths).is_some_and(|seen| seen.digest == digest);
        let paths = self.paths();
        sources(tree.as_ref()) == remembered.sources
            && paths
                .split_at_checked(remembered.files_bytes)
                .is_some_and(|(files, inner)| looks_so(files, &remembered.stamps) && looks_so(inner, folders))
    }

    /// Keeps the list of paths: those of files, and behind them those of folders.
    pub(super) fn keep_paths(&self, files: &[u8], folders: &[u8]) -> Option<()> {
        self.folder.replace(PATHS, &[files, folders].concat()).ok()
    }

    /// The list of paths that is kept.
    pub(super) fn paths(&self) -> Vec<u8> {
        self.folder.read(PATHS, MAX_BYTES).ok().flatten().unwrap_or_default()
    }

    pub(super) fn entries(&self, remembered: &Remembered) -> Option<Vec<u8>> {
        let bytes = self.folder.read(ENTRIES, MAX_BYTES).ok()??;
        (digest(&bytes) == remembered.entries).then_some(bytes)
    }

    pub(super) fn keep(&self, mut remembered: Remembered, entries: &[u8]) -> Option<Remembered> {
        self.folder.replace(ENTRIES, entries).ok()?;
        remembered.entries = digest(entries);
        remembered.seal = self.key.mac(&self.sealed_bytes(&remembered)?);
        self.folder.replace(REMEMBERED, &serde_json::to_vec(&remembered).ok()?).ok()?;
        Some(remembered)
    }

    /// What the seal is over: all of it, and the list of paths.
    fn sealed_bytes(&self, remembered: &Remembered) -> Option<Vec<u8>> {
        let unsealed = Remembered { seal: String::new(), ..remembered.clone() };
        let paths = self.paths();
        serde_json::to_vec(&(unsealed, digest(&paths))).ok()
    }
}

/// What decides which files count, beside what lies among them.
pub(super) fn sources(tree: Option<&WorkTree>) -> String {
    tree.map_or_else(String::new, |tree| {
        [tree.git.join("index"), tree.common.join("info/exclude")].map(|path| mark(&path)).join(" ")
    })
}

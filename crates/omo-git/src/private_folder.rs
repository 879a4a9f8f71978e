//! Private folders in the user's state folder, each for a work tree and under a lock of its own.
//!
//! | folder | content | removed |
//! |---|---|---|
//! | `omo/restore/RUN` | bytes of the files of a run's work trees | with the run |
//! | `omo/changes/RUN/TREE` | trees of a run's tasks, as git would commit them | with the run |
//! | `omo/recorded/SESSION/TREE` | files at the start of a run | once its task is proved, or after a month |
//! | `omo/reviews/TREE` | differences of a run, while they are read | content by each look |
//! | `omo/trees/TREE` | state of a submodule | content by each look |
//! | `omo/proofs/NAME/scratch/TREE` | project beside its base | with the copies of the project |
//! | `omo/files/ROOT` | stamps and digests behind the id of the files | replaced by each look |
//! | `omo/commit/TREE` | message and paths of a commit | replaced by each commit |

use std::path::Path;
use std::time::Duration;

use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{LockError, NAME, StateLock};
use omo_state::seal::hex_digest;

pub(crate) const OMO: &str = "omo";
pub(crate) const CHANGES: &str = "changes";
pub(crate) const RESTORE: &str = "restore";
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Private folder under its lock, which is held until drop.
pub(crate) struct PrivateFolder {
    pub(crate) folder: GuardedFolder,
    _lock: StateLock,
}

impl PrivateFolder {
    /// Opens the folder `name` below `parts`, made where missing, under the lock of that folder.
    pub(crate) fn open(
        state_home: &Path,
        parts: &[&str],
        name: &str,
        patience: Duration,
    ) -> Result<Self, LockError> {
        Self::open_shared(state_home, &[parts, &[name]].concat(), NAME, patience)
    }

    /// Opens a folder that several processes share, each under its own `lock`.
    pub(crate) fn open_shared(
        state_home: &Path,
        parts: &[&str],
        lock: &str,
        patience: Duration,
    ) -> Result<Self, LockError> {
        let folder = GuardedFolder::create_user_part(state_home, parts)?;
        let lock = StateLock::take_named(&folder, lock, patience)?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }
}

pub(crate) fn tree_name(top: &Path) -> String {
    short_digest(top.as_os_str().as_encoded_bytes())
}

pub(crate) fn run_name(run_id: &str) -> String {
    short_digest(run_id.as_bytes())
}

fn short_digest(bytes: &[u8]) -> String {
    hex_digest(bytes).chars().take(32).collect()
}

pub(crate) fn forget_run(state_home: &Path, run_id: &str) -> Result<(), FolderError> {
    forget_run_of(state_home, CHANGES, run_id).and(forget_run_of(state_home, RESTORE, run_id))
}

fn forget_run_of(state_home: &Path, kind: &str, run_id: &str) -> Result<(), FolderError> {
    GuardedFolder::create_user_part(state_home, &[OMO, kind])?.remove_folder(&run_name(run_id))
}

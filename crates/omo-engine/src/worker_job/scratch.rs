//! The folder that a worker works in: its user's own, held by a lock for as long as the worker lives. One whose worker
//! was killed is removed by the next start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_state::env::user_number;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{LockError, StateLock};
use omo_state::files::make_removable;

use crate::random_id::random_letters;

/// Held while folders are made and dead ones are found.
const STARTS_LOCK: &str = "starts.lock";
const STARTS_WAIT: Duration = Duration::from_secs(30);
/// Held by the worker of a folder.
const OWNER_LOCK: &str = "owner.lock";
/// What the folders of starts begin with, and those that are about to go.
const START: &str = "start-";
const DEAD: &str = "dead-";

/// The folder that holds those of all starts of this user, below `scratch`, made where there is none.
///
/// # Errors
///
/// It is a link, belongs to another user, or cannot be made.
pub(super) fn open_top(scratch: &Path, parts: &[&str]) -> Result<GuardedFolder, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", scratch.display());
    std::fs::create_dir_all(scratch).map_err(failed)?;
    let real = scratch.canonicalize().map_err(failed)?;
    let name = user_number().map_or_else(|| "omo-worker".to_owned(), |number| format!("omo-worker-{number}"));
    let top = GuardedFolder::create_below(&real, &[&name]).map_err(|error| error.to_string())?;
    let Some(real) = (!parts.is_empty()).then(|| top.path().to_owned()) else { return Ok(top) };
    GuardedFolder::create_below(&real, parts).map_err(|error| error.to_string())
}

/// The folder of one start.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    top: GuardedFolder,
    name: String,
    folder: GuardedFolder,
    lock: Option<StateLock>,
}

impl ScratchFolder {
    /// Makes one, and removes those whose workers are dead.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub(super) fn create(scratch: &Path) -> Result<Self, String> {
        let top = open_top(scratch, &[])?;
        let starts = StateLock::take_named(&top, STARTS_LOCK, STARTS_WAIT).map_err(|error| error.to_string())?;
        set_dead_aside(&top);
        let name = format!("{START}{}", random_letters(16).map_err(|error| error.to_string())?);
        let folder = top.empty_and_open(&name).map_err(|error| error.to_string())?;
        let lock = StateLock::take_named(&folder, OWNER_LOCK, Duration::ZERO).map_err(|error| error.to_string())?;
        drop(starts);
        remove_dead(&top);
        Ok(Self { top, name, folder, lock: Some(lock) })
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file in it, with this content.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        self.folder.replace(name, bytes).map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }

    /// An empty folder in it.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub(super) fn make_folder(&self, name: &str) -> Result<PathBuf, String> {
        self.folder.empty_folder(name).map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }
}

impl Drop for ScratchFolder {
    /// Removes it. What cannot be removed is left to the next start.
    fn drop(&mut self) {
        let _ = remove(&self.top, &self.name);
        drop(self.lock.take());
    }
}

/// Gives the folders of dead workers other names, under which no worker looks for its own.
fn set_dead_aside(top: &GuardedFolder) {
    for name in top.file_names(START).unwrap_or_default() {
        let Ok(Some(folder)) = top.open_folder(&name) else { continue };
        let is_dead = match StateLock::take_named(&folder, OWNER_LOCK, Duration::ZERO) {
            Ok(_) => true,
            Err(LockError::Busy(_) | LockError::Io(_) | LockError::Folder(_)) => false,
        };
        if is_dead {
            let _ = top.rename(&name, &format!("{DEAD}{}", name.strip_prefix(START).unwrap_or(&name)));
        }
    }
}

fn remove_dead(top: &GuardedFolder) {
    for name in top.file_names(DEAD).unwrap_or_default() {
        let _ = remove(top, &name);
    }
}

fn remove(top: &GuardedFolder, name: &str) -> Result<(), omo_state::files::folder::FolderError> {
    top.remove_folder(name).or_else(|_| {
        make_removable(&top.path().join(name));
        top.remove_folder(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_dead_worker_goes_and_that_of_a_living_one_stays() {
        let temp = tempfile::tempdir().unwrap();
        let living = ScratchFolder::create(temp.path()).unwrap();
        let mut dead = ScratchFolder::create(temp.path()).unwrap();
        std::fs::create_dir(dead.path().join("deep")).unwrap();
        let (living_path, dead_path) = (living.path().to_owned(), dead.path().to_owned());
        // As a kill does: the lock is given back, and the folder stays.
        drop(dead.lock.take());
        std::mem::forget(dead);
        let third = ScratchFolder::create(temp.path()).unwrap();
        assert!(living_path.exists() && !dead_path.exists() && third.path().exists());
        drop((living, third));
        let top = open_top(temp.path(), &[]).unwrap();
        assert_eq!(top.file_names("").unwrap(), [STARTS_LOCK]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_place_is_refused_and_left_alone() {
        let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = format!("omo-worker-{}", user_number().unwrap());
        std::os::unix::fs::symlink(other.path(), temp.path().join(name)).unwrap();
        assert!(ScratchFolder::create(temp.path()).is_err());
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
    }
}

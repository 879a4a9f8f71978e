//! Scratch folder of a worker: its user's own, and locked while the worker lives. The next start
//! removes that of a killed worker; one with unpushed work stays for a week.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_state::env::{self, user_number};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{LockError, StateLock};
use omo_state::files::make_removable;
use omo_state::random_id::random_letters;

const STARTS_LOCK: &str = "starts.lock";
const STARTS_WAIT: Duration = Duration::from_secs(30);
const OWNER_LOCK: &str = "owner.lock";
/// Mark of a folder that outlives its worker.
const KEPT: &str = "kept";
/// Time that a folder is kept: its user may be away for some days.
const KEPT_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Maximum kept folders, each a whole clone; the newest ones stay.
const MAX_KEPT: usize = 8;
const START: &str = "start-";
const DEAD: &str = "dead-";

/// Folder of all starts of this user below `scratch`, made where missing. A link, or another user's folder, is refused.
pub(super) fn open_top(scratch: &Path, parts: &[&str]) -> Result<GuardedFolder, String> {
    let real = std::fs::create_dir_all(scratch)
        .and_then(|()| scratch.canonicalize())
        .map_err(|error| format!("{}: {error}", scratch.display()))?;
    let name = user_number().map_or_else(
        || "omo-worker".to_owned(),
        |number| format!("omo-worker-{number}"),
    );
    let top = GuardedFolder::create_below(&real, &[&name]).map_err(|error| error.to_string())?;
    let Some(real) = (!parts.is_empty()).then(|| top.path().to_owned()) else {
        return Ok(top);
    };
    GuardedFolder::create_below(&real, parts).map_err(|error| error.to_string())
}

#[derive(Debug)]
pub(super) struct WorkerScratch {
    top: GuardedFolder,
    name: String,
    folder: GuardedFolder,
    lock: Option<StateLock>,
    is_kept: Cell<bool>,
}

impl WorkerScratch {
    /// Makes a folder, and removes those of dead workers.
    pub(super) fn create(scratch: &Path) -> Result<Self, String> {
        let top = open_top(scratch, &[])?;
        let starts = StateLock::take_named(&top, STARTS_LOCK, STARTS_WAIT)
            .map_err(|error| error.to_string())?;
        set_dead_aside(&top);
        let name = format!(
            "{START}{}",
            random_letters(16).map_err(|error| error.to_string())?
        );
        let folder = top
            .empty_and_open(&name)
            .map_err(|error| error.to_string())?;
        let lock = StateLock::take_named(&folder, OWNER_LOCK, Duration::ZERO)
            .map_err(|error| error.to_string())?;
        drop(starts);
        remove_dead(&top);
        Ok(Self {
            top,
            name,
            folder,
            lock: Some(lock),
            is_kept: Cell::new(false),
        })
    }

    /// Keeps the folder after this worker, for a week or until there are many newer ones.
    pub(super) fn keep(&self) -> Result<(), String> {
        self.folder
            .replace(KEPT, b"")
            .map_err(|error| error.to_string())?;
        self.is_kept.set(true);
        Ok(())
    }

    /// Undoes [`Self::keep`].
    pub(super) fn release(&self) -> Result<(), String> {
        self.folder
            .remove(KEPT)
            .map_err(|error| error.to_string())?;
        self.is_kept.set(false);
        Ok(())
    }

    pub(super) fn is_kept(&self) -> bool {
        self.is_kept.get()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file; returns its path.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        self.folder
            .replace(name, bytes)
            .map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }

    /// Makes an empty folder; returns its path.
    pub(super) fn make_folder(&self, name: &str) -> Result<PathBuf, String> {
        self.folder
            .empty_folder(name)
            .map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }
}

impl Drop for WorkerScratch {
    /// Removes the folder unless it is kept; the next start tries again.
    fn drop(&mut self) {
        if !self.is_kept.get() {
            let _ = remove(&self.top, &self.name);
        }
        drop(self.lock.take());
    }
}

/// Renames the folders of dead workers, so that no worker takes one for its own.
fn set_dead_aside(top: &GuardedFolder) {
    let (mut kept, now) = (Vec::new(), env::now().as_millis() / 1_000);
    for name in top.file_names(START).unwrap_or_default() {
        let Ok(Some(folder)) = top.open_folder(&name) else {
            continue;
        };
        let is_dead = match StateLock::take_named(&folder, OWNER_LOCK, Duration::ZERO) {
            Ok(_) => true,
            Err(LockError::Busy(_) | LockError::Io(_) | LockError::Folder(_)) => false,
        };
        match folder.written_at(KEPT).filter(|_| is_dead) {
            Some(since) => kept.push((now - since, name)),
            None if is_dead => set_aside(top, &name),
            None => {}
        }
    }
    kept.sort();
    for name in outlived(&kept) {
        set_aside(top, name);
    }
}

fn set_aside(top: &GuardedFolder, name: &str) {
    let id = name.strip_prefix(START).unwrap_or(name);
    let _ = top.rename(name, &format!("{DEAD}{id}"));
}

/// Names no longer kept, of folders with their ages in seconds, the newest first.
fn outlived(kept: &[(i64, String)]) -> impl Iterator<Item = &str> {
    kept.iter()
        .enumerate()
        .filter(|(place, (age, _))| *place >= MAX_KEPT || *age >= KEPT_SECONDS)
        .map(|(_, (_, name))| name.as_str())
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
        let living = WorkerScratch::create(temp.path()).unwrap();
        let mut dead = WorkerScratch::create(temp.path()).unwrap();
        std::fs::create_dir(dead.path().join("deep")).unwrap();
        let (living_path, dead_path) = (living.path().to_owned(), dead.path().to_owned());
        // As a kill does: the lock is given back, and the folder stays.
        drop(dead.lock.take());
        std::mem::forget(dead);
        let third = WorkerScratch::create(temp.path()).unwrap();
        assert!(living_path.exists() && !dead_path.exists() && third.path().exists());
        drop((living, third));
        let top = open_top(temp.path(), &[]).unwrap();
        assert_eq!(top.file_names("").unwrap(), [STARTS_LOCK]);
    }

    #[test]
    fn the_folder_of_a_killed_worker_stays_while_it_holds_work() {
        let temp = tempfile::tempdir().unwrap();
        for holds_work in [true, false] {
            let mut killed = WorkerScratch::create(temp.path()).unwrap();
            killed.keep().unwrap();
            if !holds_work {
                killed.release().unwrap();
            }
            let path = killed.path().to_owned();
            drop(killed.lock.take());
            std::mem::forget(killed);
            drop(WorkerScratch::create(temp.path()).unwrap());
            assert_eq!(path.exists(), holds_work);
        }
    }

    #[test]
    fn the_folder_with_work_that_was_not_pushed_stays_for_a_while() {
        let temp = tempfile::tempdir().unwrap();
        let path = {
            let folder = WorkerScratch::create(temp.path()).unwrap();
            folder.keep().unwrap();
            folder.path().to_owned()
        };
        drop(WorkerScratch::create(temp.path()).unwrap());
        assert!(path.exists());
        let kept = |ages: &[i64]| {
            ages.iter()
                .map(|age| (*age, age.to_string()))
                .collect::<Vec<_>>()
        };
        let gone = |ages: &[i64]| outlived(&kept(ages)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            gone(&[0, KEPT_SECONDS - 1, KEPT_SECONDS]),
            [KEPT_SECONDS.to_string()]
        );
        assert_eq!(gone(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ["9", "10"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_place_is_refused_and_left_alone() {
        let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = format!("omo-worker-{}", user_number().unwrap());
        std::os::unix::fs::symlink(other.path(), temp.path().join(name)).unwrap();
        assert!(WorkerScratch::create(temp.path()).is_err());
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
    }
}

//! The folder that a worker works in: its user's own, held by a lock for as long as the worker lives. One whose worker
//! was killed is removed by the next start. One that holds work that was not pushed stays until a start that comes a week later.

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
/// Mark in a folder that is kept after its worker, with its work.
const KEPT: &str = "kept";
/// Time in seconds: a user may be away for some days.
const KEPT_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Maximum of kept folders, each of which is a whole clone; the newest ones stay.
const MAX_KEPT: usize = 8;
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
pub(super) struct ScratchFolder {
    top: GuardedFolder,
    name: String,
    folder: GuardedFolder,
    lock: Option<StateLock>,
    is_kept: Cell<bool>,
}

impl ScratchFolder {
    /// Makes one, and removes those whose workers are dead.
    ///
    /// # Errors
    ///
    /// It cannot be made.
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

    /// Has it stay after this worker: later starts remove it after a week, or once there are many newer ones.
    ///
    /// # Errors
    ///
    /// It cannot be marked.
    pub(super) fn keep(&self) -> Result<(), String> {
        self.folder
            .replace(KEPT, b"")
            .map_err(|error| error.to_string())?;
        self.is_kept.set(true);
        Ok(())
    }

    /// Has it go with this worker after all.
    ///
    /// # Errors
    ///
    /// The mark cannot be removed.
    pub(super) fn release(&self) -> Result<(), String> {
        self.folder
            .remove(KEPT)
            .map_err(|error| error.to_string())?;
        self.is_kept.set(false);
        Ok(())
    }

    /// A [`KEPT`] folder, which stays after this worker, also where that is killed.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept.get()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of this folder, and gives its path.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        self.folder
            .replace(name, bytes)
            .map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }

    /// Makes an empty folder in this one, and gives its path.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub(super) fn make_folder(&self, name: &str) -> Result<PathBuf, String> {
        self.folder
            .empty_folder(name)
            .map_err(|error| error.to_string())?;
        Ok(self.path().join(name))
    }
}

impl Drop for ScratchFolder {
    /// Removes it where it is not kept. What cannot be removed is left to the next start.
    fn drop(&mut self) {
        if !self.is_kept.get() {
            let _ = remove(&self.top, &self.name);
        }
        drop(self.lock.take());
    }
}

/// Gives the folders of dead workers other names, under which no worker looks for its own.
fn set_dead_aside(top: &GuardedFolder) {
    let (mut kept, now) = (Vec::new(), env::now().as_millis() / 1_000);
    let set_aside = |name: &str| {
        let _ = top.rename(
            name,
            &format!("{DEAD}{}", name.strip_prefix(START).unwrap_or(name)),
        );
    };
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
            None if is_dead => set_aside(&name),
            None => {}
        }
    }
    kept.sort();
    for name in outlived(&kept) {
        set_aside(name);
    }
}

/// Folders kept no longer, of those that are there with their ages in seconds, the newest first.
fn outlived(kept: &[(i64, String)]) -> impl Iterator<Item = &str> {
    let is_kept = |place: usize, age: i64| place < MAX_KEPT && age < KEPT_SECONDS;
    kept.iter()
        .enumerate()
        .filter(move |(place, (age, _))| !is_kept(*place, *age))
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

    #[test]
    fn the_folder_of_a_killed_worker_stays_while_it_holds_work() {
        let temp = tempfile::tempdir().unwrap();
        for holds_work in [true, false] {
            let mut killed = ScratchFolder::create(temp.path()).unwrap();
            killed.keep().unwrap();
            if !holds_work {
                killed.release().unwrap();
            }
            let path = killed.path().to_owned();
            drop(killed.lock.take());
            std::mem::forget(killed);
            drop(ScratchFolder::create(temp.path()).unwrap());
            assert_eq!(path.exists(), holds_work);
        }
    }

    #[test]
    fn the_folder_with_work_that_was_not_pushed_stays_for_a_while() {
        let temp = tempfile::tempdir().unwrap();
        let path = {
            let folder = ScratchFolder::create(temp.path()).unwrap();
            folder.keep().unwrap();
            folder.path().to_owned()
        };
        drop(ScratchFolder::create(temp.path()).unwrap());
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
        assert!(ScratchFolder::create(temp.path()).is_err());
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
    }
}

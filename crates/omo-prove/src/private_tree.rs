//! Two private copies of a project, one with and one without the change. Both run at one path with
//! equal file times, so no test can tell them apart.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{LockError, StateLock};

/// Folder in the user's state.
const PARTS: [&str; 2] = ["omo", "proofs"];
/// Lock file while the copies are in use.
const LOCK: &str = "alive.lock";
/// Lock file while copies are made and abandoned ones removed.
const CREATING_LOCK: &str = "creating.lock";
const CREATING_PATIENCE: Duration = Duration::from_secs(60);
/// Folder of the side in which checks run.
const ACTIVE: &str = "active";
/// Folder of the other side.
const WAITING: &str = "waiting";
const MOVING: &str = "moving";
const PROJECT: &str = "project";
const TEMPORARY: &str = "tmp";
const SCRATCH: &str = "scratch";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Side with the change: files as they are now.
    With,
    /// Side without the change: old files, with the present test files.
    Without,
}

impl Side {
    fn folder(self) -> &'static str {
        match self {
            Self::With => "with",
            Self::Without => "without",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PrivateTreeError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Both copies, removed on drop; the next process removes those of a killed one.
pub(crate) struct PrivateTrees {
    parent: GuardedFolder,
    name: String,
    folder: GuardedFolder,
    active: Option<Side>,
    /// Installed paths from the top, which exist once and move to the active side.
    installed: Vec<PathBuf>,
    _alive: StateLock,
}

impl PrivateTrees {
    pub(crate) fn create(state_home: &Path, name: &str) -> Result<Self, PrivateTreeError> {
        let parent = GuardedFolder::create_user_part(state_home, &PARTS)?;
        // An unlocked folder would look abandoned to another process.
        let _creating = StateLock::take_named(&parent, CREATING_LOCK, CREATING_PATIENCE)?;
        remove_abandoned(&parent);
        let folder = parent.empty_and_open(name)?;
        let alive = StateLock::take_named(&folder, LOCK, Duration::from_secs(1))?;
        for side in [Side::With, Side::Without] {
            for part in [PROJECT, TEMPORARY] {
                let path = folder.path().join(side.folder()).join(part);
                fs::create_dir_all(&path)
                    .map_err(|source| PrivateTreeError::File { path, source })?;
            }
        }
        Ok(Self {
            parent,
            name: name.to_owned(),
            folder,
            active: None,
            installed: Vec::new(),
            _alive: alive,
        })
    }

    /// Path of git's working folder beside the copies.
    pub(crate) fn scratch_parts(name: &str) -> [&str; 4] {
        let [omo, proofs] = PARTS;
        [omo, proofs, name, SCRATCH]
    }

    /// Removes git's working folder before a check could see it.
    pub(crate) fn remove_scratch(&self) -> Result<(), PrivateTreeError> {
        self.remove_folder(SCRATCH)
    }

    pub(crate) fn empty_folder(&self, name: &str) -> Result<GuardedFolder, PrivateTreeError> {
        Ok(self.folder.empty_and_open(name)?)
    }

    pub(crate) fn remove_folder(&self, name: &str) -> Result<(), PrivateTreeError> {
        Ok(self.folder.remove_folder(name)?)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Top of a side's work tree.
    pub(crate) fn top(&self, side: Side) -> PathBuf {
        let folder = match self.active {
            None => side.folder(),
            Some(active) if active == side => ACTIVE,
            Some(_) => WAITING,
        };
        self.folder.path().join(folder).join(PROJECT)
    }

    pub(crate) fn active_top(&self) -> PathBuf {
        self.folder.path().join(ACTIVE).join(PROJECT)
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join(ACTIVE).join(TEMPORARY)
    }

    pub(crate) fn activate(&mut self, side: Side) -> Result<(), PrivateTreeError> {
        if self.active == Some(side) {
            return Ok(());
        }
        let inactive = if side == Side::With {
            Side::Without
        } else {
            Side::With
        };
        let renamed: &[(&str, &str)] = match self.active.take() {
            None => &[(side.folder(), ACTIVE), (inactive.folder(), WAITING)],
            Some(_) => &[(ACTIVE, MOVING), (WAITING, ACTIVE), (MOVING, WAITING)],
        };
        for (from, to) in renamed {
            self.folder.rename(from, to)?;
        }
        self.active = Some(side);
        self.move_installed()
    }

    pub(crate) fn set_installed(&mut self, paths: Vec<PathBuf>) {
        self.installed = paths;
    }

    fn move_installed(&self) -> Result<(), PrivateTreeError> {
        let waiting = self.folder.path().join(WAITING).join(PROJECT);
        for path in &self.installed {
            let (from, to) = (waiting.join(path), self.active_top().join(path));
            if to.symlink_metadata().is_ok() || from.symlink_metadata().is_err() {
                continue;
            }
            let moved = to
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::rename(&from, &to));
            moved.map_err(|source| PrivateTreeError::File {
                path: to.clone(),
                source,
            })?;
            // A cache may know the build of the other side.
            let _ = [".cache", ".vite"].map(|cache| fs::remove_dir_all(to.join(cache)));
        }
        Ok(())
    }
}

impl Drop for PrivateTrees {
    fn drop(&mut self) {
        // Removal of many files takes time.
        std::thread::scope(|scope| {
            for side in [ACTIVE, WAITING] {
                scope.spawn(|| self.folder.remove_folder(side));
            }
        });
        remove(&self.parent, &self.name);
    }
}

/// Removes folders of killed processes.
fn remove_abandoned(parent: &GuardedFolder) {
    for entry in fs::read_dir(parent.path()).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let is_abandoned = match parent.open_folder(&name) {
            Ok(Some(folder)) => StateLock::take_named(&folder, LOCK, Duration::ZERO).is_ok(),
            _ => false,
        };
        if is_abandoned {
            remove(parent, &name);
        }
    }
}

// A check may leave folders that their owner may not write to.
fn remove(parent: &GuardedFolder, name: &str) {
    if parent.remove_folder(name).is_err() {
        omo_state::files::make_removable(&parent.path().join(name));
        let _ = parent.remove_folder(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_run_at_one_path_and_are_removed_with_their_process() {
        let home = tempfile::tempdir().unwrap();
        let mut trees = PrivateTrees::create(home.path(), "1").unwrap();
        fs::write(trees.top(Side::With).join("a"), "with").unwrap();
        let read = |trees: &PrivateTrees| fs::read_to_string(trees.active_top().join("a")).ok();
        trees.activate(Side::With).unwrap();
        assert_eq!(read(&trees).as_deref(), Some("with"));
        trees.activate(Side::Without).unwrap();
        assert_eq!(read(&trees), None);
        assert_eq!(trees.top(Side::With), trees.path().join("waiting/project"));
        trees.activate(Side::With).unwrap();
        assert_eq!(read(&trees).as_deref(), Some("with"));
        let names = |trees: &PrivateTrees| -> Vec<_> {
            let mut names: Vec<_> = fs::read_dir(trees.path())
                .unwrap()
                .map(|it| it.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        let beside_with = names(&trees);
        trees.activate(Side::Without).unwrap();
        assert_eq!(
            names(&trees),
            beside_with,
            "what lies beside a side tells which it is"
        );
        let module = trees.active_top().join("web/node_modules/a");
        fs::create_dir_all(&module).unwrap();
        trees.set_installed(vec![PathBuf::from("web/node_modules")]);
        for side in [Side::With, Side::Without] {
            trees.activate(side).unwrap();
            assert!(module.is_dir(), "it is there for one side alone");
        }
        let path = trees.path().to_owned();
        drop(trees);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_is_not() {
        let home = tempfile::tempdir().unwrap();
        let used = PrivateTrees::create(home.path(), "used").unwrap();
        let left = used.parent.path().join("left");
        fs::create_dir_all(left.join("active/project/closed/inner")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(
                left.join("active/project/closed"),
                fs::Permissions::from_mode(0o500),
            )
            .unwrap();
        }
        let _other = PrivateTrees::create(home.path(), "other").unwrap();
        assert!(!left.exists() && used.path().exists());
    }
}

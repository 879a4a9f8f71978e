//! The files of task lists, in `ultrawork/sessions/<id>/` of the client's folder. No path is built from an unchecked
//! name, and no symbolic link in it is followed. A writer holds the session's lock from its read to its write, and
//! every file is replaced whole, so that two writers of one session lose nothing.

mod error;
mod folder;
mod run_ref;

use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::session::id::SessionId;
use omo_state::files::folder::{FolderError, GuardedFolder};

pub use error::TaskListError;
pub(crate) use folder::{LOCK_FILE, MAX_BYTES};
pub use folder::{LoadedTasks, LockedTaskList, SESSION_FILE, TASKS_FOLDER, TaskListFolder};
pub(crate) use run_ref::RUN_MEMBER;
pub use run_ref::{RunRef, is_open, run_of};

const PARTS: [&str; 2] = ["ultrawork", "sessions"];
const EXPLORATION: &str = "exploration";
/// Prefix of the name of a folder that is being removed; no session id begins with it.
const REMOVAL_PREFIX: &str = ".going-";
/// Timeout for a lock, whose holder needs milliseconds, or longer on a very slow disk.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct TaskListStore {
    client_home: PathBuf,
}

impl TaskListStore {
    pub fn in_client_home(client_home: &Path) -> Self {
        Self {
            client_home: client_home.to_owned(),
        }
    }

    pub fn path(&self, id: &SessionId) -> PathBuf {
        self.client_home.join(PARTS.join("/")).join(id.as_str())
    }

    pub fn ids(&self) -> Result<Vec<SessionId>, TaskListError> {
        let Some(base) = self.base()? else {
            return Ok(Vec::new());
        };
        let ids = base
            .file_names("")?
            .into_iter()
            .filter_map(|name| SessionId::parse(&name).ok());
        // A symbolic link, or a folder without a session file, is not omo's.
        Ok(ids.filter(|id| self.open(id).is_ok()).collect())
    }

    pub fn open(&self, id: &SessionId) -> Result<TaskListFolder, TaskListError> {
        let missing = || TaskListError::NotFound {
            session: id.clone(),
            file: self.path(id).join(SESSION_FILE),
        };
        let folder = self
            .base()?
            .map(|base| base.open_inner(id.as_str()))
            .transpose()?
            .flatten();
        let found = TaskListFolder::new(id.clone(), folder.ok_or_else(missing)?);
        if found.is_task_list() {
            Ok(found)
        } else {
            Err(missing())
        }
    }

    pub fn create(&self, id: &SessionId) -> Result<TaskListFolder, TaskListError> {
        std::fs::create_dir_all(&self.client_home).map_err(|source| FolderError::Io {
            action: "create",
            path: self.client_home.clone(),
            source,
        })?;
        let [ultrawork, sessions] = PARTS;
        let folder =
            GuardedFolder::create_below(&self.client_home, &[ultrawork, sessions, id.as_str()])?;
        for inner in [TASKS_FOLDER, EXPLORATION] {
            folder.create_folder(inner)?;
        }
        Ok(TaskListFolder::new(id.clone(), folder))
    }

    /// Removes the folder of a session. Symbolic links in it are removed, and their targets stay.
    pub fn remove(&self, session: &LockedTaskList) -> Result<(), TaskListError> {
        let Some(base) = self.base()? else {
            return Ok(());
        };
        let id = session.id();
        // Renamed first, so that a process that waits for the lock finds no session instead of half of one.
        let going = format!("{REMOVAL_PREFIX}{id}");
        base.remove_folder(&going)?;
        base.rename(id.as_str(), &going)?;
        Ok(base.remove_folder(&going)?)
    }

    fn base(&self) -> Result<Option<GuardedFolder>, TaskListError> {
        Ok(GuardedFolder::open_below(&self.client_home, &PARTS)?)
    }
}

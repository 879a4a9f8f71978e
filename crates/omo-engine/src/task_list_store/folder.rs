//! The folder of one session: what its files say, and what they are made to say.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use omo_core::session::id::SessionId;
use omo_plan::task_list::rules::{parse_task_id, sort_tasks};
use omo_plan::task_list::{ContextFile, TaskFile, TaskListFile};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{EXPLORATION, LOCK_TIMEOUT, TaskListError};
use crate::ledger::run::ExclusiveGuard;

/// The file of the session itself.
pub const SESSION_FILE: &str = "session.json";
/// The folder of its tasks.
pub const TASKS_FOLDER: &str = "tasks";
/// The file of its lock. It is never removed by itself.
pub(crate) const LOCK_FILE: &str = ".lock";
const CONTEXT: &str = "context.json";
const DESIGN: &str = "design.md";
const EVIDENCE: &str = "evidence";
const EVIDENCE_LOG: &str = "log.jsonl";
const SUMMARY: &str = "summary.md";
const JSON: &str = ".json";
/// A larger file is none of a session.
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The folder of a session.
#[derive(Debug)]
pub struct TaskListFolder {
    id: SessionId,
    folder: GuardedFolder,
}

/// The tasks of a session.
#[derive(Debug, Default)]
pub struct LoadedTasks {
    /// Those that can be read, by their number, and the one that verifies them last.
    pub tasks: Vec<TaskFile>,
    /// Why the others cannot be.
    pub unreadable: Vec<TaskListError>,
    /// What all of them are called.
    pub ids: Vec<String>,
}

impl TaskListFolder {
    pub(super) fn new(id: SessionId, folder: GuardedFolder) -> Self {
        Self { id, folder }
    }

    /// Which session it is of.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether a session is in it, whatever its file says.
    pub fn is_task_list(&self) -> bool {
        self.folder.contains(SESSION_FILE)
    }

    /// When its own file was last written, in seconds since 1970.
    pub fn written_at(&self) -> Option<i64> {
        self.folder.written_at(SESSION_FILE)
    }

    /// What is in the session's own file, as it is.
    pub fn session_bytes(&self) -> Result<Vec<u8>, TaskListError> {
        self.folder.read(SESSION_FILE, MAX_BYTES)?.ok_or_else(|| self.not_found())
    }

    /// The session.
    pub fn session(&self) -> Result<TaskListFile, TaskListError> {
        let mut session: TaskListFile = read(&self.folder, SESSION_FILE)?.ok_or_else(|| self.not_found())?;
        if session.session_id.is_empty() {
            session.session_id = self.id.to_string();
        }
        Ok(session)
    }

    /// What its explorers found; `None` where none has said anything.
    pub fn context(&self) -> Result<Option<ContextFile>, TaskListError> {
        read(&self.folder, CONTEXT)
    }

    /// Where that is.
    pub fn context_path(&self) -> PathBuf {
        self.path().join(CONTEXT)
    }

    /// Its tasks; `None` where nothing was ever made for them.
    pub fn tasks(&self) -> Result<Option<LoadedTasks>, TaskListError> {
        let Some(folder) = self.folder.open_inner(TASKS_FOLDER)? else { return Ok(None) };
        let mut found = LoadedTasks::default();
        for name in folder.file_names("")? {
            let Some(stem) = name.strip_suffix(JSON) else { continue };
            let Some(id) = parse_task_id(stem).filter(|id| id == stem) else {
                found.unreadable.push(invalid_file(
                    &folder,
                    &name,
                    "its name is no task's: a whole number, or `verify`",
                ));
                continue;
            };
            match read_task(&folder, &id) {
                Ok(task) => found.tasks.extend(task),
                Err(error) => found.unreadable.push(error),
            }
            found.ids.push(id);
        }
        sort_tasks(&mut found.tasks);
        Ok(Some(found))
    }

    /// One task.
    pub fn task(&self, id: &str) -> Result<TaskFile, TaskListError> {
        let missing = || TaskListError::NoTask {
            session: self.id.clone(),
            task: id.to_owned(),
            file: self.path().join(TASKS_FOLDER).join(format!("{id}{JSON}")),
        };
        let id = parse_task_id(id).ok_or_else(missing)?;
        let folder = self.folder.open_inner(TASKS_FOLDER)?.ok_or_else(missing)?;
        read_task(&folder, &id)?.ok_or_else(missing)
    }

    /// So many pieces of evidence other programs have written down beside the tasks: lines that are objects.
    pub fn count_logged_evidence(&self) -> Result<usize, TaskListError> {
        let Some(folder) = self.folder.open_inner(EVIDENCE)? else { return Ok(0) };
        let bytes = folder.read(EVIDENCE_LOG, MAX_BYTES)?.unwrap_or_default();
        let is_object =
            |line: &&[u8]| serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok();
        Ok(bytes.split(|byte| *byte == b'\n').filter(is_object).count())
    }

    /// Keeps other processes from changing anything of the session until the answer is dropped.
    pub fn lock(self) -> Result<LockedTaskList, TaskListError> {
        let guard = ExclusiveGuard::new(StateLock::take_named(&self.folder, LOCK_FILE, LOCK_TIMEOUT)?);
        Ok(LockedTaskList { session: self, _guard: guard })
    }

    fn not_found(&self) -> TaskListError {
        TaskListError::NotFound { session: self.id.clone(), file: self.path().join(SESSION_FILE) }
    }
}

/// A session that no other process changes.
#[derive(Debug)]
pub struct LockedTaskList {
    session: TaskListFolder,
    _guard: ExclusiveGuard,
}

impl Deref for LockedTaskList {
    type Target = TaskListFolder;

    fn deref(&self) -> &TaskListFolder {
        &self.session
    }
}

impl LockedTaskList {
    /// Writes the session's own file.
    pub fn write_session(&self, session: &TaskListFile) -> Result<(), TaskListError> {
        write(&self.session.folder, SESSION_FILE, session)
    }

    /// Writes what its explorers found.
    pub fn write_context(&self, context: &ContextFile) -> Result<(), TaskListError> {
        write(&self.session.folder, CONTEXT, context)
    }

    /// Writes a task.
    pub fn write_task(&self, task: &TaskFile) -> Result<(), TaskListError> {
        let name = format!("{}{JSON}", task.id);
        match parse_task_id(&task.id).filter(|id| *id == task.id) {
            Some(_) => write(&self.session.folder.create_folder(TASKS_FOLDER)?, &name, task),
            None => Err(invalid_file(
                &self.session.folder.create_folder(TASKS_FOLDER)?,
                &name,
                "it would be named as no task is",
            )),
        }
    }

    /// Writes its design, and says where.
    pub fn write_design(&self, text: &str) -> Result<PathBuf, TaskListError> {
        self.session.folder.replace(DESIGN, text.as_bytes())?;
        Ok(self.session.path().join(DESIGN))
    }

    /// Takes a task away that was just written, and that cannot be.
    pub fn remove_task(&self, id: &str) -> Result<(), TaskListError> {
        let name = parse_task_id(id).filter(|known| known == id).map(|id| format!("{id}{JSON}"));
        name.map_or(Ok(()), |name| {
            self.session.folder.create_folder(TASKS_FOLDER)?.remove(&name).map_err(TaskListError::from)
        })
    }

    /// Writes a summary of the tasks beside them, and says where.
    pub fn write_summary(&self, text: &str) -> Result<PathBuf, TaskListError> {
        let tasks = self.session.folder.create_folder(TASKS_FOLDER)?;
        tasks.replace(SUMMARY, text.as_bytes())?;
        Ok(tasks.path().join(SUMMARY))
    }

    /// Puts what an earlier session of this id has left beside what a new one makes, under names that end
    /// with a number. The session's own file stays as well, until the new one takes its place.
    pub fn set_earlier_files_aside(&self) -> Result<(), TaskListError> {
        let folder = &self.session.folder;
        let names = folder.file_names("")?;
        let kept = [SESSION_FILE, CONTEXT, DESIGN, TASKS_FOLDER, EXPLORATION, EVIDENCE];
        let aside = |name: &str, number: usize| format!("{name}.before-{number}");
        let is_free = |number: &usize| kept.iter().all(|name| !names.contains(&aside(name, *number)));
        let Some(number) = (1..=names.len() + 1).find(is_free) else { return Ok(()) };
        if let Some(bytes) = folder.read(SESSION_FILE, MAX_BYTES)? {
            folder.replace(&aside(SESSION_FILE, number), &bytes)?;
        }
        for name in kept.into_iter().filter(|name| *name != SESSION_FILE && folder.contains(name)) {
            folder.rename(name, &aside(name, number))?;
        }
        folder.create_folder(TASKS_FOLDER)?;
        folder.create_folder(EXPLORATION)?;
        Ok(())
    }
}

fn read_task(folder: &GuardedFolder, id: &str) -> Result<Option<TaskFile>, TaskListError> {
    let name = format!("{id}{JSON}");
    let task: Option<TaskFile> = read(folder, &name)?;
    match task {
        Some(task) if !task.id.is_empty() && parse_task_id(&task.id).as_deref() != Some(id) => {
            Err(invalid_file(folder, &name, "it says that it is another task"))
        }
        // Zeros in front are no part of a number.
        task => Ok(task.map(|task| TaskFile { id: id.to_owned(), ..task })),
    }
}

fn read<T: DeserializeOwned>(folder: &GuardedFolder, name: &str) -> Result<Option<T>, TaskListError> {
    let Some(bytes) = folder.read(name, MAX_BYTES)? else { return Ok(None) };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|source| TaskListError::Json { path: folder.path().join(name), source })
}

fn write(folder: &GuardedFolder, name: &str, value: &impl Serialize) -> Result<(), TaskListError> {
    let failed = |source| TaskListError::Json { path: folder.path().join(name), source };
    Ok(folder.replace(name, &serde_json::to_vec_pretty(value).map_err(failed)?)?)
}

fn invalid_file(folder: &GuardedFolder, name: &str, what: &'static str) -> TaskListError {
    TaskListError::Invalid { path: folder.path().join(name), what }
}

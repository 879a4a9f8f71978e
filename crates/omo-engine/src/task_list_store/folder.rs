//! `TaskListFolder`: the folder of one task list, with reads of its files and, once locked, writes.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use omo_core::session::id::SessionId;
use omo_plan::task_list::rules::sort_tasks;
use omo_plan::task_list::{
    ContextFile, TaskFile, TaskList, TaskListFile, read_session, read_task, task_file_name,
};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use serde::Serialize;

use super::{EXPLORATION, LOCK_TIMEOUT, TaskListError};
use crate::ledger::run::ExclusiveGuard;

pub const SESSION_FILE: &str = "session.json";
pub const TASKS_FOLDER: &str = "tasks";
/// Lock file. It is never removed by itself.
pub(crate) const LOCK_FILE: &str = ".lock";
const CONTEXT: &str = "context.json";
const DESIGN: &str = "design.md";
const EVIDENCE: &str = "evidence";
const EVIDENCE_LOG: &str = "log.jsonl";
const INVALID_NAME: &str = "its name is not that of a task: a whole number, or `verify`";
const SUMMARY: &str = "summary.md";
pub(crate) const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct TaskListFolder {
    id: SessionId,
    folder: GuardedFolder,
}

#[derive(Debug, Default)]
pub struct LoadedTasks {
    pub tasks: Vec<TaskFile>,
    pub unreadable: Vec<TaskListError>,
    pub ids: Vec<String>,
}

impl TaskListFolder {
    pub(super) fn new(id: SessionId, folder: GuardedFolder) -> Self {
        Self { id, folder }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `true` if the folder has a session file, readable or not.
    pub fn is_task_list(&self) -> bool {
        self.folder.contains(SESSION_FILE)
    }

    /// Time of the last write to `session.json`, in seconds since 1970.
    pub fn written_at(&self) -> Option<i64> {
        self.folder.written_at(SESSION_FILE)
    }

    pub fn session_bytes(&self) -> Result<Vec<u8>, TaskListError> {
        self.folder
            .read(SESSION_FILE, MAX_BYTES)?
            .ok_or_else(|| self.not_found())
    }

    pub fn session(&self) -> Result<TaskListFile, TaskListError> {
        let bytes = self.session_bytes()?;
        read_session(self.id.as_str(), &bytes)
            .map_err(|problem| file_error(&self.folder, SESSION_FILE, &problem))
    }

    /// Findings of the session's explorers; `None` without any.
    pub fn context(&self) -> Result<Option<ContextFile>, TaskListError> {
        let Some(bytes) = self.folder.read(CONTEXT, MAX_BYTES)? else {
            return Ok(None);
        };
        let context = serde_json::from_slice(&bytes).map(Some);
        context.map_err(|error| file_error(&self.folder, CONTEXT, &error))
    }

    pub fn context_path(&self) -> PathBuf {
        self.path().join(CONTEXT)
    }

    /// The session with its tasks. An unreadable task is an error, and not left out.
    pub fn load(&self) -> Result<TaskList, TaskListError> {
        let file = self.session()?;
        let LoadedTasks {
            tasks, unreadable, ..
        } = self.tasks()?.unwrap_or_default();
        let (id, folder) = (self.id.to_string(), self.path().display().to_string());
        unreadable.into_iter().next().map_or(
            Ok(TaskList {
                id,
                folder,
                file,
                tasks,
            }),
            Err,
        )
    }

    /// The tasks; `None` where none was ever made.
    pub fn tasks(&self) -> Result<Option<LoadedTasks>, TaskListError> {
        let Some(folder) = self.folder.open_inner(TASKS_FOLDER)? else {
            return Ok(None);
        };
        let mut found = LoadedTasks::default();
        for name in folder.file_names("")? {
            let Some(id) = name.strip_suffix(".json") else {
                continue;
            };
            if task_file_name(id).is_none() {
                found
                    .unreadable
                    .push(file_error(&folder, &name, &INVALID_NAME));
                continue;
            }
            match read_task_in(&folder, id, &name) {
                Ok(task) => found.tasks.extend(task),
                Err(error) => found.unreadable.push(error),
            }
            found.ids.push(id.to_owned());
        }
        sort_tasks(&mut found.tasks);
        Ok(Some(found))
    }

    pub fn task(&self, id: &str) -> Result<TaskFile, TaskListError> {
        let missing = || TaskListError::NoTask {
            session: self.id.clone(),
            task: id.to_owned(),
            file: self.path().join(TASKS_FOLDER).join(format!("{id}.json")),
        };
        let name = task_file_name(id).ok_or_else(missing)?;
        let folder = self.folder.open_inner(TASKS_FOLDER)?.ok_or_else(missing)?;
        read_task_in(&folder, id, &name)?.ok_or_else(missing)
    }

    /// Number of pieces of evidence that other programs have written beside the tasks: lines that are objects.
    pub fn count_logged_evidence(&self) -> Result<usize, TaskListError> {
        let Some(folder) = self.folder.open_inner(EVIDENCE)? else {
            return Ok(0);
        };
        let bytes = folder.read(EVIDENCE_LOG, MAX_BYTES)?.unwrap_or_default();
        Ok(bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| {
                serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
            })
            .count())
    }

    /// Locks the session against other processes until the guard is dropped.
    pub fn lock(self) -> Result<LockedTaskList, TaskListError> {
        let guard = ExclusiveGuard::new(StateLock::take_named(
            &self.folder,
            LOCK_FILE,
            LOCK_TIMEOUT,
        )?);
        Ok(LockedTaskList {
            session: self,
            _guard: guard,
        })
    }

    fn not_found(&self) -> TaskListError {
        TaskListError::NotFound {
            session: self.id.clone(),
            file: self.path().join(SESSION_FILE),
        }
    }
}

/// The folder while this process holds its lock: the only state in which it is written.
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
    pub fn write_session(&self, session: &TaskListFile) -> Result<(), TaskListError> {
        write(&self.session.folder, SESSION_FILE, session)
    }

    pub fn write_context(&self, context: &ContextFile) -> Result<(), TaskListError> {
        write(&self.session.folder, CONTEXT, context)
    }

    pub fn write_task(&self, task: &TaskFile) -> Result<(), TaskListError> {
        let tasks = self.session.folder.create_folder(TASKS_FOLDER)?;
        let name =
            task_file_name(&task.id).ok_or_else(|| file_error(&tasks, &task.id, &INVALID_NAME))?;
        write(&tasks, &name, task)
    }

    pub fn write_design(&self, text: &str) -> Result<PathBuf, TaskListError> {
        self.session.folder.replace(DESIGN, text.as_bytes())?;
        Ok(self.session.path().join(DESIGN))
    }

    pub fn remove_task(&self, id: &str) -> Result<(), TaskListError> {
        let tasks = self.session.folder.create_folder(TASKS_FOLDER)?;
        Ok(task_file_name(id).map_or(Ok(()), |name| tasks.remove(&name))?)
    }

    pub fn write_summary(&self, text: &str) -> Result<PathBuf, TaskListError> {
        let tasks = self.session.folder.create_folder(TASKS_FOLDER)?;
        tasks.replace(SUMMARY, text.as_bytes())?;
        Ok(tasks.path().join(SUMMARY))
    }

    /// Renames files of an earlier session of this id with a number; its own file stays until the new one replaces it.
    pub fn set_earlier_files_aside(&self) -> Result<(), TaskListError> {
        let folder = &self.session.folder;
        let names = folder.file_names("")?;
        let kept = [
            SESSION_FILE,
            CONTEXT,
            DESIGN,
            TASKS_FOLDER,
            EXPLORATION,
            EVIDENCE,
        ];
        let aside = |name: &str, number: usize| format!("{name}.before-{number}");
        let Some(number) = (1..=names.len() + 1).find(|number| {
            kept.iter()
                .all(|name| !names.contains(&aside(name, *number)))
        }) else {
            return Ok(());
        };
        if let Some(bytes) = folder.read(SESSION_FILE, MAX_BYTES)? {
            folder.replace(&aside(SESSION_FILE, number), &bytes)?;
        }
        for name in kept
            .into_iter()
            .filter(|name| *name != SESSION_FILE && folder.contains(name))
        {
            folder.rename(name, &aside(name, number))?;
        }
        folder.create_folder(TASKS_FOLDER)?;
        folder.create_folder(EXPLORATION)?;
        Ok(())
    }
}

fn read_task_in(
    folder: &GuardedFolder,
    id: &str,
    name: &str,
) -> Result<Option<TaskFile>, TaskListError> {
    let Some(bytes) = folder.read(name, MAX_BYTES)? else {
        return Ok(None);
    };
    read_task(id, &bytes)
        .map(Some)
        .map_err(|problem| file_error(folder, name, &problem))
}

fn write(folder: &GuardedFolder, name: &str, value: &impl Serialize) -> Result<(), TaskListError> {
    let text =
        serde_json::to_vec_pretty(value).map_err(|error| file_error(folder, name, &error))?;
    Ok(folder.replace(name, &text)?)
}

fn file_error(folder: &GuardedFolder, name: &str, problem: &impl ToString) -> TaskListError {
    TaskListError::File {
        path: folder.path().join(name),
        problem: problem.to_string(),
    }
}

//! The files of a task list, written whole under the session's lock, and never over other programs' text.

use std::path::Path;

use omo_plan::digest::sha256_hex;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ledger::run::LOCK_TIMEOUT;
use crate::program_files::task_folder;
use crate::projection::{Output, OutputFolder, ProjectionError, Writing};
use crate::state::RunState;
use crate::task_list_store::{LOCK_FILE, MAX_BYTES, SESSION_FILE, TASKS_FOLDER};

struct SessionFolders {
    session: GuardedFolder,
    tasks: GuardedFolder,
}

impl SessionFolders {
    fn find<'n>(&self, name: &'n str) -> (&GuardedFolder, &'n str) {
        name.split_once('/')
            .map_or((&self.session, name), |(_, name)| (&self.tasks, name))
    }
}

impl OutputFolder for SessionFolders {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ProjectionError> {
        let (folder, name) = self.find(name);
        Ok(folder.read(name, MAX_BYTES)?)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ProjectionError> {
        let (folder, name) = self.find(name);
        Ok(folder.replace(name, bytes)?)
    }

    fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.session.path().display())
    }
}

/// Writes `session.json` and each task's file; `false` where the session's folder was removed.
pub(super) fn write(
    state: &RunState,
    run: &str,
    writing: &mut Writing<'_>,
) -> Result<bool, ProjectionError> {
    let Some(session) = GuardedFolder::open_below(Path::new(&state.plan.source.path), &[])? else {
        return Ok(false);
    };
    let _lock = StateLock::take_named(&session, LOCK_FILE, LOCK_TIMEOUT)?;
    let folders = SessionFolders {
        tasks: session.create_folder(TASKS_FOLDER)?,
        session,
    };
    // Text from before the run's first write is the text that it was opened with.
    let is_first = writing.memory.last.0 != run;
    let name = SESSION_FILE;
    writing.write_output(
        &folders,
        output(
            name,
            folders.read(name)?,
            is_first,
            |before| task_folder::session_file(before, state, run),
            task_folder::session_values_of_run,
        ),
    )?;
    for task in &state.plan.tasks {
        let name = &format!("{TASKS_FOLDER}/{}.json", task.id);
        writing.write_output(
            &folders,
            output(
                name,
                folders.read(name)?,
                is_first,
                |before| task_folder::task_file(before, task, state, run),
                task_folder::task_values_of_run,
            ),
        )?;
    }
    Ok(true)
}

/// Output for one file: its present bytes, parsed, as `with_run` changes them, with the digest of `values_of_run` before and
/// after.
fn output<T: Serialize + DeserializeOwned>(
    name: &str,
    old_bytes: Option<Vec<u8>>,
    is_first: bool,
    with_run: impl FnOnce(Option<T>) -> T,
    values_of_run: impl Fn(&T) -> Value,
) -> Output<'_> {
    let digest = |file: &T| sha256_hex(values_of_run(file).to_string().as_bytes());
    let old_file: Option<T> = old_bytes
        .as_deref()
        .and_then(|bytes| serde_json::from_slice(bytes).ok());
    let old_digest = old_file.as_ref().map(digest).unwrap_or_default();
    let is_original = is_first && old_file.is_some();
    let new_file = with_run(old_file);
    let mut new_bytes = serde_json::to_vec_pretty(&new_file).unwrap_or_default();
    new_bytes.push(b'\n');
    let whole = Some(new_bytes).filter(|new| old_bytes.as_ref() != Some(new));
    let before = old_bytes
        .filter(|_| !is_original)
        .map(|bytes| (old_digest, bytes));
    Output {
        name,
        key: name.to_owned(),
        before,
        after: digest(&new_file),
        whole,
    }
}

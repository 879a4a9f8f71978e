//! Writing the files of a task list from its run: under the session's own lock, whole, and never over what another
//! program has put where a run says what stands there.

use std::path::Path;

use omo_plan::digest::sha256_hex;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ledger::run::LOCK_TIMEOUT;
use crate::projection::{FileDrift, ProjectionError, ProjectionMemory};
use crate::report::task_list::render;
use crate::state::RunState;
use crate::task_list_store::{LOCK_FILE, SESSION_FILE, TASKS_FOLDER};

/// A larger file is none of a session.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// So many edits of one file are kept.
const MAX_KEPT_EDITS: usize = 99;

/// Makes the files of a session say what its run does. Those of a session whose folder was removed stay
/// away: the ledger has everything.
pub(crate) fn write(state: &RunState, run: &str, memory: &Path) -> Result<Vec<FileDrift>, ProjectionError> {
    let mut remembered = ProjectionMemory::read(memory)?;
    if remembered.has_written_until(run, state.seq) {
        return Ok(Vec::new());
    }
    let Some(folder) = GuardedFolder::open_below(Path::new(&state.plan.source.path), &[])? else {
        return Ok(Vec::new());
    };
    let _lock = StateLock::take_named(&folder, LOCK_FILE, LOCK_TIMEOUT)?;
    let tasks = GuardedFolder::create_below(Path::new(&state.plan.source.path), &[TASKS_FOLDER])?;
    // What is there before the run has written anything is what it was opened with.
    let is_first = !remembered.is_last(run);
    let mut drifts = Vec::new();
    let session = Wanted {
        folder: &folder,
        name: SESSION_FILE,
        shown: SESSION_FILE.to_owned(),
        of: &|before| render::session_file(before, state, run),
        set: &render::session_values_of_run,
    };
    drifts.extend(session.write_output(is_first, memory, &mut remembered)?);
    for unit in &state.plan.tasks {
        let name = format!("{}.json", unit.id);
        let task = Wanted {
            folder: &tasks,
            name: &name,
            shown: format!("{TASKS_FOLDER}/{name}"),
            of: &|before| render::task_file(before, unit, state, run),
            set: &render::task_values_of_run,
        };
        drifts.extend(task.write_output(is_first, memory, &mut remembered)?);
    }
    remembered.set_written_until(run, state.seq);
    remembered.write(memory)?;
    Ok(drifts)
}

/// One file and what it should say.
struct Wanted<'a, T> {
    folder: &'a GuardedFolder,
    name: &'a str,
    /// Its path from the session's folder.
    shown: String,
    /// What it should say, from what it says.
    of: &'a dyn Fn(Option<T>) -> T,
    /// What of it a run sets.
    set: &'a dyn Fn(&T) -> Value,
}

impl<T: Serialize + DeserializeOwned> Wanted<'_, T> {
    fn write_output(
        &self,
        is_first: bool,
        memory: &Path,
        remembered: &mut ProjectionMemory,
    ) -> Result<Option<FileDrift>, ProjectionError> {
        let bytes = self.folder.read(self.name, MAX_BYTES)?;
        let before: Option<T> = bytes.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        let digest = |file: &T| sha256_hex(&serde_json::to_vec(&(self.set)(file)).unwrap_or_default());
        let is_own = before.as_ref().is_some_and(|file| remembered.is_known(&self.shown, &digest(file)));
        let drift = match &bytes {
            Some(bytes) if !is_own && (!is_first || before.is_none()) => Some(self.keep_edited(bytes)?),
            _ => None,
        };
        let after = (self.of)(before);
        let mut text = serde_json::to_vec_pretty(&after).unwrap_or_default();
        text.push(b'\n');
        let said = digest(&after);
        if bytes.as_ref() != Some(&text) {
            // Remembered before it is written: if this process is killed in between, its own write is no edit.
            remembered.expect(&self.shown, &said);
            remembered.write(memory)?;
            self.folder.replace(self.name, &text)?;
        }
        remembered.settle(&self.shown, said);
        Ok(drift)
    }

    /// Keeps what something else wrote, under a name of its own beside the file.
    fn keep_edited(&self, edited: &[u8]) -> Result<FileDrift, ProjectionError> {
        let folder = self.folder.path().display().to_string();
        for number in 1..=MAX_KEPT_EDITS {
            let name = format!("{}.edited-{number}", self.name);
            match self.folder.read(&name, MAX_BYTES)? {
                Some(known) if known != edited => continue,
                Some(_) => {}
                None => self.folder.replace(&name, edited)?,
            }
            return Ok(FileDrift { file: self.shown.clone(), kept: Some(format!("{folder}/{name}")) });
        }
        Ok(FileDrift { file: self.shown.clone(), kept: None })
    }
}

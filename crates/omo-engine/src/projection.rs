//! Writing the files that a dialect names: after each event that changes them, whole, and never over what another
//! program wrote.
//!
//! What was written last is remembered in the run's folder, before it is written: a file that is neither that nor what
//! should be there now was edited by something else. The edited one is kept beside it.

pub(crate) mod stats;
pub(crate) mod task_list;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use omo_plan::dialects::PlanKind;
use omo_plan::digest::sha256_hex;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use omo_state::files::project_file::{ProjectFile, ProjectFileError};
use serde::{Deserialize, Serialize};

use crate::event::RunResult;
use crate::report::dev_workflow::{CHECKPOINT_PATH, REPORT_PATH, checkpoint, execution_report};
use crate::report::ultraplan;
use crate::state::{RunPhase, RunState};

/// The file that remembers what was written in a work tree, beside the runs of its repository: each work
/// tree has files of its own.
pub fn memory_path(runs: &Path, root: &Path) -> PathBuf {
    const DIGITS: usize = 16;
    let digest = sha256_hex(root.as_os_str().as_encoded_bytes());
    runs.join(format!("written-{}.json", digest.get(..DIGITS).unwrap_or(&digest)))
}

/// A larger file is not one that omo wrote.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What was written last, by any run of the work tree: a later run of a plan finds what the one before it
/// left.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectionMemory {
    /// The run that wrote last, and the event up to which everything was written.
    last: (String, u64),
    /// For each file what may be in it by omo's own hand: what was written last, and what was about
    /// to be.
    files: BTreeMap<String, Vec<String>>,
}

/// A file that something else had changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDrift {
    /// Which one, from the project's top.
    pub file: String,
    /// Where what was in it is now.
    pub kept: Option<String>,
}

/// Why the files could not be written. The ledger is not changed by that.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// A file could not be.
    #[error(transparent)]
    File(#[from] ProjectFileError),
    /// A file of a task list could not be.
    #[error(transparent)]
    TaskList(#[from] FolderError),
    /// Another process writes the files of a task list all the time.
    #[error("the session's files: {0}")]
    Lock(#[from] LockError),
    /// What was written last could not be remembered, or looked up.
    #[error("remember what was written: {0}")]
    Memory(#[from] std::io::Error),
}

/// The files of a run in its project.
#[derive(Debug)]
pub struct Projection<'a> {
    root: &'a Path,
    memory: &'a Path,
    run: &'a str,
}

/// One file and what it should hold.
struct Wanted<'a> {
    file: &'a str,
    /// What it is remembered by: a report holds the sections of several plans.
    key: String,
    /// All of it.
    whole: Vec<u8>,
    /// The part of it that is ours, as it is now and as it will be.
    ours: (Option<Vec<u8>>, Vec<u8>),
}

impl<'a> Projection<'a> {
    /// Those of a project; `memory` is the file that remembers what was written, and `run` the run that they belong to.
    pub fn new(root: &'a Path, memory: &'a Path, run: &'a str) -> Self {
        Self { root, memory, run }
    }

    /// Whether they could all be written.
    pub fn require_writable(&self) -> Result<(), ProjectionError> {
        for path in [CHECKPOINT_PATH, REPORT_PATH] {
            if let Some(file) = ProjectFile::at(self.root, path) {
                file.check_writable()?;
            }
        }
        Ok(())
    }

    /// The checkpoint that is there, whichever program wrote it.
    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, ProjectionError> {
        let Some(file) = ProjectFile::at(self.root, CHECKPOINT_PATH) else { return Ok(None) };
        Ok(file.read(MAX_BYTES)?)
    }

    /// Whether omo wrote the checkpoint that is there, or there is none.
    pub fn owns_checkpoint(&self) -> Result<bool, ProjectionError> {
        let found = self.checkpoint()?;
        let memory = self.read_memory()?;
        Ok(found.is_none_or(|bytes| memory.is_own(CHECKPOINT_PATH, &bytes)))
    }

    /// Whether no other run has written since this one did.
    pub fn is_last(&self) -> Result<bool, ProjectionError> {
        let last = self.read_memory()?.last.0;
        Ok(last.is_empty() || last == self.run)
    }

    /// Writes what differs: first how the run stands, then the report, and a checkpoint that is no longer
    /// needed goes last.
    ///
    /// What a later state of the run has written stays.
    pub fn write(&self, state: &RunState) -> Result<Vec<FileDrift>, ProjectionError> {
        let mut memory = self.read_memory()?;
        let kind = state.plan.dialect.kind();
        if kind == PlanKind::TaskList || memory.has_written_until(self.run, state.seq) {
            return Ok(Vec::new());
        }
        let drifts = match kind {
            PlanKind::Tasks => self.write_execution(state, &mut memory)?,
            PlanKind::Steps => self.write_progress(state, &mut memory)?,
            PlanKind::TaskList => Vec::new(),
        };
        memory.last = (self.run.to_owned(), state.seq);
        self.write_memory(&memory)?;
        Ok(drifts)
    }

    /// The progress file of a plan in steps, beside its plan. A plan that lies outside of the project has an absolute path.
    fn write_progress(
        &self,
        state: &RunState,
        memory: &mut ProjectionMemory,
    ) -> Result<Vec<FileDrift>, ProjectionError> {
        let mut drifts = Vec::new();
        let key = ultraplan::progress_path(state);
        let outside = Path::new(&key).is_absolute().then(|| Path::new(&key).parent()).flatten();
        let beside = Projection { root: outside.unwrap_or(self.root), ..*self };
        let path = if outside.is_some() { ultraplan::file_name(&key) } else { &key };
        let progress = ultraplan::progress_file::progress_file(state, ultraplan::scope_of(state));
        let text = (serde_json::to_string_pretty(&progress).map_err(std::io::Error::other)? + "\n").into_bytes();
        let ours = (beside.read(path)?, text.clone());
        beside.write_output(Wanted { file: path, key: key.clone(), ours, whole: text }, memory, &mut drifts)?;
        Ok(drifts)
    }

    /// The checkpoint and the report of a plan of tasks.
    fn write_execution(
        &self,
        state: &RunState,
        memory: &mut ProjectionMemory,
    ) -> Result<Vec<FileDrift>, ProjectionError> {
        let mut drifts = Vec::new();
        let checkpoint = checkpoint::render(state).into_bytes();
        let before = self.read(CHECKPOINT_PATH)?;
        let key = CHECKPOINT_PATH.to_owned();
        let ours = (before, checkpoint.clone());
        self.write_output(Wanted { file: CHECKPOINT_PATH, key, ours, whole: checkpoint }, memory, &mut drifts)?;
        let report = self.read(REPORT_PATH)?.unwrap_or_default();
        let section = execution_report::section(state);
        let whole = execution_report::with_section(&report, &state.plan.source.path, &section);
        let before = execution_report::find_section(&report, &state.plan.source.path)
            .and_then(|range| report.get(range))
            .map(with_one_newline);
        let key = format!("{REPORT_PATH} of {}", state.plan.source.path);
        let ours = (before, with_one_newline(section.as_bytes()));
        self.write_output(Wanted { file: REPORT_PATH, key, ours, whole }, memory, &mut drifts)?;
        if state.phase == (RunPhase::Ended { result: RunResult::Complete })
            && let Some(file) = ProjectFile::at(self.root, CHECKPOINT_PATH)
        {
            file.remove()?;
            memory.files.remove(CHECKPOINT_PATH);
        }
        Ok(drifts)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ProjectionError> {
        let Some(file) = ProjectFile::at(self.root, path) else { return Ok(None) };
        Ok(file.read(MAX_BYTES)?)
    }

    fn write_output(
        &self,
        wanted: Wanted,
        memory: &mut ProjectionMemory,
        drifts: &mut Vec<FileDrift>,
    ) -> Result<(), ProjectionError> {
        let Some(file) = ProjectFile::at(self.root, wanted.file) else { return Ok(()) };
        let (before, after) = wanted.ours;
        if before.as_ref() == Some(&after) {
            memory.files.insert(wanted.key, vec![sha256_hex(&after)]);
            return Ok(());
        }
        if let Some(edited) = before.filter(|before| !memory.is_own(&wanted.key, before)) {
            drifts.push(self.keep_edited(wanted.file, &edited)?);
        }
        let own = memory.files.entry(wanted.key.clone()).or_default();
        own.push(sha256_hex(&after));
        self.write_memory(memory)?;
        file.replace(&wanted.whole)?;
        memory.files.insert(wanted.key, vec![sha256_hex(&after)]);
        Ok(())
    }

    /// Keeps what something else wrote, under a name of its own beside the file.
    fn keep_edited(&self, path: &str, edited: &[u8]) -> Result<FileDrift, ProjectionError> {
        const MOST: usize = 99;
        let digest = sha256_hex(edited);
        for number in 1..=MOST {
            let name = format!("{path}.edited-{number}");
            let Some(file) = ProjectFile::at(self.root, &name) else { break };
            match file.read(MAX_BYTES)? {
                Some(known) if sha256_hex(&known) == digest => {
                    return Ok(FileDrift { file: path.to_owned(), kept: Some(name) });
                }
                Some(_) => {}
                None => {
                    file.replace(edited)?;
                    return Ok(FileDrift { file: path.to_owned(), kept: Some(name) });
                }
            }
        }
        Ok(FileDrift { file: path.to_owned(), kept: None })
    }

    fn read_memory(&self) -> Result<ProjectionMemory, ProjectionError> {
        ProjectionMemory::read(self.memory)
    }

    fn write_memory(&self, memory: &ProjectionMemory) -> Result<(), ProjectionError> {
        memory.write(self.memory)
    }
}

/// A section without what parts it from the next one.
fn with_one_newline(section: &[u8]) -> Vec<u8> {
    [section.trim_ascii_end(), b"\n"].concat()
}

impl ProjectionMemory {
    /// What is no memory is nothing that omo wrote: then everything that is there is kept.
    pub(crate) fn read(path: &Path) -> Result<Self, ProjectionError> {
        match std::fs::read(path) {
            Ok(text) => Ok(serde_json::from_slice(&text).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), ProjectionError> {
        let temporary = path.with_extension("tmp");
        std::fs::write(&temporary, serde_json::to_vec(self).unwrap_or_default())?;
        Ok(std::fs::rename(&temporary, path)?)
    }

    /// Whether this run has written up to this event, or further.
    pub(crate) fn has_written_until(&self, run: &str, seq: u64) -> bool {
        self.is_last(run) && self.last.1 >= seq
    }

    /// Whether this run was the last one to write.
    pub(crate) fn is_last(&self, run: &str) -> bool {
        self.last.0 == run
    }

    /// This run has written everything up to this event.
    pub(crate) fn set_written_until(&mut self, run: &str, seq: u64) {
        self.last = (run.to_owned(), seq);
    }

    /// Whether omo put what has this digest under this key.
    pub(crate) fn is_known(&self, key: &str, digest: &str) -> bool {
        self.files.get(key).is_some_and(|known| known.iter().any(|one| one == digest))
    }

    /// What has this digest is about to be written.
    pub(crate) fn expect(&mut self, key: &str, digest: &str) {
        self.files.entry(key.to_owned()).or_default().push(digest.to_owned());
    }

    /// What has this digest is there, and nothing else that omo wrote.
    pub(crate) fn settle(&mut self, key: &str, digest: String) {
        self.files.insert(key.to_owned(), vec![digest]);
    }

    fn is_own(&self, key: &str, bytes: &[u8]) -> bool {
        self.is_known(key, &sha256_hex(bytes))
    }
}

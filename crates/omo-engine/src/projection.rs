//! Writing the files that a dialect names: after each event that changes them, whole, and never over what another
//! program wrote.
//!
//! What was written last is remembered in the run's folder, before it is written: a file that is neither that nor what
//! should be there now was edited by something else. The edited one is kept beside it.

pub(crate) mod stats;
mod task_list;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use omo_plan::dialects::PlanKind;
use omo_plan::digest::sha256_hex;
use omo_plan::model::Dialect;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use omo_state::files::project_file::{ProjectFile, ProjectFileError};
use serde::{Deserialize, Serialize};

use crate::event::RunResult;
use crate::program_files::{execute_plan_checkpoint, execution_report, ultraexecute_progress};
use crate::report::dev_workflow::{CHECKPOINT_PATH, REPORT_PATH};
use crate::report::ultraplan;
use crate::state::{RunPhase, RunState};

/// The file that remembers what was written in a work tree, beside the runs of its repository: each work
/// tree has files of its own.
pub fn memory_path(runs: &Path, root: &Path) -> PathBuf {
    const DIGITS: usize = 16;
    let digest = sha256_hex(root.as_os_str().as_encoded_bytes());
    runs.join(format!("written-{}.json", digest.get(..DIGITS).unwrap_or(&digest)))
}

/// `true` where a file for other programs lies in the project: its plan's format has it there, or its folder is there
/// already.
pub fn is_in_project(root: &Path, dialect: Dialect, path: &str) -> bool {
    let has_folder = || Path::new(path).parent().is_some_and(|folder| root.join(folder).is_dir());
    dialect == Dialect::DevWorkflow || has_folder()
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

/// A folder that files for others are written into.
trait OutputFolder {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ProjectionError>;
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ProjectionError>;
    /// The path of a file in it, for people.
    fn shown(&self, name: &str) -> String;
}

impl OutputFolder for &Path {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ProjectionError> {
        let Some(file) = ProjectFile::at(self, name) else { return Ok(None) };
        Ok(file.read(MAX_BYTES)?)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ProjectionError> {
        Ok(ProjectFile::at(self, name).map_or(Ok(()), |file| file.replace(bytes))?)
    }

    fn shown(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// A file and its new content.
struct Output<'a> {
    name: &'a str,
    /// Its key in [`ProjectionMemory`]: a report holds the sections of several plans.
    key: String,
    /// The digest of omo's part in the file as it is, and what is kept of it unless omo wrote that part.
    before: Option<(String, Vec<u8>)>,
    /// The digest of omo's part as it will be.
    after: String,
    /// All of the new file; `None` where nothing changes.
    whole: Option<Vec<u8>>,
}

impl<'a> Output<'a> {
    /// A file of which this part is omo's, as it is and as it will be.
    fn of_part(name: &'a str, key: String, now: Option<Vec<u8>>, part: &[u8], whole: Vec<u8>) -> Self {
        let is_same = now.as_deref() == Some(part);
        let before = now.filter(|_| !is_same).map(|now| (sha256_hex(&now), now));
        Self { name, key, before, after: sha256_hex(part), whole: (!is_same).then_some(whole) }
    }
}

/// The files of a run while they are written.
struct Writing<'a> {
    memory_file: &'a Path,
    memory: ProjectionMemory,
    drifts: Vec<FileDrift>,
}

impl<'a> Projection<'a> {
    /// Those of a project; `memory` is the file that remembers what was written, and `run` the run that they belong to.
    pub fn new(root: &'a Path, memory: &'a Path, run: &'a str) -> Self {
        Self { root, memory, run }
    }

    /// Whether those of a plan of this dialect could all be written.
    pub fn require_writable(&self, dialect: Dialect) -> Result<(), ProjectionError> {
        for path in [CHECKPOINT_PATH, REPORT_PATH].into_iter().filter(|path| is_in_project(self.root, dialect, path)) {
            if let Some(file) = ProjectFile::at(self.root, path) {
                file.check_writable()?;
            }
        }
        Ok(())
    }

    /// The checkpoint that is there, whichever program wrote it.
    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, ProjectionError> {
        self.root.read(CHECKPOINT_PATH)
    }

    /// Whether omo wrote the checkpoint that is there, or there is none.
    pub fn owns_checkpoint(&self) -> Result<bool, ProjectionError> {
        let found = self.checkpoint()?;
        let memory = self.read_memory()?;
        Ok(found.is_none_or(|bytes| memory.is_known(CHECKPOINT_PATH, &sha256_hex(&bytes))))
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
        let memory = self.read_memory()?;
        if memory.last.0 == self.run && memory.last.1 >= state.seq {
            return Ok(Vec::new());
        }
        let mut writing = Writing { memory_file: self.memory, memory, drifts: Vec::new() };
        let is_there = match state.plan.dialect.kind() {
            PlanKind::Tasks => self.write_execution(state, &mut writing).map(|()| true)?,
            PlanKind::Steps => self.write_progress(state, &mut writing).map(|()| true)?,
            PlanKind::TaskList => task_list::write(state, self.run, &mut writing)?,
        };
        if is_there {
            writing.memory.last = (self.run.to_owned(), state.seq);
            writing.write_memory()?;
        }
        Ok(writing.drifts)
    }

    /// The progress file of a plan in steps, beside its plan. A plan that lies outside of the project has an absolute path.
    fn write_progress(&self, state: &RunState, writing: &mut Writing<'_>) -> Result<(), ProjectionError> {
        let key = ultraexecute_progress::progress_path(state);
        let outside = Path::new(&key).is_absolute().then(|| Path::new(&key).parent()).flatten();
        let path = if outside.is_some() { ultraplan::file_name(&key) } else { &key };
        let root = outside.unwrap_or(self.root);
        let progress = ultraexecute_progress::progress_file(state, ultraplan::scope_of(state));
        let text = (serde_json::to_string_pretty(&progress).map_err(std::io::Error::other)? + "\n").into_bytes();
        writing.write_output(&root, Output::of_part(path, key.clone(), root.read(path)?, &text, text.clone()))
    }

    /// Folder and name of a file for other programs. Outside of the project it lies in the git folder, apart for each work
    /// tree.
    fn place_of(&self, state: &RunState, path: &'static str) -> Result<(PathBuf, &'static str), ProjectionError> {
        if is_in_project(self.root, state.plan.dialect, path) {
            return Ok((self.root.to_owned(), path));
        }
        let work_tree = self.memory.file_stem().unwrap_or_default();
        let omo = self.memory.parent().and_then(Path::parent).unwrap_or(self.root);
        let folder = omo.join("files").join(work_tree);
        std::fs::create_dir_all(&folder)?;
        Ok((folder, path.rsplit('/').next().unwrap_or(path)))
    }

    /// The checkpoint and the report of a plan of tasks.
    fn write_execution(&self, state: &RunState, writing: &mut Writing<'_>) -> Result<(), ProjectionError> {
        let (folder, name) = self.place_of(state, CHECKPOINT_PATH)?;
        let checkpoint = execute_plan_checkpoint::render(state).into_bytes();
        let now = folder.as_path().read(name)?;
        let output = Output::of_part(name, CHECKPOINT_PATH.to_owned(), now, &checkpoint, checkpoint.clone());
        writing.write_output(&folder.as_path(), output)?;
        let checkpoint = ProjectFile::at(&folder, name);
        let (folder, name) = self.place_of(state, REPORT_PATH)?;
        let report = folder.as_path().read(name)?.unwrap_or_default();
        let section = execution_report::section(state);
        let whole = execution_report::with_section(&report, &state.plan.source.path, &section);
        let now = execution_report::find_section(&report, &state.plan.source.path)
            .and_then(|range| report.get(range))
            .map(with_one_newline);
        let key = format!("{REPORT_PATH} of {}", state.plan.source.path);
        let output = Output::of_part(name, key, now, &with_one_newline(section.as_bytes()), whole);
        writing.write_output(&folder.as_path(), output)?;
        if state.phase == (RunPhase::Ended { result: RunResult::Complete })
            && let Some(file) = checkpoint
        {
            file.remove()?;
            writing.memory.files.remove(CHECKPOINT_PATH);
        }
        Ok(())
    }

    /// A memory that cannot be parsed names no file of omo's: then everything that is there is kept.
    fn read_memory(&self) -> Result<ProjectionMemory, ProjectionError> {
        match std::fs::read(self.memory) {
            Ok(text) => Ok(serde_json::from_slice(&text).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(ProjectionMemory::default()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Writing<'_> {
    fn write_output(&mut self, folder: &dyn OutputFolder, output: Output<'_>) -> Result<(), ProjectionError> {
        let Output { name, key, before, after, whole } = output;
        if let Some((_, edited)) = before.filter(|(digest, _)| !self.memory.is_known(&key, digest)) {
            self.drifts.push(FileDrift { file: name.to_owned(), kept: keep_edited(folder, name, &edited)? });
        }
        if let Some(whole) = whole {
            // Remembered before it is written: if this process is killed in between, its own write is no edit.
            self.memory.files.entry(key.clone()).or_default().push(after.clone());
            self.write_memory()?;
            folder.replace(name, &whole)?;
        }
        self.memory.files.insert(key, vec![after]);
        Ok(())
    }

    fn write_memory(&self) -> Result<(), ProjectionError> {
        let temporary = self.memory_file.with_extension("tmp");
        std::fs::write(&temporary, serde_json::to_vec(&self.memory).unwrap_or_default())?;
        Ok(std::fs::rename(&temporary, self.memory_file)?)
    }
}

/// Keeps what something else wrote, under a name of its own beside the file; gives the path of that.
fn keep_edited(folder: &dyn OutputFolder, name: &str, edited: &[u8]) -> Result<Option<String>, ProjectionError> {
    const MOST: usize = 99;
    for number in 1..=MOST {
        let name = format!("{name}.edited-{number}");
        match folder.read(&name)? {
            Some(known) if known != edited => continue,
            Some(_) => {}
            None => folder.replace(&name, edited)?,
        }
        return Ok(Some(folder.shown(&name)));
    }
    Ok(None)
}

/// A section without what parts it from the next one.
fn with_one_newline(section: &[u8]) -> Vec<u8> {
    [section.trim_ascii_end(), b"\n"].concat()
}

impl ProjectionMemory {
    /// Whether omo put what has this digest under this key.
    fn is_known(&self, key: &str, digest: &str) -> bool {
        self.files.get(key).is_some_and(|known| known.iter().any(|one| one == digest))
    }
}

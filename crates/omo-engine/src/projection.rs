//! Writer of the files that a plan's dialect names, such as a progress file. A text that omo did
//! not write last is another program's, and is kept beside the file.

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

/// Path of the file that remembers written texts: beside the runs, one for each work tree.
pub fn memory_path(runs: &Path, root: &Path) -> PathBuf {
    const DIGITS: usize = 16;
    let digest = sha256_hex(root.as_os_str().as_encoded_bytes());
    runs.join(format!(
        "written-{}.json",
        digest.get(..DIGITS).unwrap_or(&digest)
    ))
}

/// `true` where the plan's format has the file in the project, or its folder is there already.
pub fn is_in_project(root: &Path, dialect: Dialect, path: &str) -> bool {
    dialect == Dialect::DevWorkflow
        || Path::new(path)
            .parent()
            .is_some_and(|folder| root.join(folder).is_dir())
}

const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Texts written last by any run of the work tree: a later run of a plan finds those of the one before it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectionMemory {
    last: (String, u64),
    /// Digests that a file may have by omo's own hand: the last text, and the next one.
    files: BTreeMap<String, Vec<String>>,
}

/// A file that another program has edited, and the name under which its text is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDrift {
    pub file: String,
    pub kept: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    #[error(transparent)]
    File(#[from] ProjectFileError),
    #[error(transparent)]
    TaskList(#[from] FolderError),
    #[error("the session's files: {0}")]
    Lock(#[from] LockError),
    #[error("remember what was written: {0}")]
    Memory(#[from] std::io::Error),
}

#[derive(Debug)]
pub struct Projection<'a> {
    root: &'a Path,
    memory: &'a Path,
    run: &'a str,
}

trait OutputFolder {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ProjectionError>;
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ProjectionError>;
    fn shown(&self, name: &str) -> String;
}

impl OutputFolder for &Path {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ProjectionError> {
        let Some(file) = ProjectFile::at(self, name) else {
            return Ok(None);
        };
        Ok(file.read(MAX_BYTES)?)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ProjectionError> {
        Ok(ProjectFile::at(self, name).map_or(Ok(()), |file| file.replace(bytes))?)
    }

    fn shown(&self, name: &str) -> String {
        name.to_owned()
    }
}

struct Output<'a> {
    name: &'a str,
    /// Key in [`ProjectionMemory`]: a report holds the sections of several plans.
    key: String,
    before: Option<(String, Vec<u8>)>,
    after: String,
    whole: Option<Vec<u8>>,
}

impl<'a> Output<'a> {
    fn of_part(
        name: &'a str,
        key: String,
        now: Option<Vec<u8>>,
        part: &[u8],
        whole: Vec<u8>,
    ) -> Self {
        let is_same = now.as_deref() == Some(part);
        let before = now.filter(|_| !is_same).map(|now| (sha256_hex(&now), now));
        Self {
            name,
            key,
            before,
            after: sha256_hex(part),
            whole: (!is_same).then_some(whole),
        }
    }
}

struct Writing<'a> {
    memory_file: &'a Path,
    memory: ProjectionMemory,
    drifts: Vec<FileDrift>,
}

impl<'a> Projection<'a> {
    /// Files of a project; `memory` is the file that remembers written texts, and `run` the run that they belong to.
    pub fn new(root: &'a Path, memory: &'a Path, run: &'a str) -> Self {
        Self { root, memory, run }
    }

    pub fn require_writable(&self, dialect: Dialect) -> Result<(), ProjectionError> {
        for path in [CHECKPOINT_PATH, REPORT_PATH]
            .into_iter()
            .filter(|path| is_in_project(self.root, dialect, path))
        {
            if let Some(file) = ProjectFile::at(self.root, path) {
                file.check_writable()?;
            }
        }
        Ok(())
    }

    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, ProjectionError> {
        self.root.read(CHECKPOINT_PATH)
    }

    pub fn owns_checkpoint(&self) -> Result<bool, ProjectionError> {
        let found = self.checkpoint()?;
        let memory = self.read_memory()?;
        Ok(found.is_none_or(|bytes| memory.is_known(CHECKPOINT_PATH, &sha256_hex(&bytes))))
    }

    pub fn is_last(&self) -> Result<bool, ProjectionError> {
        let last = self.read_memory()?.last.0;
        Ok(last.is_empty() || last == self.run)
    }

    /// Writes files that differ from `state`, unless a later state wrote them; returns edited ones.
    pub fn write(&self, state: &RunState) -> Result<Vec<FileDrift>, ProjectionError> {
        let memory = self.read_memory()?;
        if memory.last.0 == self.run && memory.last.1 >= state.seq {
            return Ok(Vec::new());
        }
        let mut writing = Writing {
            memory_file: self.memory,
            memory,
            drifts: Vec::new(),
        };
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

    /// A plan outside of the project has an absolute path.
    fn write_progress(
        &self,
        state: &RunState,
        writing: &mut Writing<'_>,
    ) -> Result<(), ProjectionError> {
        let key = ultraexecute_progress::progress_path(state);
        let outside = Path::new(&key)
            .is_absolute()
            .then(|| Path::new(&key).parent())
            .flatten();
        let path = if outside.is_some() {
            ultraplan::file_name(&key)
        } else {
            &key
        };
        let root = outside.unwrap_or(self.root);
        let progress = ultraexecute_progress::progress_file(state, ultraplan::scope_of(state));
        let text = (serde_json::to_string_pretty(&progress).map_err(std::io::Error::other)? + "\n")
            .into_bytes();
        writing.write_output(
            &root,
            Output::of_part(path, key.clone(), root.read(path)?, &text, text.clone()),
        )
    }

    /// Outside of the project the file lies in the `git` folder, apart for each work tree.
    fn place_of(
        &self,
        state: &RunState,
        path: &'static str,
    ) -> Result<(PathBuf, &'static str), ProjectionError> {
        if is_in_project(self.root, state.plan.dialect, path) {
            return Ok((self.root.to_owned(), path));
        }
        let work_tree = self.memory.file_stem().unwrap_or_default();
        let omo = self
            .memory
            .parent()
            .and_then(Path::parent)
            .unwrap_or(self.root);
        let folder = omo.join("files").join(work_tree);
        std::fs::create_dir_all(&folder)?;
        Ok((folder, path.rsplit('/').next().unwrap_or(path)))
    }

    fn write_execution(
        &self,
        state: &RunState,
        writing: &mut Writing<'_>,
    ) -> Result<(), ProjectionError> {
        let (folder, name) = self.place_of(state, CHECKPOINT_PATH)?;
        let checkpoint = execute_plan_checkpoint::render(state).into_bytes();
        let now = folder.as_path().read(name)?;
        let output = Output::of_part(
            name,
            CHECKPOINT_PATH.to_owned(),
            now,
            &checkpoint,
            checkpoint.clone(),
        );
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
        if state.phase
            == (RunPhase::Ended {
                result: RunResult::Complete,
            })
            && let Some(file) = checkpoint
        {
            file.remove()?;
            writing.memory.files.remove(CHECKPOINT_PATH);
        }
        Ok(())
    }

    /// The memory; one that cannot be parsed names no file of omo's: then every present file is kept.
    fn read_memory(&self) -> Result<ProjectionMemory, ProjectionError> {
        match std::fs::read(self.memory) {
            Ok(text) => Ok(serde_json::from_slice(&text).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(ProjectionMemory::default()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Writing<'_> {
    fn write_output(
        &mut self,
        folder: &dyn OutputFolder,
        output: Output<'_>,
    ) -> Result<(), ProjectionError> {
        let Output {
            name,
            key,
            before,
            after,
            whole,
        } = output;
        if let Some((_, edited)) = before.filter(|(digest, _)| !self.memory.is_known(&key, digest))
        {
            self.drifts.push(FileDrift {
                file: name.to_owned(),
                kept: keep_edited(folder, name, &edited)?,
            });
        }
        if let Some(whole) = whole {
            // Remembered before it is written: if this process is killed in between, its own write is no edit.
            self.memory
                .files
                .entry(key.clone())
                .or_default()
                .push(after.clone());
            self.write_memory()?;
            folder.replace(name, &whole)?;
        }
        self.memory.files.insert(key, vec![after]);
        Ok(())
    }

    fn write_memory(&self) -> Result<(), ProjectionError> {
        let temporary = self.memory_file.with_extension("tmp");
        std::fs::write(
            &temporary,
            serde_json::to_vec(&self.memory).unwrap_or_default(),
        )?;
        Ok(std::fs::rename(&temporary, self.memory_file)?)
    }
}

/// Keeps the text of another program under a name of its own beside the file; gives the path of that.
fn keep_edited(
    folder: &dyn OutputFolder,
    name: &str,
    edited: &[u8],
) -> Result<Option<String>, ProjectionError> {
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

fn with_one_newline(section: &[u8]) -> Vec<u8> {
    [section.trim_ascii_end(), b"\n"].concat()
}

impl ProjectionMemory {
    /// omo wrote the text with this digest under this key.
    fn is_known(&self, key: &str, digest: &str) -> bool {
        self.files
            .get(key)
            .is_some_and(|known| known.iter().any(|known| known == digest))
    }
}

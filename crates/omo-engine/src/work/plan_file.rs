//! The plan's file: read once and whole, compared with what a run knows of it, and edited where a
//! decision is written into it.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use omo_plan::dialects::{self, BatchOptions, PlanChange};
use omo_plan::digest::sha256_hex;
use omo_plan::model::{MAX_PLAN_BYTES, Plan, PlanDecision, Precondition};
use omo_state::files::project_file::{ProjectFile, ProjectFileError};

use crate::state::{PlanDifferences, RunState};

/// Why a plan's file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is not there.
    #[error("there is no file {0}")]
    Missing(PathBuf),
    /// It is, and cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It lies outside of the project.
    #[error("{0} lies outside of the project")]
    Outside(PathBuf),
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] ProjectFileError),
}

/// A plan's file as it was read.
#[derive(Debug)]
pub struct PlanFile {
    /// Its path from the project's top, with `/` between its parts.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl PlanFile {
    /// Reads a plan, which lies in the project. `given` is absolute, or from the current folder.
    pub fn read(root: &Path, current: &Path, given: &Path) -> Result<Self, PlanFileError> {
        let absolute = current.join(given);
        let real = absolute.canonicalize().map_err(|source| read_error(&absolute, source))?;
        let top = root.canonicalize().map_err(|source| read_error(root, source))?;
        let inner = real.strip_prefix(&top).map_err(|_| PlanFileError::Outside(absolute.clone()))?;
        let parts: Vec<String> =
            inner.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Ok(Self { path: parts.join("/"), bytes: read_plan_bytes(&real)? })
    }

    /// As [`PlanFile::read`], also where the plan lies outside of the project: its path is absolute then.
    pub fn read_anywhere(root: &Path, current: &Path, given: &Path) -> Result<Self, PlanFileError> {
        match Self::read(root, current, given) {
            Err(PlanFileError::Outside(path)) => {
                let real = path.canonicalize().map_err(|source| read_error(&path, source))?;
                Ok(Self { path: real.to_string_lossy().into_owned(), bytes: read_plan_bytes(&real)? })
            }
            read => read,
        }
    }

    /// The plan that it holds.
    pub fn plan(&self, options: BatchOptions) -> Plan {
        dialects::read(&self.path, &self.bytes, options)
    }
}

fn read_error(path: &Path, source: std::io::Error) -> PlanFileError {
    if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return PlanFileError::Missing(path.to_owned());
    }
    PlanFileError::Read { path: path.to_owned(), source }
}

/// Reads a plan's bytes: one more than a plan may have show that it is too large.
pub fn read_plan_bytes(path: &Path) -> Result<Vec<u8>, PlanFileError> {
    use std::io::Read;
    let failed = |source| read_error(path, source);
    let file = omo_state::files::regular_file::open(path).map_err(failed)?;
    let not_regular = || failed(std::io::Error::other("it is no regular file"));
    let file = file.ok_or_else(not_regular)?;
    // As long as it says, and one byte for its end: a buffer that has to grow is copied each time.
    let length = file.metadata().map_err(failed)?.len().min(MAX_PLAN_BYTES) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(MAX_PLAN_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// What became of a plan's file.
#[derive(Debug)]
pub enum PlanEdit {
    /// Units say something else, are new, or are gone.
    Tasks(PlanDifferences),
    /// Something beside the tasks, which are called so.
    OtherText(&'static str),
}

impl fmt::Display for PlanEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differences = match self {
            Self::Tasks(differences) => differences,
            Self::OtherText(word) => return write!(f, "what stands around its {word}s"),
        };
        let parts = [
            ("changed", &differences.changed),
            ("added", &differences.added),
            ("removed", &differences.removed),
            ("ticked", &differences.ticked),
        ];
        let said: Vec<String> = parts
            .iter()
            .filter(|(_, ids)| !ids.is_empty())
            .map(|(word, ids)| format!("{word} {}", ids.join(", ")))
            .collect();
        f.write_str(&said.join("; "))
    }
}

/// What is different in a plan's file from what a run knows of it; `None` where nothing is. A file that
/// is gone says nothing: the run has the whole plan. The files of a task list are made from its run, and
/// what something else writes into them is no plan.
pub fn find_edit(root: &Path, state: &RunState) -> Result<Option<PlanEdit>, PlanFileError> {
    if state.is_task_list() {
        return Ok(None);
    }
    let path = root.join(&state.plan.source.path);
    let bytes = match read_plan_bytes(&path) {
        Err(PlanFileError::Missing(_)) => return Ok(None),
        read => read?,
    };
    if sha256_hex(&bytes) == state.plan_sha256 {
        return Ok(None);
    }
    let plan = dialects::read(&state.plan.source.path, &bytes, BatchOptions::from(&state.plan.policy));
    Ok(describe_edit(state, plan))
}

/// What is different in another reading of the plan's file from what a run knows of it. What omo ticks is no
/// difference, and neither is a tick at a task that a worker is or was at.
pub(super) fn describe_edit(state: &RunState, plan: Plan) -> Option<PlanEdit> {
    let is_same = state.has_plan(&plan);
    let differences = state.compare_plan(&state.as_in_run(plan));
    if differences != PlanDifferences::default() {
        return Some(PlanEdit::Tasks(differences));
    }
    (!is_same).then(|| PlanEdit::OtherText(state.plan.dialect.unit_word()))
}

/// Writes what was chosen into the plan's file, and gives the digest of it as it is then. Nothing is
/// written where the file is gone or is no text.
///
/// The file is read anew: an answer before this one has moved the places of all that stand behind it.
pub fn write_choices(
    root: &Path,
    state: &RunState,
    choices: &[(PlanDecision, String)],
) -> Result<Option<String>, PlanFileError> {
    let path = &state.plan.source.path;
    let Some(file) = ProjectFile::at(root, path) else { return Ok(None) };
    let before = match read_plan_bytes(file.path()) {
        Err(PlanFileError::Missing(_)) => return Ok(None),
        read => read?,
    };
    let now = dialects::read(path, &before, BatchOptions::from(&state.plan.policy));
    let Ok(mut text) = String::from_utf8(before) else { return Ok(None) };
    let label = |id: &str| choices.iter().find(|(decision, _)| decision.id == id).map(|(_, label)| label);
    let known = now.preconditions.iter().filter_map(|precondition| match precondition {
        Precondition::Decision(decision) => Some((decision, label(&decision.id)?)),
        _ => None,
    });
    let mut known: Vec<(&PlanDecision, &String)> = known.collect();
    // From the end on: what stands before keeps its place.
    known.sort_by_key(|(decision, _)| std::cmp::Reverse(decision.choice_range.as_ref().map(|range| range.start)));
    for (decision, label) in known {
        let change = PlanChange::Choice { decision, option: label };
        text = now.dialect.rules().write_back(&text, &change).unwrap_or(text);
    }
    file.replace(text.as_bytes())?;
    Ok(Some(sha256_hex(text.as_bytes())))
}

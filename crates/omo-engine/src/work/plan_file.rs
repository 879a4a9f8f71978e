//! `PlanFile`: a plan on the disk, one file or a folder, read once and whole, compared with the
//! run's plan, and edited where a decision is written into it.

mod plan_folder;
mod plan_goal;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use omo_plan::dialects::folder::PlanFolder;
use omo_plan::dialects::{self, PlanChange, PlanReading};
use omo_plan::digest::sha256_hex;
use omo_plan::model::{Dialect, MAX_PLAN_BYTES, Plan, PlanDecision, Precondition};
use omo_state::files::project_file::{ProjectFile, ProjectFileError};

use crate::state::{PlanDifferences, RunState};
use plan_folder::FolderParts;

#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("there is no file {0}")]
    Missing(PathBuf),
    #[error("{0} is not a regular file")]
    NotRegular(PathBuf),
    #[error("read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("not a file: {path}; the folder {path} is not one plan: it holds {holds}")]
    Folder { path: String, holds: String },
    #[error("the plans of the folder {0} have more than {MAX_PLAN_BYTES} bytes together")]
    TooLarge(String),
    #[error("{0} is outside of the project")]
    Outside(PathBuf),
    #[error(transparent)]
    Write(#[from] ProjectFileError),
}

#[derive(Debug)]
pub struct PlanFile {
    /// Path of the file, or of the folder, from the project's top, with `/` between its parts.
    pub path: String,
    /// The content; empty for a folder.
    pub bytes: Vec<u8>,
    surroundings: PlanSurroundings,
}

impl PlanFile {
    /// Reads the plan at `given`, a path from `current`; a plan outside of the project is an error.
    pub fn read(root: &Path, current: &Path, given: &Path) -> Result<Self, PlanFileError> {
        let absolute = current.join(given);
        let real = absolute
            .canonicalize()
            .map_err(|source| read_error(&absolute, source))?;
        let top = root
            .canonicalize()
            .map_err(|source| read_error(root, source))?;
        let inner = real
            .strip_prefix(&top)
            .map_err(|_| PlanFileError::Outside(absolute.clone()))?;
        let parts: Vec<String> = inner
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        Self::load(&real, parts.join("/"))
    }

    /// As [`PlanFile::read`], also outside of the project: the path is absolute then.
    pub fn read_anywhere(root: &Path, current: &Path, given: &Path) -> Result<Self, PlanFileError> {
        match Self::read(root, current, given) {
            Err(PlanFileError::Outside(path)) => {
                let real = path
                    .canonicalize()
                    .map_err(|source| read_error(&path, source))?;
                Self::load(&real, real.to_string_lossy().into_owned())
            }
            read => read,
        }
    }

    /// The plan at `at`, under the name `path`.
    pub fn load(at: &Path, path: String) -> Result<Self, PlanFileError> {
        if !at.is_dir() {
            let folder = at.parent().unwrap_or(Path::new("")).to_owned();
            return Ok(Self {
                path,
                bytes: read_plan_bytes(at)?,
                surroundings: PlanSurroundings::Beside(folder),
            });
        }
        // Top of the project.
        let path = if path.is_empty() {
            ".".to_owned()
        } else {
            path
        };
        match plan_folder::find(at, &path)? {
            PlanFolder::File(name) => Self::load(
                &at.join(&name),
                format!("{}/{name}", path.trim_end_matches('/')),
            ),
            PlanFolder::Joined { plans, others } => {
                let parts = plan_folder::read_parts(at, &path, &plans, others)?;
                Ok(Self {
                    path,
                    bytes: Vec::new(),
                    surroundings: PlanSurroundings::Joined(parts),
                })
            }
            PlanFolder::Unclear(plans) => Err(PlanFileError::Folder {
                path,
                holds: plan_folder::describe(at, &plans),
            }),
        }
    }

    pub fn from_bytes(path: String, bytes: Vec<u8>) -> Self {
        Self {
            path,
            bytes,
            surroundings: PlanSurroundings::Nothing,
        }
    }

    /// The parsed plan; a goal that its text lacks comes from files beside it.
    pub fn plan(&self, reading: impl Into<PlanReading>) -> Plan {
        match &self.surroundings {
            PlanSurroundings::Joined(parts) => parts.plan(&self.path, reading.into()),
            PlanSurroundings::Nothing => dialects::read(&self.path, &self.bytes, reading),
            PlanSurroundings::Beside(folder) => {
                let mut plan = dialects::read(&self.path, &self.bytes, reading);
                if plan.goal.is_empty() {
                    plan.goal = plan_goal::read(folder, plan.dialect);
                }
                plan
            }
        }
    }

    /// Digest of the content, as in [`Plan::source`].
    fn digest(&self) -> String {
        match &self.surroundings {
            PlanSurroundings::Joined(parts) => parts.digest(),
            PlanSurroundings::Nothing | PlanSurroundings::Beside(_) => sha256_hex(&self.bytes),
        }
    }

    pub fn is_folder(&self) -> bool {
        matches!(self.surroundings, PlanSurroundings::Joined(_))
    }

    pub fn files(&self) -> Vec<(&str, &[u8])> {
        match &self.surroundings {
            PlanSurroundings::Joined(parts) => parts.files().collect(),
            PlanSurroundings::Nothing | PlanSurroundings::Beside(_) => {
                vec![(&self.path, &self.bytes)]
            }
        }
    }
}

#[derive(Debug)]
enum PlanSurroundings {
    Beside(PathBuf),
    Joined(FolderParts),
    /// No folder, as for stdin.
    Nothing,
}

fn read_error(path: &Path, source: std::io::Error) -> PlanFileError {
    if matches!(
        source.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory
    ) {
        return PlanFileError::Missing(path.to_owned());
    }
    PlanFileError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Bytes of a plan, up to one more than allowed, which shows that it is too large.
pub fn read_plan_bytes(path: &Path) -> Result<Vec<u8>, PlanFileError> {
    use std::io::Read;
    let failed = |source| read_error(path, source);
    let file = omo_state::files::regular_file::open(path).map_err(failed)?;
    let file = file.ok_or_else(|| PlanFileError::NotRegular(path.to_owned()))?;
    // As long as its metadata says, and one byte for its end: a buffer that has to grow is copied each time.
    let length = file.metadata().map_err(failed)?.len().min(MAX_PLAN_BYTES) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(MAX_PLAN_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}

#[derive(Debug)]
pub enum PlanEdit {
    Tasks(PlanDifferences),
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
        let texts: Vec<String> = parts
            .iter()
            .filter(|(_, ids)| !ids.is_empty())
            .map(|(word, ids)| format!("{word} {}", ids.join(", ")))
            .collect();
        f.write_str(&texts.join("; "))
    }
}

/// The edit of the run's plan in its file; `None` for none, a missing file, or a task list.
pub fn find_edit(root: &Path, state: &RunState) -> Result<Option<PlanEdit>, PlanFileError> {
    if state.is_task_list() {
        return Ok(None);
    }
    let path = &state.plan.source.path;
    let file = match PlanFile::load(&root.join(path), path.clone()) {
        Err(PlanFileError::Missing(_)) => return Ok(None),
        // A folder whose plans are gone says nothing either; one in the place of a file is no plan any more.
        Err(PlanFileError::Folder { .. }) if state.plan.dialect == Dialect::Gsd => return Ok(None),
        Err(PlanFileError::Folder { .. }) => {
            return Err(PlanFileError::NotRegular(root.join(path)));
        }
        read => read?,
    };
    if file.digest() == state.plan_sha256 {
        return Ok(None);
    }
    Ok(describe_edit(state, file.plan(&state.plan)))
}

/// The edit that leads to `plan`; ticks of omo, or of a task that had a worker, are none.
pub(super) fn describe_edit(state: &RunState, plan: Plan) -> Option<PlanEdit> {
    let is_same = state.has_plan(&plan);
    let differences = state.compare_plan(&state.as_in_run(plan));
    if differences != PlanDifferences::default() {
        return Some(PlanEdit::Tasks(differences));
    }
    (!is_same).then(|| PlanEdit::OtherText(state.plan.dialect.unit_word()))
}

/// Writes decisions into the plan's file; returns its new digest, or `None` if it is gone or no
/// text. The file is read anew, since an earlier answer has moved later places.
pub fn write_choices(
    root: &Path,
    state: &RunState,
    choices: &[(PlanDecision, String)],
) -> Result<Option<String>, PlanFileError> {
    let path = &state.plan.source.path;
    let Some(file) = ProjectFile::at(root, path) else {
        return Ok(None);
    };
    if file.path().is_dir() {
        return Ok(None);
    }
    let before = match read_plan_bytes(file.path()) {
        Err(PlanFileError::Missing(_)) => return Ok(None),
        read => read?,
    };
    let now = dialects::read(path, &before, &state.plan);
    let Ok(mut text) = String::from_utf8(before) else {
        return Ok(None);
    };
    let known = now
        .preconditions
        .iter()
        .filter_map(|precondition| match precondition {
            Precondition::Decision(decision) => {
                let (_, label) = choices.iter().find(|(known, _)| known.id == decision.id)?;
                Some((decision, label))
            }
            _ => None,
        });
    let mut known: Vec<(&PlanDecision, &String)> = known.collect();
    // From the end on: earlier text keeps its place.
    known.sort_by_key(|(decision, _)| {
        std::cmp::Reverse(decision.choice_range.as_ref().map(|range| range.start))
    });
    for (decision, label) in known {
        let change = PlanChange::Choice {
            decision,
            option: label,
        };
        text = now
            .dialect
            .rules()
            .write_back(&text, &change)
            .unwrap_or(text);
    }
    file.replace(text.as_bytes())?;
    Ok(Some(sha256_hex(text.as_bytes())))
}

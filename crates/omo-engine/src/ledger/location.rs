//! The location of a repository's runs: below the git folder that all of its work trees share, or below the user's
//! state folder where that is read-only. It is chosen once: a later failure is an error, never a second location.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::git_worktree::GitWorktree;
use omo_state::seal::{KeyError, hex_digest};
use serde::{Deserialize, Serialize};

use crate::error::RunStoreError;

const IN_REPOSITORY: [&str; 2] = ["omo", "runs"];
const PROJECTS: [&str; 2] = ["omo", "projects"];
const RUNS: &str = "runs";
const RECORD: &str = "place.json";
const RECORD_LIMIT: u64 = 16 * 1024;
const VERSION: u32 = 1;
const DIGITS: usize = 32;

/// Path of a folder: `top`, which is the user's, and the names of omo's folders below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderLocation {
    top: PathBuf,
    parts: Vec<String>,
}

impl FolderLocation {
    fn new(top: &Path, parts: &[&str]) -> Self {
        Self {
            top: top.to_owned(),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.parts
            .iter()
            .fold(self.top.clone(), |path, part| path.join(part))
    }

    #[must_use]
    pub(crate) fn subfolder(&self, name: &str) -> Self {
        let mut parts = self.parts.clone();
        parts.push(name.to_owned());
        Self {
            top: self.top.clone(),
            parts,
        }
    }

    pub(crate) fn open(&self) -> Result<Option<GuardedFolder>, FolderError> {
        GuardedFolder::open_below(&self.top, &self.folder_names())
    }

    pub(crate) fn create(&self) -> Result<GuardedFolder, FolderError> {
        GuardedFolder::create_below(&self.top, &self.folder_names())
    }

    fn folder_names(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Repository,
    Home,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    repository: PathBuf,
    runs: Choice,
}

struct Repository<'a> {
    common: PathBuf,
    state_home: Option<&'a Path>,
    id: String,
}

/// The location of the runs of a folder's repository; `None` without a repository, or without any run. Writes nothing.
pub(super) fn find(
    root: &Path,
    state_home: Option<&Path>,
) -> Result<Option<FolderLocation>, RunStoreError> {
    match Repository::of(root, state_home) {
        Some(repository) => repository
            .chosen_location()
            .map(|known| known.map(|(place, _)| place)),
        None => Ok(None),
    }
}

/// Location as [`find`] returns it, created where there is none.
pub(super) fn create(
    root: &Path,
    state_home: Option<&Path>,
) -> Result<FolderLocation, RunStoreError> {
    let repository = Repository::of(root, state_home)
        .ok_or_else(|| RunStoreError::NoRepository(root.to_owned()))?;
    repository.create()
}

impl<'a> Repository<'a> {
    fn of(root: &Path, state_home: Option<&'a Path>) -> Option<Self> {
        let common = GitWorktree::find(root)?.common;
        // Each work tree names the shared folder by another path.
        let common = std::fs::canonicalize(&common).unwrap_or(common);
        let id = hex_digest(common.as_os_str().as_encoded_bytes())
            .chars()
            .take(DIGITS)
            .collect();
        Some(Self {
            common,
            state_home,
            id,
        })
    }

    fn project(&self, home: &Path) -> FolderLocation {
        FolderLocation::new(home, &PROJECTS).subfolder(&self.id)
    }

    fn location(&self, choice: Choice) -> Option<FolderLocation> {
        match choice {
            Choice::Repository => Some(FolderLocation::new(&self.common, &IN_REPOSITORY)),
            Choice::Home => Some(self.project(self.state_home?).subfolder(RUNS)),
        }
    }

    fn read_record(&self) -> Result<Option<Choice>, RunStoreError> {
        let Some(home) = self.state_home else {
            return Ok(None);
        };
        let Some(folder) = self.project(home).open()? else {
            return Ok(None);
        };
        let Some(bytes) = folder.read(RECORD, RECORD_LIMIT)? else {
            return Ok(None);
        };
        match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) => Ok(Some(record.runs)),
            Err(_) => Err(RunStoreError::LocationRecord {
                path: folder.path().join(RECORD),
                repository: self.common.clone(),
            }),
        }
    }

    /// The chosen location, where it exists. Without a record, the existing folder tells the choice.
    fn chosen_location(&self) -> Result<Option<(FolderLocation, Choice)>, RunStoreError> {
        let choices = match self.read_record()? {
            Some(choice) => vec![choice],
            None => vec![Choice::Repository, Choice::Home],
        };
        for choice in choices {
            let Some(place) = self.location(choice) else {
                continue;
            };
            match place.open() {
                Ok(Some(_)) => return Ok(Some((place, choice))),
                Ok(None) => {}
                Err(source) => {
                    return Err(RunStoreError::Location {
                        path: place.path(),
                        source,
                    });
                }
            }
        }
        Ok(None)
    }

    fn create(&self) -> Result<FolderLocation, RunStoreError> {
        let home = self.state_home.ok_or(KeyError::NoHome)?;
        let project = GuardedFolder::create_user(home).and_then(|_| self.project(home).create());
        // Two processes may begin at the same time, one of them in a sandbox: both need the same location.
        let _lock = project
            .as_ref()
            .ok()
            .map(|folder| StateLock::take(folder, DEADLINE))
            .transpose()?;
        let chosen = match self.read_record()? {
            None => self.chosen_location()?.map(|(_, choice)| choice),
            recorded => recorded,
        };
        if let Some(place) = chosen.and_then(|choice| self.location(choice)) {
            place.create().map_err(|source| RunStoreError::Location {
                path: place.path(),
                source,
            })?;
            return Ok(place);
        }
        let in_repository = FolderLocation::new(&self.common, &IN_REPOSITORY);
        match (in_repository.create(), project) {
            (Ok(_), project) => {
                let _ = project.map(|project| self.write_record(&project, Choice::Repository));
                Ok(in_repository)
            }
            (Err(error), project) if cannot_be_written(&error) => {
                let place = self.project(home).subfolder(RUNS);
                self.write_record(&project?, Choice::Home)?;
                place.create()?;
                Ok(place)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    fn write_record(&self, project: &GuardedFolder, runs: Choice) -> Result<(), RunStoreError> {
        let record = Record {
            version: VERSION,
            repository: self.common.clone(),
            runs,
        };
        Ok(project.replace(RECORD, &serde_json::to_vec(&record)?)?)
    }
}

/// `true` for a location that is read-only as a whole, and not for one faulty file in it.
fn cannot_be_written(error: &FolderError) -> bool {
    let kinds = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
    matches!(error, FolderError::Io { source, .. } if kinds.contains(&source.kind()))
}

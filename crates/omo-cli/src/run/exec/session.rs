//! A task session as its files have it, before there is a run of it.

use std::path::{Path, PathBuf};

use omo_plan::run::state::RunState;
use omo_plan::task_session::{SessionFile, TaskFile};
use omo_runs::task_session::{OWN_RUN, is_one};
use omo_store::folder::Folder;
use serde_json::Value;

use crate::failure::Failure;

/// A larger file is none of a session.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A task session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What it is called.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it says of itself.
    pub file: SessionFile,
    /// Its tasks.
    pub tasks: Vec<TaskFile>,
}

impl Session {
    /// Reads it.
    pub fn read(id: &str) -> Result<Self, Failure> {
        let missing =
            || Failure::not_found(format!("there is no task session `{id}`"), "`omo session list` has them all");
        let top = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(".claude");
        let parts = ["ultrawork", "sessions", id];
        let folder = Folder::open_below(&top, &parts)?.ok_or_else(missing)?;
        let bytes = folder.read("session.json", MAX_BYTES)?.ok_or_else(missing)?;
        let file = serde_json::from_slice(&bytes).map_err(|error| Failure::io(error.to_string(), "mend"))?;
        let mut tasks = Vec::new();
        if let Some(below) = Folder::open_below(folder.path(), &["tasks"])? {
            for name in below.names("")?.into_iter().filter(|name| name.ends_with(".json")) {
                let bytes = below.read(&name, MAX_BYTES)?.unwrap_or_default();
                tasks.push(serde_json::from_slice(&bytes).map_err(|error| Failure::io(error.to_string(), "mend"))?);
            }
        }
        Ok(Self { id: id.to_owned(), folder: folder.path().to_owned(), file, tasks })
    }

    /// The run that its files are made from, where it names one.
    pub fn run(&self) -> Option<&str> {
        self.file.extra.get(OWN_RUN)?.get("id")?.as_str()
    }

    /// Whether a run is one of this session.
    pub fn is_of(&self, state: &RunState) -> bool {
        is_one(state) && Path::new(&state.plan.source.path) == self.folder
    }

    /// Whether it says itself that nobody verifies it.
    pub fn skips_verification(&self) -> bool {
        self.file.options.extra.get("skip_verify") == Some(&Value::Bool(true))
    }
}

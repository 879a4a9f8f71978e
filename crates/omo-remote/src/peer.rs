//! Partners of a run that an engine runs workers with: scheduler and remote repository.

use serde::{Deserialize, Serialize};

/// Partner of a run: remote or engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPeer {
    /// The remote repository, which has what workers push and say.
    Remote,
    /// The engine, through the command `status` of its launcher.
    Engine,
}

impl WorkerPeer {
    /// Name in a row of a table, such as `remote`.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Engine => "engine",
        }
    }

    /// Name in a sentence, such as `the remote repository`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Remote => "the remote repository",
            Self::Engine => "the engine of the workers, asked by `status` of its launcher,",
        }
    }
}

//! What a run asks about workers that an engine runs somewhere else.

use serde::{Deserialize, Serialize};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPeer {
    /// The remote repository, which has what workers push and say.
    Remote,
    /// The engine, through the command `status` of its launcher.
    Engine,
}

impl WorkerPeer {
    /// What it is called in a row of a table.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Engine => "engine",
        }
    }

    /// What it is called in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Remote => "the remote repository",
            Self::Engine => "the engine of the workers, asked by `status` of its launcher,",
        }
    }
}

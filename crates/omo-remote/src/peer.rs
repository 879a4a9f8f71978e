//! `WorkerPeer`: a partner of a run with workers elsewhere, scheduler or remote repository.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPeer {
    /// The remote repository, to which workers push.
    Remote,
    /// The scheduler, asked by `status` of its launcher.
    Engine,
}

impl WorkerPeer {
    /// Name for a table, such as `remote`.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Engine => "engine",
        }
    }

    /// Words for a sentence, such as `the remote repository`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Remote => "the remote repository",
            Self::Engine => "the scheduler of the workers, asked by `status` of its launcher,",
        }
    }
}

//! What a user's checkout is like once a run is over: what of the run's work is not committed.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::state::{RunState, TaskState};

/// What the checkout of a run is like beside its base.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckoutReport {
    /// How many commits it has beyond the one that was checked out when the run began; `None` where that is not known.
    pub commits: Option<usize>,
    /// Files that a task changed and that are not committed.
    pub uncommitted: Vec<String>,
    /// Other files that are not committed; those that omo itself writes are none of them.
    pub other_uncommitted: Vec<String>,
}

impl CheckoutReport {
    /// Tells the files of the run among all that are not committed.
    pub fn new(state: &RunState, commits: Option<usize>, uncommitted: Vec<String>) -> Self {
        let changed_by = |task: &TaskState| {
            let files = task.last_end.iter().flat_map(|end| &end.files);
            files.filter(|file| !task.left_alone.contains(file)).cloned().collect::<Vec<_>>()
        };
        let changed: BTreeSet<String> = state.tasks.values().flat_map(changed_by).collect();
        let (own, others) = uncommitted.into_iter().partition(|path| changed.contains(path.as_str()));
        Self { commits, uncommitted: own, other_uncommitted: others }
    }
}

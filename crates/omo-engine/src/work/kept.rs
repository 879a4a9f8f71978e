//! What is kept of a run below `refs/omo/keep`, and how its user has it again.

use omo_git::kept_work::{self, BroughtBack, KeptWork, read_kept_work};
use omo_git::repository::GitRepository;
use omo_git::restore::RestoreError;
use omo_git::worktree::WorkerName;

use super::{Engine, EngineError};
use crate::state::RunState;

/// Begins the name under which files are kept before kept work is written over them.
const OVERWRITTEN: &str = "before-";
/// Characters of the name of kept work in that name.
const MAX_NAME_CHARS: usize = 66;
/// Highest number behind such a name that is taken. Beyond it the last one keeps those before.
const MAX_NUMBER: usize = 999;

impl Engine<'_> {
    /// All that is kept of the run; nothing where the project lies in no repository.
    pub fn kept_work(&self, state: &RunState) -> Result<Vec<KeptWork>, EngineError> {
        let Some(repository) = GitRepository::find(self.root) else { return Ok(Vec::new()) };
        Ok(read_kept_work(&repository, self.run.id(), state.work_branch()).map_err(RestoreError::from)?)
    }

    /// Writes kept work into the work tree. Paths that hold something newer are left as they are, or, where they are to
    /// be overwritten, kept first.
    pub fn bring_back(
        &self,
        state: &RunState,
        kept: &KeptWork,
        overwrites_newer: bool,
    ) -> Result<BroughtBack, EngineError> {
        let name: String = kept.name.chars().take(MAX_NAME_CHARS).collect();
        let name = format!("{OVERWRITTEN}{name}");
        let known = self.kept_work(state)?;
        let is_free = |name: &String| known.iter().all(|kept| kept.name != *name);
        let numbered = (2..=MAX_NUMBER).map(|number| format!("{name}-{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name);
        let name = WorkerName::new(self.run.id(), &name);
        let name = name.map_err(|error| RestoreError::Unnamed(error.to_string()))?;
        self.with_restore_place(state, |place| kept_work::bring_back(place, kept, overwrites_newer.then_some(&name)))
    }
}

impl RunState {
    /// The branch that the work of the run is for, by its full name, or `HEAD`.
    pub fn work_branch(&self) -> &str {
        self.parallel.as_ref().map_or("HEAD", |parallel| parallel.policy.branch.as_str())
    }
}

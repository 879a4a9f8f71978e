//! Kept work of a run below `refs/omo/keep`, and its return to the user.

use omo_git::commit_preview::uncommitted_paths;
use omo_git::git_settings::GitSettings;
use omo_git::kept_work::{KeptWork, forget_intents, read_kept_work, release_kept_work};
use omo_git::repository::GitRepository;
use omo_git::restore::{BroughtBack, RestoreError};
use omo_git::user_git::has_commit_hooks;
use omo_git::worktree::WorkerName;

use super::{Engine, EngineError};
use crate::event::EventKind;
use crate::report::taken_back::displaced_line;
use crate::state::RunState;

/// Prefix of files that are kept before kept work is written over them.
const OVERWRITTEN: &str = "before-";
/// Prefix of all uncommitted files, kept while hooks of a commit may put them aside.
const ASIDE: &str = "aside-";
/// Prefix of staged content, kept for files that a commit takes from the work tree.
const STAGED: &str = "staged-";
/// Maximum bytes of a file kept beside a commit: a larger one would take longer than its hooks.
const MAX_ASIDE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_NAME_CHARS: usize = 66;
/// Highest number behind a name that is in use already.
const MAX_NUMBER: usize = 999;

impl Engine<'_> {
    /// All kept work of the run; empty where the project is not in a repository.
    pub fn kept_work(&self, state: &RunState) -> Result<Vec<KeptWork>, EngineError> {
        let Some(repository) = GitRepository::find(self.root) else {
            return Ok(Vec::new());
        };
        Ok(
            read_kept_work(&repository, self.run.id(), state.work_branch())
                .map_err(RestoreError::from)?,
        )
    }

    /// Writes kept work back. Newer content stays, or is kept first with `overwrites_newer`.
    pub fn bring_back(
        &self,
        state: &RunState,
        kept: &KeptWork,
        overwrites_newer: bool,
    ) -> Result<BroughtBack, EngineError> {
        let name = self.free_name(state, OVERWRITTEN, &kept.name)?;
        self.with_snapshots(state, |snapshots| {
            snapshots.bring_back(kept, overwrites_newer.then_some(&name))
        })
    }

    fn free_name(
        &self,
        state: &RunState,
        prefix: &str,
        name: &str,
    ) -> Result<WorkerName, EngineError> {
        let name: String = prefix
            .chars()
            .chain(name.chars().take(MAX_NAME_CHARS))
            .collect();
        let known = self.kept_work(state)?;
        let numbered = (2..=MAX_NUMBER).map(|number| format!("{name}-{number}"));
        let name = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| known.iter().all(|kept| kept.name != *name))
            .unwrap_or(name);
        Ok(WorkerName::new(self.run.id(), &name)
            .map_err(|error| RestoreError::Unnamed(error.to_string()))?)
    }

    /// Keeps what a commit may displace: staged content, and all uncommitted files where hooks run. The caller holds
    /// the lock of the branch, and ends with [`Engine::settle_kept`].
    pub(super) fn keep_beside_commit(
        &self,
        state: &RunState,
        task: &str,
        own: &[&str],
        settings: &GitSettings,
    ) -> Result<[Option<KeptWork>; 2], EngineError> {
        let name = |prefix| {
            self.free_name(
                state,
                prefix,
                self.kept_name(state, task, "").as_ref()?.worker(),
            )
            .ok()
        };
        let staged = match name(STAGED) {
            Some(name) => {
                self.with_snapshots(state, |snapshots| snapshots.keep_staged(&name, own))?
            }
            None => None,
        };
        let repository = self
            .work_tree
            .repository()
            .map(|found| found.obeying(settings));
        let has_hooks = repository.is_some_and(|found| has_commit_hooks(&found).unwrap_or(true));
        let Some(name) = name(ASIDE).filter(|_| has_hooks) else {
            return Ok([None, staged]);
        };
        let mut paths = uncommitted_paths(&self.work_tree)
            .map_err(|error| RestoreError::Unnamed(error.to_string()))?;
        paths.retain(|path| {
            self.work_tree
                .root()
                .join(path)
                .symlink_metadata()
                .map_or(0, |file| file.len())
                <= MAX_ASIDE_BYTES
        });
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        Ok([
            Some(self.with_snapshots(state, |snapshots| snapshots.keep_paths(&name, &paths))?),
            staged,
        ])
    }

    /// Releases work kept beside a commit, or records it as displaced, and gives the line for its user then.
    pub(super) fn settle_kept(
        &self,
        state: &RunState,
        kept: &KeptWork,
        is_displaced: impl Fn(&BroughtBack) -> bool,
    ) -> Option<String> {
        let now = self.with_snapshots(state, |snapshots| snapshots.compare_kept(kept));
        if now.is_ok_and(|now| !is_displaced(&now)) {
            // A leftover is settled with the next commit.
            let _ = GitRepository::find(self.root)
                .map(|repository| release_kept_work(&repository, kept));
            return None;
        }
        let displaced = EventKind::ChangesDisplaced {
            kept: kept.reference.clone(),
        };
        let _ = self.run.transact(&self.caller.actor, (self.now)(), |_| {
            Ok((vec![displaced], ()))
        });
        Some(displaced_line(&kept.reference))
    }

    /// As [`Engine::settle_kept`] for a dead process's commit, with its leftovers in the index, under the lock.
    pub(super) fn settle_commit(&self, state: &RunState) -> Vec<String> {
        let Some(repository) = GitRepository::find(self.root).filter(|_| state.parallel.is_none())
        else {
            return Vec::new();
        };
        // Unreadable work stays kept.
        let kept = self.kept_work(state).unwrap_or_default();
        kept.iter()
            .filter(|kept| {
                let is_beside = [ASIDE, STAGED]
                    .iter()
                    .any(|prefix| kept.name.starts_with(prefix));
                is_beside && !state.displaced.contains(&kept.reference)
            })
            .filter_map(|kept| {
                let _ = forget_intents(&repository, kept);
                self.settle_kept(state, kept, |now| {
                    !now.restored.is_empty() || !now.differing.is_empty()
                })
            })
            .collect()
    }
}

impl RunState {
    /// Full name of the branch that the work of the run is for, or `HEAD`.
    pub fn work_branch(&self) -> &str {
        self.parallel
            .as_ref()
            .map_or("HEAD", |parallel| parallel.policy.branch.as_str())
    }
}

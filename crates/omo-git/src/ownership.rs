//! Repositories of other users. Their settings and hooks would run programs as the user who asks, so git refuses them
//! unless `safe.directory` names them, but not where it is told its folder by `GIT_DIR`. omo tells it that, and asks
//! first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use omo_core::text::command_text::quote_argument;
use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use crate::commit::with_own_variables;
use crate::git_command::{GitOutcome, StderrMode, run};
use crate::platform::is_of_other_user;

const LIMIT: Duration = Duration::from_secs(20);

/// A repository that git refuses, since another user owns it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the repository in {} belongs to another user, and git refuses it", .0.display())]
pub struct DubiousOwnership(pub PathBuf);

impl DubiousOwnership {
    /// The command with which a user has git accept the repository.
    pub fn hint(&self) -> String {
        let folder = quote_argument(&self.0.to_string_lossy());
        format!("if you trust what it runs: `git config --global --add safe.directory {folder}`")
    }
}

/// Refuses the repository of a folder where git does. A folder in no repository is none of another user.
///
/// # Errors
///
/// Another user owns it, and no `safe.directory` of the user's own settings names it.
pub fn require_trusted(folder: &Path) -> Result<(), DubiousOwnership> {
    let Some(tree) = GitWorktree::find(folder) else { return Ok(()) };
    let places = [tree.top.clone(), tree.top.join(".git"), tree.git.clone()];
    if places.iter().any(|place| is_of_other_user(place)) && !is_accepted_by_git(&tree.top) {
        return Err(DubiousOwnership(tree.top));
    }
    Ok(())
}

/// Whether git may be told in a folder that this is its own folder, `GIT_DIR`.
pub(crate) fn may_name_git_folder(folder: &Path, git: &Path) -> bool {
    static KNOWN: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    if !is_of_other_user(git) {
        return true;
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(is_accepted) = known().get(git) {
        return *is_accepted;
    }
    let is_accepted = is_accepted_by_git(folder);
    known().insert(git.to_owned(), is_accepted);
    is_accepted
}

/// What git says of a folder by itself, with the settings of its user.
fn is_accepted_by_git(folder: &Path) -> bool {
    let said = with_own_variables(|own| run(LIMIT, folder, &["rev-parse", "--git-dir"], own, &[], StderrMode::Dropped));
    matches!(said, Some(GitOutcome::Ended { status: 0, .. }))
}

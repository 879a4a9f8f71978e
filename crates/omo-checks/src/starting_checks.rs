//! What judges a run from its start: the checks of its user, of their configuration, and of the
//! repository, where they approved that.

use std::path::Path;

use omo_core::check::session_check::{self, Check, CheckBaseline};
use omo_state::git_worktree::GitWorktree;
use omo_state::search_path::SearchPath;
use omo_state::trust::GivenApproval;

use crate::pinned_files;
use crate::repository_config::{ApprovalState, RepositoryConfig};

/// The checks at a run's start.
#[derive(Debug, Default)]
pub struct StartingChecks {
    /// Those that count, each with the files that it runs.
    pub checks: Vec<Check>,
    /// What the repository asks for and its user has not approved.
    pub not_approved: Option<RepositoryConfig>,
    /// The file because of which it is no longer approved, where it was.
    pub changed: Option<String>,
    /// What is wrong with it; then it asks for nothing.
    pub problem: Option<String>,
    /// Who approved it, where it is approved.
    pub approval: Option<GivenApproval>,
    /// The commit that is checked out.
    pub base: Option<String>,
}

/// Gathers them: `own` are the user's, to which those of an approved repository come.
pub fn gather_checks(own: Vec<Check>, root: &Path, state_home: Option<&Path>, search: &SearchPath) -> StartingChecks {
    let base = GitWorktree::find(root).and_then(|tree| tree.head());
    let mut start = StartingChecks { checks: own, base, ..StartingChecks::default() };
    if let Some(repository) = RepositoryConfig::read(root) {
        start.problem = repository.problems.first().map(ToString::to_string);
        let approval = repository.approval(state_home);
        if let ApprovalState::Yes(given) = approval {
            start.approval = Some(given);
            for check in repository.checks {
                // More than there may be are left out: the user's own come first.
                let _ = session_check::add_check(&mut start.checks, check);
            }
        } else {
            start.not_approved = Some(repository).filter(|repository| !repository.checks.is_empty());
            start.changed = if let ApprovalState::Before { changed } = approval { Some(changed) } else { None };
        }
    }
    pin_checks(&mut start.checks, root, search);
    start
}

/// Takes the files that checks run now as the ones that their user agrees to.
pub fn pin_checks<'a>(checks: impl IntoIterator<Item = &'a mut Check>, root: &Path, search: &SearchPath) {
    for check in checks {
        check.pinned = pinned_files::find_pins(check, root, search);
    }
}

/// Takes the files and counts of checks as they are now as the ones to be held to: of one check, or of
/// all. Gives the names of those that were meant.
pub fn accept_checks(checks: &mut [Check], name: Option<&str>, root: &Path, search: &SearchPath) -> Vec<String> {
    let meant = checks.iter_mut().filter(|check| name.is_none_or(|name| check.name == name));
    meant
        .map(|check| {
            pin_checks([&mut *check], root, search);
            check.best = None;
            let why = "its user accepted the counts as they were later".to_owned();
            check.baseline = Some(CheckBaseline { missing_reason: why, ..CheckBaseline::default() });
            check.name.clone()
        })
        .collect()
}

//! Checks at the start of a run: of its user, of their configuration, and of the repository, where
//! they approved that.

use std::path::Path;

use omo_core::check::session_check::{self, Check};
use omo_state::git_worktree::GitWorktree;
use omo_state::trust::GivenApproval;

use crate::repository_config::{ApprovalState, RepositoryConfig};

/// The checks at a run's start.
#[derive(Debug, Default)]
pub struct StartingChecks {
    /// Checks that count, each with the files that it runs.
    pub checks: Vec<Check>,
    /// `omo.toml` without approval by the user.
    pub not_approved: Option<RepositoryConfig>,
    /// The file because of which it is no longer approved, where it was.
    pub changed: Option<String>,
    /// Problem of `omo.toml`; with one, it asks for nothing.
    pub problem: Option<String>,
    /// Approval, where it is approved.
    pub approval: Option<GivenApproval>,
    /// The commit that is checked out.
    pub base: Option<String>,
}

/// Gathers them: `own` are the user's, to which those of an approved repository come.
pub fn gather_checks(own: Vec<Check>, root: &Path, state_home: Option<&Path>) -> StartingChecks {
    let base = GitWorktree::find(root).and_then(|tree| tree.head());
    let mut start = StartingChecks {
        checks: own,
        base,
        ..StartingChecks::default()
    };
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
            start.not_approved =
                Some(repository).filter(|repository| !repository.checks.is_empty());
            start.changed = if let ApprovalState::Before { changed } = approval {
                Some(changed)
            } else {
                None
            };
        }
    }
    start
}

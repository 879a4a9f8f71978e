//! Gathers the checks of a new run: the user's and their settings', then those of `omo.toml`.

use std::path::Path;

use omo_core::check::session_check::{self, Check};
use omo_state::git_worktree::GitWorktree;
use omo_state::trust::GivenApproval;

use crate::repository_config::{ApprovalState, RepositoryConfig};

/// Checks of a new run, and the checks of `omo.toml` that still need an approval.
#[derive(Debug, Default)]
pub struct StartingChecks {
    pub checks: Vec<Check>,
    pub not_approved: Option<RepositoryConfig>,
    pub changed: Option<String>,
    /// First problem of `omo.toml`, none of whose checks is taken then.
    pub problem: Option<String>,
    pub approval: Option<GivenApproval>,
    pub base: Option<String>,
}

/// Adds the checks of an approved `omo.toml` behind the user's `own_checks`.
pub fn gather_checks(
    own_checks: Vec<Check>,
    root: &Path,
    state_home: Option<&Path>,
) -> StartingChecks {
    let base = GitWorktree::find(root).and_then(|tree| tree.head());
    let mut start = StartingChecks {
        checks: own_checks,
        base,
        ..StartingChecks::default()
    };
    if let Some(repository) = RepositoryConfig::read(root) {
        start.problem = repository.problems.first().map(ToString::to_string);
        let approval = repository.approval(state_home);
        if let ApprovalState::Yes(given) = approval {
            start.approval = Some(given);
            for check in repository.checks {
                // Too many are left out: the user's own come first.
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

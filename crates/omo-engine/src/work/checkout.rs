//! Read of the user's checkout for a report: commits since the run's start, uncommitted files.

use std::path::Path;

use omo_git::integrate::{count_commits_since, uncommitted_paths};
use omo_git::repository::GitRepository;
use omo_view::run_view::CheckoutView;

use crate::state::RunState;
use crate::view::checkout::checkout_view;
use crate::work::committed_work::without_omo_files;

const MAX_COMMITS: usize = 10_000;

/// The checkout of a run; `None` where it is no work tree of `git`, or `git` cannot tell.
pub fn read_checkout(state: &RunState) -> Option<CheckoutView> {
    let repository = GitRepository::find(Path::new(&state.root))?;
    let uncommitted = without_omo_files(state, uncommitted_paths(&repository).ok()?);
    Some(checkout_view(
        state,
        state
            .base
            .as_ref()
            .and_then(|base| count_commits_since(&repository, base, MAX_COMMITS).ok()),
        uncommitted,
    ))
}

//! Snapshots of a project's work tree at moments of a run: taken, compared, put back and kept.
//!
//! As git would commit it (`changes`), to say what differs: filters and line ends of the repository
//! stand between. Or as its bytes are (`restore`), to put it back: no filter, attribute or setting
//! is obeyed.

use std::path::Path;

use omo_state::files::folder::FolderError;

use crate::private_folder::forget_run;
use crate::proved_worktree::ProvedWorktree;

/// Snapshots of a work tree that are kept for a run: `take_bytes`, `take_tree`, `restore`.
#[derive(Clone, Copy, Debug)]
pub struct Snapshots<'a> {
    /// The project's folder. All of the work tree that it lies in is kept.
    pub worktree: &'a ProvedWorktree,
    /// The folder of the user's own state, absolute.
    pub state_home: &'a Path,
    /// The run.
    pub run_id: &'a str,
    /// Paths from the project's top that omo writes for the run, each with everything below it: they are neither
    /// compared nor put back.
    pub own: &'a [&'a str],
}

/// Forgets all snapshots of a run; one that has none is no error.
///
/// # Errors
///
/// A folder cannot be removed.
pub fn forget_snapshots(state_home: &Path, run_id: &str) -> Result<(), FolderError> {
    forget_run(state_home, run_id)
}

//! Snapshots of a project's work tree during a run. `changes` compares them as git would commit the
//! files; `restore` puts back their bytes, and obeys no filter, attribute or setting.

use std::path::Path;

use omo_state::files::folder::FolderError;

use crate::private_folder::forget_run;
use crate::proved_worktree::ProvedWorktree;

/// Work tree, run and state folder of which snapshots are taken.
#[derive(Clone, Copy, Debug)]
pub struct Snapshots<'a> {
    /// Project whose whole work tree is covered.
    pub worktree: &'a ProvedWorktree,
    /// Absolute path of the user's state folder.
    pub state_home: &'a Path,
    pub run_id: &'a str,
    /// omo's own paths from the project's top, with all below: neither compared nor restored.
    pub own: &'a [&'a str],
}

/// Deletes the snapshots of a run, if any.
pub fn forget_snapshots(state_home: &Path, run_id: &str) -> Result<(), FolderError> {
    forget_run(state_home, run_id)
}

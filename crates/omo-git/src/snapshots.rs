//! Snapshots of a project's work tree during a run. To compare: as git would commit it (`changes`), with filters and
//! line ends of the repository. To put back: its bytes (`restore`), and no filter, attribute or setting is obeyed.

use std::path::Path;

use omo_state::files::folder::FolderError;

use crate::private_folder::forget_run;
use crate::proved_worktree::ProvedWorktree;

#[derive(Clone, Copy, Debug)]
pub struct Snapshots<'a> {
    /// The project; all of its work tree is kept.
    pub worktree: &'a ProvedWorktree,
    /// Absolute path.
    pub state_home: &'a Path,
    pub run_id: &'a str,
    /// omo's own paths from the project's top, with everything below: neither compared nor put back.
    pub own: &'a [&'a str],
}

/// Succeeds for a run without snapshots.
pub fn forget_snapshots(state_home: &Path, run_id: &str) -> Result<(), FolderError> {
    forget_run(state_home, run_id)
}

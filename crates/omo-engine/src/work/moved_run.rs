//! A run whose project was renamed: it is found by its repository, and goes on where the project is now.

use std::path::Path;

use omo_core::timestamp::Timestamp;
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::worktree::follow_renamed_folder;
use omo_state::git_worktree::GitWorktree;
use omo_state::trust;
use omo_state::trust::pending_approval;

use super::start::planned_commands;
use crate::Run;
use crate::event::{EventActor, EventKind};
use crate::state::RunState;

/// Whether the folder of a run is gone.
pub fn is_gone(state: &RunState) -> bool {
    let root = Path::new(&state.root);
    root.is_absolute() && !root.exists()
}

/// Whether the project of a run was renamed to `root`: its folder is gone, and that is the top of the same work tree, with
/// the plan at the same place. Another work tree of the repository is none, and of an older ledger nothing tells which
/// one it was. What only looks so while a supervisor is at work is none.
pub fn is_renamed(run: &Run, state: &RunState, root: &Path) -> bool {
    let is_same = || state.worktree.is_some() && GitWorktree::at(root).map(|tree| tree.identity()) == state.worktree;
    Path::new(&state.root) != root
        && is_gone(state)
        && root.join(&state.plan.source.path).is_file()
        && is_same()
        && !run.is_supervised().unwrap_or(true)
}

/// Has the run, its worktrees and what its user approved follow the project. `None` where that could not be done.
pub fn follow_renamed_project(
    run: &Run,
    state: &RunState,
    root: &Path,
    state_home: &Path,
    actor: &EventActor,
    now: Timestamp,
) -> Option<()> {
    let repository = ProvedWorktree::of_project(root).repository()?;
    follow_renamed_folder(&repository, Path::new(&state.root)).ok()?;
    let commands = planned_commands(&state.plan);
    let approved = pending_approval::commands_digest(root, &commands);
    // What was approved was approved for this repository: a copy of it is asked about anew.
    let is_same = pending_approval::commands_digest_at(Path::new(&state.root), root, &commands) == state.approved;
    if let Some(given) = pending_approval::given(Some(state_home), &state.approved).filter(|_| is_same) {
        trust::approve(Some(state_home), root, &approved, given).ok()?;
    }
    let moved = EventKind::RunMoved { root: root.to_str()?.to_owned(), approved };
    run.transact(actor, now, |known| Ok((if known.root == state.root { vec![moved] } else { Vec::new() }, ()))).ok()?;
    Some(())
}

//! A run whose project was renamed: it is found by its repository, and goes on at the project's new path.

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

pub fn is_gone(state: &RunState) -> bool {
    let root = Path::new(&state.root);
    root.is_absolute() && !root.exists()
}

/// `true` if the run's folder is gone, and `root` is the same work tree with the plan at its path;
/// `false` while a supervisor is at work, or for an old ledger without the work tree's id.
pub fn is_renamed(run: &Run, state: &RunState, root: &Path) -> bool {
    Path::new(&state.root) != root
        && is_gone(state)
        && root.join(&state.plan.source.path).is_file()
        && state.worktree.is_some()
        && GitWorktree::at(root).map(|tree| tree.identity()) == state.worktree
        && !run.is_supervised().unwrap_or(true)
}

/// Moves the run, its worktrees and its approval to the project's new `root`; `None` on failure.
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
    // The approval was for this repository: a copy of it is asked about anew.
    let is_same = pending_approval::commands_digest_at(Path::new(&state.root), root, &commands)
        == state.approved;
    if let Some(given) =
        pending_approval::given(Some(state_home), &state.approved).filter(|_| is_same)
    {
        trust::approve(Some(state_home), root, &approved, given).ok()?;
    }
    let moved = EventKind::RunMoved {
        root: root.to_str()?.to_owned(),
        approved,
    };
    run.transact(actor, now, |known| {
        Ok((
            if known.root == state.root {
                vec![moved]
            } else {
                Vec::new()
            },
            (),
        ))
    })
    .ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use omo_plan::dialects::{BatchOptions, read};
    use omo_state::git_worktree::WorktreeIdentity;

    use super::*;
    use crate::RunStore;
    use crate::execution_mode::ExecutionMode;
    use crate::work::RunOpening;

    #[test]
    fn a_project_is_renamed_where_its_own_work_tree_has_the_plan_and_its_folder_is_gone() {
        let temp = tempfile::tempdir().unwrap();
        let (old, new, home) = (
            temp.path().join("old"),
            temp.path().join("new"),
            temp.path().join("home"),
        );
        for folder in [&new.join(".git"), &new.join("docs"), &home] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(new.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let opened = EventKind::from(RunOpening {
            plan: read("docs/plan.md", b"", BatchOptions::default()),
            commands_digest: String::new(),
            root: old.display().to_string(),
            worktree: Some(WorktreeIdentity::Main),
            head: None,
            scope: None,
            mode: ExecutionMode::StepByStep,
            guard: None,
        });
        let runs = RunStore::create(&new, Some(&home)).unwrap();
        let (run, state) = runs
            .begin(
                &EventActor::default(),
                Timestamp::from_millis(0),
                opened,
                Vec::new(),
            )
            .unwrap();
        assert!(!is_renamed(&run, &state, &new), "its plan is not there");
        fs::write(new.join("docs/plan.md"), "").unwrap();
        assert!(is_renamed(&run, &state, &new));
        assert!(!is_renamed(&run, &state, &old));
        for (worktree, why) in [
            (None, "an older ledger"),
            (Some(WorktreeIdentity::Linked("1 2".into())), "another one"),
        ] {
            assert!(
                !is_renamed(
                    &run,
                    &RunState {
                        worktree,
                        ..state.clone()
                    },
                    &new
                ),
                "{why}"
            );
        }
        fs::create_dir(&old).unwrap();
        assert!(!is_renamed(&run, &state, &new), "it is a copy");
    }
}

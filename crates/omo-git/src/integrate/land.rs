//! Moves the user's checked-out branch, files and index to a new commit, or touches nothing where
//! edits are in the way. Order under `index.lock`: record, files, branch, index; the next call ends
//! an interrupted move.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use omo_process::platform::shell_variable;

use super::error::LandError;
use super::facts::{CheckoutHead, checkout_head, unfinished_operation};
use super::journal::LandingFiles;
use super::steps::Landing;
use crate::index_lock::{IndexLock, lock_file};
use crate::repository::{GitRepository, is_object_name};
use crate::user_git::{REFERENCE_HOOK, UserGit, hooks_folder, present_hooks};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandOutcome {
    Moved,
    AlreadyThere,
}

/// Moves the checked-out branch from `old` to `new`, a descendant (full ids), after ending an
/// interrupted move. The hook `reference-transaction` of `user` may refuse; it is ended once
/// `is_wanted` returns `false`.
pub fn land(
    repository: &GitRepository,
    old: &str,
    new: &str,
    user: &UserGit<'_>,
    is_wanted: impl FnMut() -> bool,
) -> Result<LandOutcome, LandError> {
    let places = LandingFiles::new(repository.git_folder());
    let _lock = lock_settled(repository, &places)?;
    let Some(reference) = branch_to_move(repository, old, new)? else {
        return Ok(LandOutcome::AlreadyThere);
    };
    let step = Landing::new(repository, &places, old, new)?;
    step.copy_index()?;
    step.refuse_dirty()?;
    places.record_landing(old, new)?;
    if let Err(failed) = step.read_tree(&["-u", old, new]) {
        step.undo_landing()?;
        return Err(failed.into());
    }
    if let Err(failed) = move_reference(repository, &reference, old, new, user, is_wanted) {
        let now = repository.commit_of(&reference)?.unwrap_or_default();
        // The hook is told of the move once it is made, and git may be ended then.
        if now != new {
            step.undo_landing()?;
            return Err(update_failure(repository, &reference, old, now, failed));
        }
    }
    fs::rename(places.new_index(), places.index())?;
    places.forget_landing()?;
    Ok(LandOutcome::Moved)
}

/// Ends an interrupted move, if any: index and files follow the branch.
pub fn settle_last_landing(repository: &GitRepository) -> Result<(), LandError> {
    if has_unsettled_landing(repository) {
        lock_settled(repository, &LandingFiles::new(repository.git_folder()))?;
    }
    Ok(())
}

/// `true` for a move that was begun and not ended.
pub fn has_unsettled_landing(repository: &GitRepository) -> bool {
    let places = LandingFiles::new(repository.git_folder());
    places.begun_landing().is_some() || places.is_lock_abandoned()
}

fn lock_settled(repository: &GitRepository, places: &LandingFiles) -> Result<IndexLock, LandError> {
    let reference = checkout_head(repository)?.reference().map(str::to_owned);
    let reference_locks = || reference_locks(repository, reference.as_deref());
    let Some(lock) = places.take_lock()? else {
        let index_lock = lock_file(repository.git_folder());
        return Err(LandError::Locked {
            paths: [vec![index_lock], reference_locks()].concat(),
        });
    };
    let begun = places.begun_landing();
    places.wait_for_last_git(repository.top(), || {
        begun.is_some() && !reference_locks().is_empty()
    })?;
    if let Some([from, to]) = begun {
        finish_interrupted_landing(repository, places, &from, &to)?;
    }
    Ok(lock)
}

fn move_reference(
    repository: &GitRepository,
    reference: &str,
    old: &str,
    new: &str,
    user: &UserGit<'_>,
    mut is_wanted: impl FnMut() -> bool,
) -> Result<(), LandError> {
    if present_hooks(&hooks_folder(repository)?, &[REFERENCE_HOOK]).is_empty() {
        let arguments = ["update-ref", "-m", "omo: land", reference, new, old];
        return repository
            .git(&arguments)
            .map(drop)
            .map_err(LandError::from);
    }
    let own = [
        ("OMO_REFERENCE", reference),
        ("OMO_NEW", new),
        ("OMO_OLD", old),
    ];
    let [reference, new, old] = own.map(|(name, _)| shell_variable(name));
    let words = format!("update-ref -m \"omo: land\" {reference} {new} {old}");
    let variables = own.map(|(name, value)| (name, value.into())).to_vec();
    let mut is_cancelled = false;
    let moved = user.run_in(repository, &words, variables, || {
        is_cancelled |= !is_wanted();
        !is_cancelled
    });
    moved.map_err(|words| {
        if is_cancelled {
            LandError::Cancelled
        } else {
            LandError::RefusedByHook { words }
        }
    })
}

fn reference_locks(repository: &GitRepository, reference: Option<&str>) -> Vec<PathBuf> {
    let branch = reference.map(|reference| repository.common().join(format!("{reference}.lock")));
    let locks = [Some(repository.git_folder().join("HEAD.lock")), branch];
    locks
        .into_iter()
        .flatten()
        .filter(|path| path.exists())
        .collect()
}

/// The branch moved meanwhile, or another process has a lock.
fn update_failure(
    repository: &GitRepository,
    reference: &str,
    old: &str,
    now: String,
    failed: LandError,
) -> LandError {
    if now != old {
        return LandError::Moved { to: now };
    }
    let paths = reference_locks(repository, Some(reference));
    if paths.is_empty() {
        failed
    } else {
        LandError::Locked { paths }
    }
}

/// The index follows a branch that moved; otherwise the files go back. After a later move of the user the files are
/// theirs.
fn finish_interrupted_landing(
    repository: &GitRepository,
    places: &LandingFiles,
    from: &str,
    to: &str,
) -> Result<(), LandError> {
    let now = repository.commit_of("HEAD")?;
    if is_object_name(from)
        && is_object_name(to)
        && [Some(from), Some(to)].contains(&now.as_deref())
    {
        let step = Landing::new(repository, places, from, to)?;
        if now.as_deref() == Some(from) {
            return step.undo_landing();
        }
        step.copy_index()?;
        step.update_entries(&BTreeSet::new())?;
        fs::rename(places.new_index(), places.index())?;
    }
    Ok(places.forget_landing()?)
}

/// Branch to move, where only its files may still forbid it; `None` at the new commit.
fn branch_to_move(
    repository: &GitRepository,
    old: &str,
    new: &str,
) -> Result<Option<String>, LandError> {
    if !is_object_name(old)
        || !is_object_name(new)
        || !repository.contains(new, &[old.to_owned()])?
    {
        return Err(LandError::NotFollowing {
            old: old.to_owned(),
            new: new.to_owned(),
        });
    }
    if let Some(operation) = unfinished_operation(repository.git_folder()) {
        return Err(LandError::OperationInProgress { what: operation });
    }
    match checkout_head(repository)? {
        CheckoutHead::Detached { .. } => Err(LandError::Detached),
        CheckoutHead::Unborn { .. } => Err(LandError::Unborn),
        CheckoutHead::Branch { commit, .. } if commit == new => Ok(None),
        CheckoutHead::Branch { reference, commit } if commit == old => Ok(Some(reference)),
        CheckoutHead::Branch { commit, .. } => Err(LandError::Moved { to: commit }),
    }
}

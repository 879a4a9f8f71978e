//! Moving the branch that its user has checked out, with the files and the index, to a new commit.
//!
//! Everything is looked at first, and where anything of the user's is in the way nothing is touched.
//! Then, under git's own lock of the index: what is about to be done is written down; the files change;
//! the branch moves, if it still is where it was; the index follows. A move that was cut short is ended
//! by asking for it again.

use std::collections::BTreeSet;
use std::fs;

use omo_process::platform::shell_variable;

use super::error::LandError;
use super::facts::{CheckoutHead, checkout_head, unfinished_operation};
use super::journal::LandingFiles;
use super::steps::CheckoutMove;
use crate::repository::{GitRepository, is_object_name};
use crate::user_git::{UserGit, hooks_folder, present_hooks};

/// What became of the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandOutcome {
    /// The branch, the files and the index are at the new commit.
    Moved,
    /// They were already.
    AlreadyThere,
}

/// Moves the branch that is checked out from `old` to `new`, a commit that follows it, with the files
/// and the index. Both are full names of commits. An earlier move that was cut short is ended first.
/// The hook `reference-transaction` of `user` is asked.
pub fn land(repository: &GitRepository, old: &str, new: &str, user: &UserGit<'_>) -> Result<LandOutcome, LandError> {
    let places = LandingFiles::new(repository.git_folder());
    let locked = || LandError::Locked { path: places.index().with_extension("lock") };
    let _lock = places.take_lock()?.ok_or_else(locked)?;
    places.wait_for_last_git(repository.top())?;
    if let Some([from, to]) = places.begun_move() {
        finish_interrupted_move(repository, &places, &from, &to)?;
    }
    let Some(reference) = branch_to_move(repository, old, new)? else {
        return Ok(LandOutcome::AlreadyThere);
    };
    let step = CheckoutMove::new(repository, &places, old, new)?;
    step.copy_index()?;
    step.refuse_dirty()?;
    places.record_move(old, new)?;
    if let Err(failed) = step.read_tree(&["-u", old, new]) {
        step.undo_move()?;
        return Err(failed.into());
    }
    if let Err(failed) = move_reference(repository, &reference, old, new, user) {
        step.undo_move()?;
        return Err(update_failure(repository, &reference, old, failed)?);
    }
    fs::rename(places.new_index(), places.index())?;
    places.forget_move()?;
    Ok(LandOutcome::Moved)
}

/// Moves the branch. Its user is asked where they have a hook for that.
fn move_reference(
    repository: &GitRepository,
    reference: &str,
    old: &str,
    new: &str,
    user: &UserGit<'_>,
) -> Result<(), LandError> {
    if present_hooks(&hooks_folder(repository)?, &["reference-transaction"]).is_empty() {
        let arguments = ["update-ref", "-m", "omo: land", reference, new, old];
        return repository.git_with(&arguments, &[], &[]).map(drop).map_err(LandError::from);
    }
    let own = [("OMO_REFERENCE", reference), ("OMO_NEW", new), ("OMO_OLD", old)];
    let [reference, new, old] = own.map(|(name, _)| shell_variable(name));
    let words = format!("update-ref -m \"omo: land\" {reference} {new} {old}");
    let variables = own.map(|(name, value)| (name, value.into())).to_vec();
    user.run_in(repository, &words, variables, || true).map_err(|words| LandError::RefusedByHook { words })
}

/// Why the branch could not move: it is elsewhere by now, or another process has it locked.
fn update_failure(
    repository: &GitRepository,
    reference: &str,
    old: &str,
    failed: LandError,
) -> Result<LandError, LandError> {
    let now = repository.commit_of(reference)?.unwrap_or_default();
    if now != old {
        return Ok(LandError::Moved { to: now });
    }
    let path = repository.common().join(format!("{reference}.lock"));
    Ok(if path.exists() { LandError::Locked { path } } else { failed })
}

/// Ends a move that was cut short: where the branch moved, the index follows; where it did not, the
/// files go back. Where its user has moved it since, the files are theirs.
fn finish_interrupted_move(
    repository: &GitRepository,
    places: &LandingFiles,
    from: &str,
    to: &str,
) -> Result<(), LandError> {
    let now = repository.commit_of("HEAD")?;
    if is_object_name(from) && is_object_name(to) && [Some(from), Some(to)].contains(&now.as_deref()) {
        let step = CheckoutMove::new(repository, places, from, to)?;
        if now.as_deref() == Some(from) {
            return step.undo_move();
        }
        step.copy_index()?;
        step.update_entries(&BTreeSet::new())?;
        fs::rename(places.new_index(), places.index())?;
    }
    Ok(places.forget_move()?)
}

/// The branch to move, where nothing but its files can forbid it; `None` where it is there already.
fn branch_to_move(repository: &GitRepository, old: &str, new: &str) -> Result<Option<String>, LandError> {
    let not_following = || LandError::NotFollowing { old: old.to_owned(), new: new.to_owned() };
    if !is_object_name(old) || !is_object_name(new) || !repository.contains(new, &[old.to_owned()])? {
        return Err(not_following());
    }
    if let Some(what) = unfinished_operation(repository.git_folder()) {
        return Err(LandError::OperationInProgress { what });
    }
    match checkout_head(repository)? {
        CheckoutHead::Detached { .. } => Err(LandError::Detached),
        CheckoutHead::Unborn { .. } => Err(LandError::Unborn),
        CheckoutHead::Branch { commit, .. } if commit == new => Ok(None),
        CheckoutHead::Branch { reference, commit } if commit == old => Ok(Some(reference)),
        CheckoutHead::Branch { commit, .. } => Err(LandError::Moved { to: commit }),
    }
}

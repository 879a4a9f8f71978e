//! Merges two commits in memory (`git merge-tree`): up to date, clean or in conflict.

use thiserror::Error;

use crate::git_output::{lossy_text, parts};
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};

const UNKNOWN_OPTION: i32 = 129;

/// Result of a merge that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergePreview {
    /// The tip contains the commit already.
    UpToDate,
    Clean {
        tree: String,
    },
    Conflict {
        /// Conflicting paths, sorted; a byte that is no UTF-8 is `U+FFFD`.
        files: Vec<String>,
    },
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum MergeError {
    #[error("there is no commit {commit} in this repository")]
    NoCommit { commit: String },
    /// `git merge-tree --write-tree` needs git 2.38.
    #[error("this git cannot merge without a checkout; git 2.38 or newer is needed")]
    OldGit,
    /// git does not know the user, whose commits merges are.
    #[error("git does not know who commits; set user.name and user.email")]
    NoIdentity,
    /// No signature could be made, for a user who signs commits.
    #[error("git could not sign it: {words}")]
    Unsigned {
        /// Words of git.
        words: String,
    },
    #[error(transparent)]
    Git(#[from] GitFailed),
}

/// Merges `commit` onto `tip` (full ids) without a checkout; `tree_of_tip` saves a call. Merge drivers of the
/// repository's own settings are not run: they count as conflicts.
pub fn preview_merge(
    repository: &GitRepository,
    tip: &str,
    tree_of_tip: Option<&str>,
    commit: &str,
) -> Result<MergePreview, MergeError> {
    if let Some(bad) = [tip, commit].into_iter().find(|name| !is_object_name(name)) {
        return Err(MergeError::NoCommit {
            commit: bad.to_owned(),
        });
    }
    let arguments = [
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--no-messages",
        tip,
        commit,
    ];
    let (status, output) = repository.status_and_output(&arguments)?;
    let mut parts = parts(&output);
    match (status, parts.next()) {
        (0, Some(tree)) => {
            let tree = trimmed_line(tree);
            // Only for an equal tree the tip may have all of it.
            let is_same = match tree_of_tip {
                Some(known) => tree == known,
                None => tree == repository.tree_of(tip)?,
            };
            let has_nothing = is_same && repository.contains(tip, &[commit.to_owned()])?;
            Ok(if has_nothing {
                MergePreview::UpToDate
            } else {
                MergePreview::Clean { tree }
            })
        }
        (1, Some(_)) => {
            let mut files: Vec<String> = parts.map(lossy_text).collect();
            files.sort();
            files.dedup();
            Ok(MergePreview::Conflict { files })
        }
        (UNKNOWN_OPTION, _) => Err(MergeError::OldGit),
        _ => require_commits(
            repository,
            &[tip, commit],
            Err(repository.failure_of(&arguments)),
        ),
    }
}

/// `NoCommit` where a step failed since one of its commits is none.
pub(super) fn require_commits<T>(
    repository: &GitRepository,
    commits: &[&str],
    step: Result<T, GitFailed>,
) -> Result<T, MergeError> {
    let is_asked = step.is_err() || !commits.iter().all(|name| is_object_name(name));
    let missing = commits.iter().filter(|_| is_asked).find(|name| {
        let commit = is_object_name(name).then(|| repository.commit_of(name));
        !commit.is_some_and(|commit| commit.is_ok_and(|commit| commit.as_deref() == Some(**name)))
    });
    match missing {
        Some(commit) => Err(MergeError::NoCommit {
            commit: (*commit).to_owned(),
        }),
        None => Ok(step?),
    }
}

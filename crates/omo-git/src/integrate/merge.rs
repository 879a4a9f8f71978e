//! Previews of merges, without any checkout.

use thiserror::Error;

use crate::git_output::{lossy_text, parts};
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};

/// Exit status of git for an unknown option.
const UNKNOWN_OPTION: i32 = 129;

/// Result of `preview_merge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergePreview {
    /// Everything in it is in the tip already.
    UpToDate,
    /// The tree of the two together.
    Clean {
        /// Tree of the merge.
        tree: String,
    },
    /// Files that both changed, in ways that do not go together.
    Conflict {
        /// Their paths, sorted; bytes that are no UTF-8 are shown as `U+FFFD`.
        files: Vec<String>,
    },
}

/// Failure of `preview_merge`.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MergeError {
    /// A name of no commit.
    #[error("there is no commit {commit} in this repository")]
    NoCommit {
        /// Given name.
        commit: String,
    },
    /// `git merge-tree --write-tree` came with git 2.38.
    #[error("this git cannot merge without a checkout; git 2.38 or newer is needed")]
    OldGit,
    /// Merges are its user's own commits.
    #[error("git does not know who commits; set user.name and user.email")]
    NoIdentity,
    /// A commit that could not be signed, of a user who signs.
    #[error("git could not sign it: {words}")]
    Unsigned {
        /// git's own.
        words: String,
    },
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
}

/// Result of merging `commit` onto `tip`, without a checkout. Both are full names of commits; the
/// tree of the tip is asked for where the caller does not know it. Merge drivers that the
/// repository's own settings name are not run: what they would merge is a conflict.
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
    let (status, said) = repository.status_and_output(&arguments)?;
    let mut parts = parts(&said);
    match (status, parts.next()) {
        (0, Some(tree)) => {
            let tree = trimmed_line(tree);
            // Only then there may be nothing in it that the tip does not have.
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

/// Result of a git step with these commits; where it failed because one of them is none,
/// `NoCommit`.
pub(super) fn require_commits<T>(
    repository: &GitRepository,
    commits: &[&str],
    step: Result<T, GitFailed>,
) -> Result<T, MergeError> {
    let is_commit = |name: &&&str| {
        is_object_name(name)
            && repository
                .commit_of(name)
                .is_ok_and(|it| it.as_deref() == Some(name))
    };
    let is_asked = step.is_err() || !commits.iter().all(|name| is_object_name(name));
    match commits.iter().find(|name| is_asked && !is_commit(name)) {
        Some(commit) => Err(MergeError::NoCommit {
            commit: (*commit).to_owned(),
        }),
        None => Ok(step?),
    }
}

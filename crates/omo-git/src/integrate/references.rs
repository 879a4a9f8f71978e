//! Finds out whether a branch contains a commit, even squashed; keeps a run's commits by references.

use std::collections::BTreeSet;

use crate::kept_work::changed_entries;
use crate::repository::{GitFailed, GitRepository};
use crate::tree_path::TreePath;
use crate::worktree::WorkerName;

const MAX_COMMITS_SINCE: &str = "--max-count=100";

/// `true` where the history of `tip` has `commit`, or a later commit with the same version of each
/// changed file, as after a squash or cherry-pick.
pub fn holds_commit(
    repository: &GitRepository,
    tip: &str,
    commit: &str,
) -> Result<bool, GitFailed> {
    if repository.contains(tip, &[commit.to_owned()])? {
        return Ok(true);
    }
    let parent = repository
        .commit_of(&format!("{commit}^"))?
        .map_or_else(|| repository.empty_tree(), Ok)?;
    let changed = changed_paths(repository, &parent, commit)?;
    if changed.is_disjoint(&changed_paths(repository, commit, tip)?) {
        return Ok(true);
    }
    // The first file stands for all of them, so that few commits are looked at.
    let Some(first) = changed
        .first()
        .and_then(|path| str::from_utf8(&path.0).ok())
    else {
        return Ok(false);
    };
    let range = format!("{commit}..{tip}");
    let since = [
        "--literal-pathspecs",
        "rev-list",
        MAX_COMMITS_SINCE,
        &range,
        "--",
        first,
    ];
    let since = repository.git(&since)?;
    for other in String::from_utf8_lossy(&since).lines() {
        if changed.is_disjoint(&changed_paths(repository, commit, other)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn changed_paths(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<BTreeSet<TreePath>, GitFailed> {
    let changed = changed_entries(repository, from, to)?.into_iter();
    Ok(changed.map(|changed| changed.path).collect())
}

/// Commits that `git commit --amend` replaced, with their replacements, oldest first, by the reflog of `HEAD`.
pub fn amended_commits(repository: &GitRepository) -> Result<Vec<(String, String)>, GitFailed> {
    let log = repository.git(&["log", "--walk-reflogs", "--format=%H %gs", "HEAD", "--"])?;
    let log = String::from_utf8_lossy(&log);
    let entries: Vec<(&str, &str)> = log
        .lines()
        .rev()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let amended = entries.windows(2).filter_map(|pair| match pair {
        [(before, _), (after, words)] if words.starts_with("commit (amend)") => {
            Some(((*before).to_owned(), (*after).to_owned()))
        }
        _ => None,
    });
    Ok(amended.collect())
}

/// The commit that holds the other one; `other` where neither does.
pub fn later_commit(
    repository: &GitRepository,
    one: &str,
    other: &str,
) -> Result<String, GitFailed> {
    let is_later = one == other || repository.contains(one, &[other.to_owned()])?;
    Ok(if is_later { one } else { other }.to_owned())
}

/// `true` for two commits with a `git merge-base`.
pub fn has_common_history(
    repository: &GitRepository,
    one: &str,
    other: &str,
) -> Result<bool, GitFailed> {
    match repository.status_and_output(&["merge-base", one, other])? {
        (status @ (0 | 1), _) => Ok(status == 0),
        _ => Err(repository.failure_of(&["merge-base", one, other])),
    }
}

/// Keeps a commit that no branch names yet.
pub fn keep_commit(
    repository: &GitRepository,
    name: &WorkerName,
    commit: &str,
) -> Result<(), GitFailed> {
    repository
        .git_line(&["update-ref", "--no-deref", &name.keep_reference(), commit])
        .map(drop)
}

/// Deletes the reference; only where others hold all of the work, or there is none.
pub fn release_kept(repository: &GitRepository, name: &WorkerName) -> Result<(), GitFailed> {
    repository
        .git_line(&["update-ref", "--no-deref", "-d", &name.keep_reference()])
        .map(drop)
}

//! Work that omo saved below `refs/omo/keep`, and whether a user's branch contains it by now.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use crate::git_output::{ChangedEntry, GitEntry, list, lossy_text, parse_changes, tree_paths};
use crate::repository::{GitFailed, GitRepository, MAKER_EMAIL, OMO_IDENTITY, trimmed_line};
use crate::tree_path::TreePath;
use crate::worktree::{KEEP_FOLDER, WorkerName};

pub(crate) const STAGED_SUBJECT: &str = "What was staged";

/// Saved work with its reference below `refs/omo/keep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWork {
    pub reference: String,
    /// Name of the worker, or id of the saved files.
    pub name: String,
    pub commit: String,
    /// `true` where the user's branch has its commits or, as after a squash, the same files. An
    /// edited squash cannot be told from work that is nowhere else.
    pub is_in_branch: bool,
}

/// Saved work of a run; `branch` is the full name of the branch that it is for, or `HEAD`.
pub fn read_kept_work(
    repository: &GitRepository,
    run: &str,
    branch: &str,
) -> Result<Vec<KeptWork>, GitFailed> {
    let folder = format!("{KEEP_FOLDER}/{run}/");
    let listed = repository.git(&["for-each-ref", "--format=%(objectname) %(refname)", &folder])?;
    let listed = lossy_text(&listed);
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    let tip = if branch.starts_with("refs/") || branch == "HEAD" {
        repository.commit_of(branch)?
    } else {
        None
    };
    let rows = listed.lines().filter_map(|line| {
        let (commit, reference) = line.split_once(' ')?;
        Some((commit, reference, reference.strip_prefix(&folder)?))
    });
    rows.map(|(commit, reference, name)| {
        Ok(KeptWork {
            reference: reference.to_owned(),
            name: name.to_owned(),
            commit: commit.to_owned(),
            is_in_branch: is_in_branch(repository, commit, tip.as_deref())?,
        })
    })
    .collect()
}

/// Run and name of a reference below `refs/omo/keep`.
pub fn split_reference(reference: &str) -> Option<(&str, &str)> {
    reference
        .strip_prefix(KEEP_FOLDER)?
        .strip_prefix('/')?
        .split_once('/')
}

/// Work to save below `refs/omo/keep`, as trees.
pub(crate) struct WorkToKeep<'a> {
    pub(crate) name: &'a WorkerName,
    pub(crate) tree: &'a str,
    pub(crate) staged: Option<&'a str>,
    pub(crate) message: &'a str,
}

impl WorkToKeep<'_> {
    /// Commit that keeps the work: the existing one with the same trees and `has_parents`, or a new
    /// one on `parents` and the existing one.
    pub(crate) fn keep(
        &self,
        repository: &GitRepository,
        has_parents: impl FnOnce(&str) -> Result<bool, GitFailed>,
        parents: impl FnOnce() -> Result<Vec<String>, GitFailed>,
    ) -> Result<String, GitFailed> {
        let reference = self.name.keep_reference();
        let previous = repository.commit_of(&reference)?;
        if let Some(known) = &previous
            && repository.tree_of(known)? == self.tree
            && has_parents(known)?
            && self.staged.map_or(Ok(true), |staged| {
                has_parent_with_tree(repository, known, staged)
            })?
        {
            return Ok(known.clone());
        }
        let mut parents = parents()?;
        parents.extend(previous.clone());
        if let Some(staged) = self.staged {
            parents.push(make_commit(repository, staged, &[], STAGED_SUBJECT)?);
        }
        let commit = make_commit(repository, self.tree, &parents, self.message)?;
        move_reference(repository, &reference, &commit, previous)?;
        Ok(commit)
    }
}

fn has_parent_with_tree(
    repository: &GitRepository,
    kept: &str,
    tree: &str,
) -> Result<bool, GitFailed> {
    let output = repository.git_line(&["rev-list", "--parents", "--max-count=1", kept])?;
    for parent in output.split(' ').skip(1) {
        if repository.tree_of(parent)? == tree {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn make_commit(
    repository: &GitRepository,
    tree: &str,
    parents: &[String],
    message: &str,
) -> Result<String, GitFailed> {
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    let arguments: Vec<&str> = ["commit-tree", tree].into_iter().chain(parents).collect();
    let maker = OMO_IDENTITY.map(|(name, value)| (name, OsStr::new(value)));
    repository
        .git_with(&arguments, &maker, format!("{message}\n").as_bytes())
        .map(|output| trimmed_line(&output))
}

/// Moves a reference from `before` only: what another process has just kept must not be lost.
fn move_reference(
    repository: &GitRepository,
    reference: &str,
    commit: &str,
    before: Option<String>,
) -> Result<(), GitFailed> {
    let before = before.unwrap_or_else(|| "0".repeat(commit.len()));
    repository
        .git(&["update-ref", "--no-deref", reference, commit, &before])
        .map(drop)
}

/// Deletes a reference that still names this commit.
pub fn release_kept_work(repository: &GitRepository, kept: &KeptWork) -> Result<(), GitFailed> {
    repository
        .git_line(&[
            "update-ref",
            "--no-deref",
            "-d",
            &kept.reference,
            &kept.commit,
        ])
        .map(drop)
}

/// Removes files of saved work from the index where a killed commit left them as `intent-to-add`.
pub fn forget_intents(repository: &GitRepository, kept: &KeptWork) -> Result<(), GitFailed> {
    let indexed = git_paths(repository, &["ls-files", "-z"])?;
    // An intended path is in the index, and among none of its changes.
    let staged = git_paths(
        repository,
        &[
            "diff-index",
            "-z",
            "--cached",
            "--ita-invisible-in-index",
            "--name-only",
            "--no-renames",
            "HEAD",
        ],
    )?;
    let added =
        changed_entries(repository, &format!("{}^1", kept.commit), &kept.commit)?.into_iter();
    let added = added
        .filter(|changed| changed.before.is_none())
        .map(|changed| changed.path);
    let intended = added.filter(|path| indexed.contains(path) && !staged.contains(path));
    let paths = list(intended.map(|path| path.0));
    if paths.is_empty() {
        return Ok(());
    }
    repository
        .git_with(
            &["update-index", "--force-remove", "-z", "--stdin"],
            &[],
            &paths,
        )
        .map(drop)
}

fn git_paths(
    repository: &GitRepository,
    arguments: &[&str],
) -> Result<BTreeSet<TreePath>, GitFailed> {
    Ok(tree_paths(&repository.git(arguments)?).collect())
}

fn is_in_branch(
    repository: &GitRepository,
    commit: &str,
    tip: Option<&str>,
) -> Result<bool, GitFailed> {
    let UnheldCommits {
        own_trees,
        has_work,
        held_trees,
    } = UnheldCommits::read(repository, commit)?;
    if !has_work && own_trees.iter().all(|tree| held_trees.contains(tree)) {
        return Ok(true);
    }
    let Some(tip) = tip else { return Ok(false) };
    let (status, base) = repository.status_and_output(&["merge-base", commit, tip])?;
    if status != 0 {
        return Ok(false);
    }
    let base = trimmed_line(&base);
    let in_branch = changed_files(repository, &base, tip)?;
    if has_work {
        // Work that was undone again: the commits on the way are nowhere else.
        let kept = changed_files(repository, &base, commit)?;
        return Ok(!kept.is_empty() && contains_files(&in_branch, &kept));
    }
    for tree in own_trees.difference(&held_trees) {
        if !contains_files(&in_branch, &changed_files(repository, &base, tree)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains_files(files: &ChangedFiles, part: &ChangedFiles) -> bool {
    part.iter()
        .all(|(path, content)| files.get(path) == Some(content))
}

struct UnheldCommits {
    own_trees: BTreeSet<String>,
    has_work: bool,
    held_trees: BTreeSet<String>,
}

impl UnheldCommits {
    fn read(repository: &GitRepository, commit: &str) -> Result<Self, GitFailed> {
        // omo's own branches go with their worktrees.
        let others = [
            "--not",
            "--exclude=omo/*",
            "--branches",
            "--remotes",
            "--tags",
        ];
        let list = [
            "rev-list",
            "--boundary",
            "--no-commit-header",
            "--format=%m %T %ae",
            commit,
        ];
        let output = repository.git(&[list.as_slice(), &others].concat())?;
        let mut unheld = Self {
            own_trees: BTreeSet::new(),
            has_work: false,
            held_trees: BTreeSet::new(),
        };
        for line in String::from_utf8_lossy(&output).lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["-", tree, ..] => drop(unheld.held_trees.insert(tree.to_owned())),
                [_, tree, MAKER_EMAIL] => drop(unheld.own_trees.insert(tree.to_owned())),
                _ => unheld.has_work = true,
            }
        }
        Ok(unheld)
    }
}

pub(crate) fn changed_entries(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<Vec<ChangedEntry>, GitFailed> {
    let compare = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
    parse_changes(&repository.git(&compare)?).ok_or_else(|| repository.failure_of(&compare))
}

/// Entries of the second of two trees; `None` for a removed file.
type ChangedFiles = BTreeMap<TreePath, Option<GitEntry>>;

fn changed_files(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<ChangedFiles, GitFailed> {
    Ok(changed_entries(repository, from, to)?
        .into_iter()
        .map(|changed| (changed.path, changed.after))
        .collect())
}
